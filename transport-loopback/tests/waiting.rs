//! Waiting under executors of others, in company, and when given up half way.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use transport_core::wait::{WaitPolicy, block_on};
use transport_core::{Cmp, SignalOp, Transport};
use transport_loopback::{Loopback, Threads};

fn job(n_pes: usize) -> Vec<Loopback> {
    Threads::new(n_pes).heap_size(1 << 20).start().unwrap()
}

/// All PEs are tasks of one thread: a future that blocked it would wait for ever.
#[test]
fn many_pes_share_one_thread_of_tokio() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for n_pes in [2, 3, 8, 33] {
        let tasks: Vec<_> = job(n_pes)
            .into_iter()
            .map(|pe| {
                runtime.spawn(async move {
                    let word = pe.calloc::<u64>(1).await?;
                    for round in 1..=20 {
                        let next = (pe.my_pe() + 1) % pe.n_pes();
                        pe.put_signal_nbi(
                            word.slice(..0)?,
                            word.slice(..0)?,
                            word,
                            SignalOp::Set(round),
                            next,
                        )?;
                        pe.signal_wait_until(word, Cmp::Ge, round).await?;
                        pe.barrier_all().await?;
                    }
                    pe.finalize().await
                })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap().unwrap();
            }
        });
    }
}

/// The same on threads of our own, two PEs to a thread, whose futures are polled in turn by one `block_on`.
#[test]
fn two_waits_under_one_block_on_do_not_block_each_other() {
    let pes = job(4);
    std::thread::scope(|scope| {
        for pair in pes.chunks(2) {
            scope.spawn(move || {
                for _ in 0..200 {
                    let (mut a, mut b) = (pin!(pair[0].barrier_all()), pin!(pair[1].barrier_all()));
                    let (mut a_done, mut b_done) = (false, false);
                    block_on(std::future::poll_fn(|cx| {
                        a_done = a_done || a.as_mut().poll(cx).is_ready();
                        b_done = b_done || b.as_mut().poll(cx).is_ready();
                        if a_done && b_done { Poll::Ready(()) } else { Poll::Pending }
                    }));
                }
            });
        }
    });
}

/// A sleeper is woken although it never spins or yields, and its own sleep would last for minutes.
#[test]
fn a_sleeper_is_woken_by_its_peer() {
    let policy = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_secs(100) };
    let pes = Threads::new(3).heap_size(1 << 20).wait_policy(policy).start().unwrap();
    let rounds = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(|| {
                for round in 0..300 {
                    if round % 50 == pe.my_pe() {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    block_on(pe.barrier_all()).unwrap();
                }
                rounds.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(rounds.into_inner(), 3);
}

/// Dropped after a poll or two, a barrier is resumed by the next call: nobody counts one too many.
#[test]
fn a_barrier_that_is_given_up_is_resumed() {
    let pes = job(3);
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(move || {
                for round in 0..500 {
                    let give_up = (round + pe.my_pe()) % 4;
                    // One that is ready after all was the round's barrier.
                    let done = (0..give_up).any(|_| {
                        let mut future = pin!(pe.barrier_all());
                        future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
                    });
                    if !done {
                        block_on(pe.barrier_all()).unwrap();
                    }
                }
            });
        }
    });
}

/// Several threads of one PE use it at once: each call of theirs is a barrier of its own.
#[test]
fn threads_of_one_pe_take_turns_in_its_barriers() {
    let pes: Vec<Arc<Loopback>> = job(2).into_iter().map(Arc::new).collect();
    std::thread::scope(|scope| {
        for pe in &pes {
            for _ in 0..3 {
                scope.spawn(move || {
                    for _ in 0..200 {
                        block_on(pe.barrier_all()).unwrap();
                    }
                });
            }
        }
    });
}

/// A ring that is missed ends in a timeout.
#[test]
fn no_ring_is_missed_by_pes_that_sleep_at_once() {
    const ROUNDS: u64 = 20_000;
    let policy = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_secs(100) };
    for processors in [1, 64] {
        let pes = Threads::new(2).heap_size(1 << 20).timeout(Duration::from_secs(20));
        let pes = pes.processors(processors).wait_policy(policy).start().unwrap();
        std::thread::scope(|scope| {
            for pe in &pes {
                scope.spawn(move || {
                    block_on(async {
                        let word = pe.calloc::<u64>(1).await?;
                        let nothing = word.slice(..0)?;
                        for round in 1..=ROUNDS {
                            // Not always in step, so that the one sleeps just when the other writes.
                            for _ in 0..(round * 7919 + pe.my_pe() as u64 * 31) % 97 {
                                std::hint::spin_loop();
                            }
                            pe.put_signal_nbi(nothing, nothing, word, SignalOp::Set(round), 1 - pe.my_pe())?;
                            pe.signal_wait_until(word, Cmp::Ge, round).await?;
                            if round % 4 == 0 {
                                pe.barrier_all().await?;
                            }
                        }
                        transport_core::Result::Ok(())
                    })
                    .unwrap();
                });
            }
        });
    }
}

/// A future is moved to where it is awaited: one with room for all that it may come to would be copied at each wait.
#[test]
fn what_waits_is_small() {
    let pe = job(1).remove(0);
    let word = block_on(pe.calloc::<u64>(1)).unwrap();
    let size = size_of_val(&pe.signal_wait_until(word, Cmp::Eq, 0));
    assert!(size <= 192, "{size}");
    block_on(pe.finalize()).unwrap();
}
