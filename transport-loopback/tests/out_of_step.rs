//! Collectives that PEs do not call alike, or that end half way: an error that says so, never wrong data.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use transport_core::collectives::{AllGather, AllGatherAlgorithm};
use transport_core::wait::block_on;
use transport_core::{Cmp, Error, SignalOp, Transport};
use transport_loopback::{Loopback, Threads};

fn job(n_pes: usize) -> Vec<Loopback> {
    Threads::new(n_pes).heap_size(1 << 20).start().unwrap()
}

/// PE 1 comes to the first barrier of the AllGather but is late for its second. A second attempt of PE 0 would take that
/// second barrier for a first one, and be one ahead from then on.
#[test]
fn an_all_gather_that_timed_out_half_way_cannot_be_tried_again() {
    let pes = job(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            block_on(async {
                let _buffer = pes[1].alloc::<u64>(2).await?;
                // Only this much of an AllGather.
                pes[1].barrier_all().await
            })
            .unwrap();
        });
        let pe = &pes[0];
        let buffer = block_on(pe.alloc::<u64>(2)).unwrap();
        pe.endpoint().set_timeout(Duration::from_millis(50));
        let gather = AllGather::in_place(pe, buffer, AllGatherAlgorithm::Textbook).unwrap();
        let error = block_on(gather.run(pe)).unwrap_err();
        assert!(matches!(error, Error::Timeout { op: "all_gather", .. }), "{error}");
        for _ in 0..2 {
            let again = block_on(gather.run(pe)).unwrap_err();
            assert!(matches!(again, Error::OutOfStep { earlier: "all_gather", .. }), "{again}");
        }
        assert!(matches!(block_on(pe.barrier_all()), Err(Error::OutOfStep { .. })));
        assert!(matches!(block_on(pe.alloc::<u8>(1)), Err(Error::OutOfStep { .. })));
    });
}

/// Past the deadline in its first barrier nothing was done yet: the same call goes on.
#[test]
fn an_all_gather_that_nobody_joined_yet_can_be_tried_again() {
    let pes = job(2);
    std::thread::scope(|scope| {
        let late = scope.spawn(|| {
            let buffer = block_on(pes[1].alloc::<u64>(2)).unwrap();
            pes[1].heap().write(buffer.slice(1..).unwrap(), &[11]).unwrap();
            std::thread::sleep(Duration::from_millis(150));
            block_on(
                AllGather::in_place(&pes[1], buffer, AllGatherAlgorithm::Textbook).unwrap().run(&pes[1]),
            )
            .unwrap();
            pes[1].heap().read_vec(buffer).unwrap()
        });
        let pe = &pes[0];
        let buffer = block_on(pe.alloc::<u64>(2)).unwrap();
        pe.heap().write(buffer.slice(..1).unwrap(), &[10]).unwrap();
        let gather = AllGather::in_place(pe, buffer, AllGatherAlgorithm::Textbook).unwrap();
        pe.endpoint().set_timeout(Duration::from_millis(30));
        assert!(matches!(block_on(gather.run(pe)), Err(Error::Timeout { .. })));
        pe.endpoint().set_timeout(Duration::from_secs(60));
        block_on(gather.run(pe)).unwrap();
        assert_eq!(pe.heap().read_vec(buffer).unwrap(), [10, 11]);
        assert_eq!(late.join().unwrap(), [10, 11]);
    });
}

/// Whoever has left the barrier of these has done all that the others need of it. The other ways wait for signals, which ends when
/// anybody is lost.
#[test]
fn a_pe_that_leaves_after_an_all_gather_by_barriers_harms_nobody_in_it() {
    for algorithm in [AllGatherAlgorithm::Textbook, AllGatherAlgorithm::Fetch] {
        for _ in 0..30 {
            let ends: Vec<_> = std::thread::scope(|scope| {
                let gathers = |pe: transport_loopback::Loopback| {
                    block_on(async {
                        let buffer = pe.alloc::<u64>(3).await.unwrap();
                        pe.heap().write(buffer.part(pe.my_pe(), 3).unwrap(), &[pe.my_pe() as u64]).unwrap();
                        AllGather::in_place(&pe, buffer, algorithm).unwrap().run(&pe).await?;
                        pe.heap().read_vec(buffer)
                    })
                };
                let threads: Vec<_> = job(3).into_iter().map(|pe| scope.spawn(move || gathers(pe))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(ends.iter().all(|end| matches!(end.as_deref(), Ok([0, 1, 2]))), "{algorithm}: {ends:?}");
        }
    }
}

#[test]
fn at_the_deadline_only_who_is_late_is_named() {
    use AllGatherAlgorithm::{Eager, Fetch, Marked, Textbook};
    for algorithm in [Eager, Marked, Fetch, Textbook] {
        let pes = job(5);
        let gathers = |pe: &transport_loopback::Loopback| {
            block_on(async {
                let buffer = pe.calloc::<u64>(10).await.unwrap();
                pe.endpoint().set_timeout(Duration::from_millis(300));
                // PE 1 does not come.
                let waits = AllGather::in_place(pe, buffer, algorithm).unwrap();
                if pe.my_pe() == 1 { None } else { Some(waits.run(pe).await) }
            })
        };
        let ends: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = pes.iter().map(|pe| scope.spawn(move || gathers(pe))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for end in ends.into_iter().flatten() {
            let Err(Error::Timeout { missing, .. }) = &end else { panic!("{algorithm}: {end:?}") };
            assert_eq!(missing.as_slice(), [1], "{algorithm}: {end:?}");
        }
    }
}

#[test]
fn lengths_that_differ_are_found_where_they_are_checked() {
    let pes = job(3);
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(move || {
                block_on(async {
                    let buffer = pe.alloc::<u32>(30).await.unwrap();
                    let len = if pe.my_pe() == 1 { 5 } else { 4 };
                    let part = buffer.slice(..3 * len).unwrap();
                    let gather = AllGather::in_place(pe, part, AllGatherAlgorithm::Auto).unwrap();
                    let error = gather.check_same_on_all(pe).await.unwrap_err();
                    let Error::Asymmetric { odd, theirs, .. } = &error else { panic!("{error}") };
                    assert_eq!(odd.as_slice(), [1]);
                    assert!(theirs.contains("20 bytes"), "{theirs}");
                    let way =
                        if pe.my_pe() == 2 { AllGatherAlgorithm::Ring } else { AllGatherAlgorithm::Eager };
                    let gather = AllGather::in_place(pe, buffer, way).unwrap();
                    let error = gather.check_same_on_all(pe).await.unwrap_err();
                    let Error::Asymmetric { odd, theirs, ours, .. } = &error else { panic!("{error}") };
                    assert_eq!(odd.as_slice(), [2]);
                    assert!(theirs.ends_with("by ring") && ours.ends_with("by eager"), "{error}");
                    // Nothing was done, and the PEs are in step.
                    let same = AllGather::in_place(pe, buffer, AllGatherAlgorithm::Auto).unwrap();
                    same.check_same_on_all(pe).await.unwrap();
                    same.run(pe).await.unwrap();
                });
            });
        }
    });
}

/// Panics when it is woken.
struct Bad;

impl Wake for Bad {
    fn wake(self: std::sync::Arc<Self>) {
        panic!("on purpose");
    }
}

#[test]
fn a_waker_that_panics_does_not_keep_others_from_being_woken() {
    let pes = job(2);
    let word = std::thread::scope(|scope| {
        let other = scope.spawn(|| block_on(pes[1].calloc::<u64>(1)).unwrap());
        let word = block_on(pes[0].calloc::<u64>(1)).unwrap();
        assert_eq!(other.join().unwrap(), word);
        word
    });
    {
        let mut future = std::pin::pin!(pes[0].signal_wait_until(word, Cmp::Ge, 1));
        let bad = Waker::from(std::sync::Arc::new(Bad));
        assert!(matches!(future.as_mut().poll(&mut Context::from_waker(&bad)), Poll::Pending));
        std::thread::sleep(Duration::from_millis(50));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            let nothing = word.slice(..0).unwrap();
            pes[1].put_signal_nbi(nothing, nothing, word, SignalOp::Set(1), 0).unwrap();
        });
        let woken = runtime.block_on(async {
            let wait = pes[0].signal_wait_until(word, Cmp::Ge, 1);
            tokio::time::timeout(Duration::from_secs(30), wait).await
        });
        assert_eq!(woken.expect("never woken").unwrap(), 1);
    });
}
