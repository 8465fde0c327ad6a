//! How waits end when a peer does not come: deadlines, peers that are gone, calls after the end.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use transport_core::bootstrap::{Bootstrap, JoinSpec};
use transport_core::wait::block_on;
use transport_core::{Cmp, Error, Transport};
use transport_loopback::{LoopbackError, Processes, Threads};

fn job(n_pes: usize) -> Threads {
    Threads::new(n_pes).heap_size(1 << 20)
}

#[test]
fn a_barrier_past_its_deadline_names_who_is_missing_and_can_be_resumed() {
    let pes = job(5).timeout(Duration::from_millis(50)).start().unwrap();
    std::thread::scope(|scope| {
        for pe in [0, 2, 4] {
            let pe = &pes[pe];
            scope.spawn(move || {
                let error = block_on(pe.barrier_all()).unwrap_err();
                let Error::Timeout { my_pe, missing, .. } = error else { panic!("{error}") };
                assert_eq!((my_pe, missing.as_slice()), (pe.my_pe(), &[1, 3][..]));
            });
        }
    });
    // It was late, not lost: the same barrier goes on.
    for pe in &pes {
        pe.endpoint().set_timeout(Duration::from_secs(60));
    }
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(move || {
                block_on(pe.barrier_all()).unwrap();
                block_on(pe.barrier_all()).unwrap();
            });
        }
    });
}

#[test]
fn a_limit_without_end_can_be_given() {
    let limit = Duration::MAX;
    let spec = JoinSpec::new(0, 1, "tcp://127.0.0.1:0".parse().unwrap());
    let bootstrap = block_on(Bootstrap::join(spec)).unwrap();
    let process = block_on(Processes::new(1 << 20).timeout(limit).connect(bootstrap)).unwrap();
    for pe in [process, job(1).timeout(limit).start().unwrap().remove(0)] {
        block_on(pe.barrier_all()).unwrap();
        block_on(pe.finalize()).unwrap();
    }
}

/// Whether barriers are counted or not. PE 4 dies in the barrier, and PE 0 hears of it before it enters, so that it never will.
#[test]
fn a_pe_that_dies_in_a_barrier_ends_it_for_the_others() {
    for processors in [2, 64] {
        let mut pes = job(5).processors(processors).timeout(Duration::from_secs(60)).start().unwrap();
        let gone = pes.pop().unwrap();
        assert!(pin!(gone.barrier_all()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        std::thread::scope(|scope| {
            for pe in &pes[1..] {
                scope.spawn(move || {
                    let error = block_on(pe.barrier_all()).unwrap_err();
                    assert!(matches!(error, Error::PeerLost { pe: 4, .. }), "{processors}: {error}");
                });
            }
            std::thread::sleep(Duration::from_millis(30));
            drop(gone);
            let error = block_on(pes[0].barrier_all()).unwrap_err();
            assert!(matches!(error, Error::PeerLost { pe: 4, .. }), "{processors}: {error}");
        });
    }
}

/// With the last to come the barrier is complete, and it may go at once.
#[test]
fn a_pe_that_is_gone_after_the_barrier_ends_it_for_nobody() {
    for processors in [2, 64] {
        for _ in 0..50 {
            let pes = job(5).processors(processors).start().unwrap();
            let go = std::sync::Barrier::new(pes.len());
            std::thread::scope(|scope| {
                for pe in pes {
                    let go = &go;
                    scope.spawn(move || {
                        let result = block_on(pe.barrier_all());
                        if pe.my_pe() == 4 {
                            drop(pe);
                            go.wait();
                        } else {
                            go.wait();
                            drop(pe);
                        }
                        result.unwrap();
                    });
                }
            });
        }
    }
}

#[test]
fn a_pe_that_is_dropped_ends_every_wait_of_the_others_and_is_named() {
    let mut pes = job(4).start().unwrap();
    let gone = pes.remove(2);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(move || {
                for _ in 0..2 {
                    let error = block_on(pe.barrier_all()).unwrap_err();
                    assert!(matches!(error, Error::PeerLost { pe: 2, .. }), "{error}");
                }
                assert!(matches!(block_on(pe.quiet()), Err(Error::PeerLost { pe: 2, .. })));
            });
        }
        std::thread::sleep(Duration::from_millis(30));
        drop(gone);
    });
    assert!(start.elapsed() < Duration::from_secs(60), "the others waited for the deadline");
}

/// A PE may go as soon as it has left its last barrier, even if others are still in it.
#[test]
fn a_pe_that_goes_after_its_last_barrier_does_not_disturb_that_barrier() {
    for round in 0..300 {
        let threads: Vec<_> = job(3 + round % 4)
            .start()
            .unwrap()
            .into_iter()
            .map(|pe| std::thread::spawn(move || block_on(pe.barrier_all())))
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    }
}

#[test]
fn an_abort_carries_its_reason_to_a_signal_wait() {
    let pes = job(2).start().unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            block_on(async {
                let word = pes[1].calloc::<u64>(1).await?;
                pes[1].signal_wait_until(word, Cmp::Eq, 1).await
            })
        });
        block_on(pes[0].calloc::<u64>(1)).unwrap();
        pes[0].abort("the disk is full");
        let error = waiter.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("PE 0 is gone (the disk is full)"), "{error}");
    });
}

#[test]
fn a_signal_that_does_not_come_is_shown_with_the_value_there_is() {
    let pe = job(1).timeout(Duration::from_millis(30)).start().unwrap().remove(0);
    let word = block_on(pe.calloc::<u64>(1)).unwrap();
    pe.heap().write(word, &[6]).unwrap();
    let error = block_on(pe.signal_wait_until(word, Cmp::Ge, 7)).unwrap_err();
    assert!(matches!(error, Error::SignalTimeout { value: 6, .. }), "{error}");
    assert!(error.to_string().contains(">= 0x7"), "{error}");
}

#[test]
fn after_finalize_every_call_says_so_and_a_drop_is_silent() {
    let mut pes = job(2).start().unwrap();
    let calls = |pe: &transport_loopback::Loopback| {
        block_on(async {
            let word = pe.calloc::<u64>(1).await?;
            pe.finalize().await.map(|()| word)
        })
    };
    let word = std::thread::scope(|scope| {
        let other = scope.spawn(|| calls(&pes[1]));
        let word = calls(&pes[0]).unwrap();
        assert_eq!(other.join().unwrap().unwrap(), word);
        word
    });
    drop(pes.remove(1));
    let pe = &pes[0];
    assert!(matches!(pe.put_nbi(word, word, 1), Err(Error::Finalized { .. })));
    assert!(matches!(pe.fence(), Err(Error::Finalized { .. })));
    assert!(matches!(block_on(pe.quiet()), Err(Error::Finalized { .. })));
    assert!(matches!(block_on(pe.barrier_all()), Err(Error::Finalized { .. })));
    assert!(matches!(block_on(pe.alloc::<u8>(1)), Err(Error::Finalized { .. })));
}

#[test]
fn jobs_that_cannot_be_are_refused() {
    assert!(matches!(Threads::new(0).start(), Err(LoopbackError::NoPes)));
    for size in [0, 65535, (40 << 30) + 1, u64::MAX] {
        let error = Threads::new(2).heap_size(size).start().unwrap_err();
        assert!(matches!(error, LoopbackError::HeapSize { .. }), "{size}: {error}");
    }
    let error = Threads::new(usize::MAX).heap_size(65536).start().unwrap_err();
    assert!(matches!(error, LoopbackError::JobTooLarge { .. }), "{error}");
    let error = Threads::new(1 << 20).heap_size(8 << 30).start().unwrap_err();
    assert!(
        matches!(error, LoopbackError::JobTooLarge { .. } | LoopbackError::HeapLargerThanMemory { .. }),
        "{error}"
    );
}

/// Also if the next job lies where the last one lay.
#[test]
fn a_slice_of_a_finished_job_is_refused_by_the_next() {
    for _ in 0..20 {
        let old = {
            let pe = job(1).start().unwrap().remove(0);
            block_on(pe.alloc::<u8>(4096)).unwrap()
        };
        let pe = job(1).start().unwrap().remove(0);
        block_on(pe.alloc::<u8>(4096)).unwrap();
        assert!(matches!(pe.heap().fill(old, 9), Err(Error::NotLive { .. })));
        assert!(matches!(pe.put_nbi(old, old, 0), Err(Error::NotLive { .. })));
    }
}

#[test]
fn a_slice_of_another_job_is_refused_and_touches_nothing() {
    let (a, b) =
        (job(1).start().unwrap().remove(0), Threads::new(1).heap_size(1 << 22).start().unwrap().remove(0));
    block_on(async {
        let small = a.alloc::<u8>(64).await.unwrap();
        let large = b.alloc::<u8>(2 << 20).await.unwrap();
        let far = large.slice(1 << 20..(1 << 20) + 64).unwrap();
        assert!(matches!(a.put_nbi(far, small, 0), Err(Error::NotLive { operand: "destination", .. })));
        assert!(matches!(a.heap().read_vec(large), Err(Error::NotLive { .. })));
    });
}
