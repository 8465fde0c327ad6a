//! How waits end when a peer does not come: deadlines, peers that are gone, peers whose NIC does not answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod support;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use support::proxy::Proxy;
use support::{Device, Job, PATIENCE, assert_lost, assert_words, device, each};
use transport_core::wait::block_on;
use transport_core::{AtomicOp, Cmp, Error, SignalOp, SymSlice, Transport};
use transport_roce::Roce;

/// Long for a peer that only has to be scheduled.
const SHORT: Duration = Duration::from_secs(2);

#[test]
fn a_pe_that_is_dropped_ends_every_wait_of_the_others_and_is_named() {
    let Some(device) = device() else { return };
    let mut pes = Job::new(&device, 5).start();
    let word = each(&pes, async |pe| pe.calloc::<u64>(1).await.unwrap())[0];
    // Not while others are still in the last barrier.
    each(&pes, async |pe| pe.barrier_all().await.unwrap());
    let gone = pes.remove(2);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(move || {
                block_on(async {
                    let cause = match pe.my_pe() % 2 {
                        0 => assert_lost(pe.barrier_all().await, 2),
                        _ => assert_lost(pe.signal_wait_until(word, Cmp::Eq, 1).await, 2),
                    };
                    assert_words(cause, &["dropped without finalize"]);
                    assert_lost(pe.barrier_all().await, 2);
                    assert_lost(pe.quiet().await, 2);
                    assert_lost(pe.put_nbi(word, word, 2), 2);
                    assert_lost(pe.atomic(word, AtomicOp::Fetch, 2).await, 2);
                });
            });
        }
        drop(gone);
    });
    assert!(start.elapsed() < PATIENCE / 2, "the others waited for the deadline");
}

#[test]
fn a_barrier_past_its_deadline_names_exactly_who_is_missing_and_is_resumed() {
    let Some(device) = device() else { return };
    late_barrier(&Job::new(&device, 5), &[1, 3]);
}

/// Also of those that it has never talked to: of six PEs, two that are three apart are no partners of the barrier.
#[test]
fn a_late_barrier_names_exactly_who_is_missing_before_the_first_use() {
    let Some(device) = device() else { return };
    late_barrier(&Job::new(&device, 6).set("SHMEM_ROCE_CONNECT", "first-use"), &[1]);
}

fn late_barrier(job: &Job, away: &[usize]) {
    let pes = job.start();
    for pe in &pes {
        pe.endpoint().set_timeout(SHORT);
    }
    std::thread::scope(|scope| {
        for pe in pes.iter().filter(|pe| !away.contains(&pe.my_pe())) {
            scope.spawn(move || {
                let error = block_on(pe.barrier_all()).unwrap_err();
                let Error::Timeout { my_pe, missing, .. } = error else { panic!("{error}") };
                assert_eq!((my_pe, missing.as_slice()), (pe.my_pe(), away));
            });
        }
    });
    // They were late, not lost: the same barrier goes on.
    for pe in &pes {
        pe.endpoint().set_timeout(PATIENCE);
    }
    each(&pes, async |pe| {
        pe.barrier_all().await.unwrap();
        pe.barrier_all().await.unwrap();
        pe.finalize().await.unwrap();
    });
}

#[test]
fn an_abort_carries_its_reason_to_a_signal_wait() {
    let Some(device) = device() else { return };
    let pes = Job::new(&device, 2).start();
    let word = each(&pes, async |pe| pe.calloc::<u64>(1).await.unwrap())[0];
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| block_on(pes[1].signal_wait_until(word, Cmp::Eq, 1)));
        pes[0].abort("the disk is full");
        let error = waiter.join().unwrap().unwrap_err();
        assert_words(error, &["PE 0 is gone", "the disk is full"]);
    });
}

#[test]
fn a_thread_that_panics_says_so() {
    let Some(device) = device() else { return };
    let mut pes = Job::new(&device, 2).start();
    let panics = pes.remove(0);
    let thread = std::thread::spawn(move || {
        let _pe = panics;
        panic!("as this test wants it");
    });
    let cause = assert_lost(block_on(pes[0].barrier_all()), 0);
    assert_words(cause, &["its thread panicked"]);
    assert!(thread.join().is_err());
}

/// A PE may go as soon as it has left its last barrier, even if others are still in it.
#[test]
fn a_pe_that_goes_after_its_last_barrier_does_not_disturb_that_barrier() {
    let Some(device) = device() else { return };
    for round in 0..12 {
        let pes = Job::new(&device, 3 + round % 4).start();
        let threads: Vec<_> =
            pes.into_iter().map(|pe| std::thread::spawn(move || block_on(pe.barrier_all()))).collect();
        for (pe, thread) in threads.into_iter().enumerate() {
            thread.join().unwrap().unwrap_or_else(|error| panic!("round {round}, PE {pe}: {error}"));
        }
    }
}

/// As above, but the last barrier is that of `finalize`: then nobody is lost either.
#[test]
fn after_finalize_every_call_says_so_and_a_drop_is_silent() {
    let Some(device) = device() else { return };
    let mut pes = Job::new(&device, 3).start();
    let word = each(&pes, async |pe| {
        let word = pe.calloc::<u64>(1).await.unwrap();
        pe.finalize().await.unwrap();
        word
    })[0];
    drop(pes.remove(1));
    let pe = &pes[0];
    block_on(async {
        assert!(matches!(pe.put_nbi(word, word, 1), Err(Error::Finalized { .. })));
        assert!(matches!(pe.fence(), Err(Error::Finalized { .. })));
        assert!(matches!(pe.quiet().await, Err(Error::Finalized { .. })));
        assert!(matches!(pe.barrier_all().await, Err(Error::Finalized { .. })));
        assert!(matches!(pe.alloc::<u8>(1).await, Err(Error::Finalized { .. })));
    });
}

#[test]
fn a_quiet_past_its_deadline_names_whom_it_waits_for_and_can_be_called_again() {
    let Some(device) = device() else { return };
    // With 16 MiB under way, no NIC that is emulated is ready within the deadline, and a real one may be.
    let len = 16 << 20;
    let pes = Job::new(&device, 3).heap(2 * len as u64 + 8192).start();
    let slices = each(&pes, async |pe| {
        let src = pe.alloc::<u8>(len).await.unwrap();
        let dst = pe.alloc::<u8>(len).await.unwrap();
        pe.heap().fill(src, 1 + pe.my_pe() as u8).unwrap();
        pe.barrier_all().await.unwrap();
        (src, dst)
    });
    let (src, dst) = slices[0];
    let pe = &pes[0];
    pe.put_nbi(dst, src, 2).unwrap();
    pe.endpoint().set_timeout(Duration::from_millis(1));
    match block_on(pe.quiet()) {
        Err(Error::Timeout { op: "quiet", my_pe: 0, missing, .. }) => assert_eq!(missing.as_slice(), [2]),
        other => eprintln!("the put took less than 1 ms, or this is wrong: {:?}", other.unwrap()),
    }
    pe.endpoint().set_timeout(PATIENCE);
    block_on(pe.quiet()).unwrap();
    assert!(pes[2].heap().read_vec(dst).unwrap().iter().all(|&byte| byte == 1));
    each(&pes, async |pe| pe.finalize().await.unwrap());
}

#[test]
fn a_signal_that_does_not_come_is_shown_with_the_value_there_is() {
    let Some(device) = device() else { return };
    let pe = Job::new(&device, 1).start().remove(0);
    let word = block_on(pe.calloc::<u64>(1)).unwrap();
    pe.heap().write(word, &[6]).unwrap();
    pe.endpoint().set_timeout(Duration::from_millis(30));
    let error = block_on(pe.signal_wait_until(word, Cmp::Ge, 7)).unwrap_err();
    assert!(matches!(error, Error::SignalTimeout { value: 6, .. }), "{error}");
    assert_words(error, &[">= 0x7"]);
}

/// Three PEs. PE 2 goes, and the rendezvous is silent about it: only the NIC can tell.
struct Unheard {
    pes: Vec<Roce>,
    /// 8 bytes for each PE, and 64 KiB.
    words: SymSlice<u64>,
    block: SymSlice<u8>,
}

impl Unheard {
    fn new(device: &Device, special: impl Fn(Job) -> Job) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::new(listener.local_addr().unwrap());
        let job = special(Job::new(device, 3)).detour(2, proxy.address);
        let started = job.start_at(listener, |_, job| job);
        let mut pes: Vec<Roce> = started.into_iter().map(|pe| pe.unwrap()).collect();
        let slices = each(&pes, async |pe| {
            let words = pe.calloc::<u64>(3).await.unwrap();
            let block = pe.calloc::<u8>(64 << 10).await.unwrap();
            pe.barrier_all().await.unwrap();
            (words, block)
        });
        let (words, block) = slices[0];
        proxy.silence();
        drop(pes.remove(2));
        Self { pes, words, block }
    }
}

#[test]
fn a_request_that_fails_is_the_loss_of_its_peer_and_stays_so() {
    let Some(device) = device() else { return };
    // Four times 67 ms and more, before the NIC gives up.
    let job = Unheard::new(&device, |job| job.set("SHMEM_ROCE_TIMEOUT", "14").set("SHMEM_ROCE_RETRY", "3"));
    let (words, block) = (job.words, job.block);
    each(&job.pes, async |pe| {
        let (me, other) = (pe.my_pe(), 1 - pe.my_pe());
        pe.put_nbi(block, block, 2).unwrap();
        pe.put_nbi(words, words, 2).unwrap();
        let start = Instant::now();
        let cause = assert_lost(pe.quiet().await, 2);
        assert_words(&cause, &["completion status", &device.name, "PE 2"]);
        assert!(start.elapsed() < PATIENCE / 2, "quiet waited for the deadline");
        for _ in 0..2 {
            assert_eq!(assert_lost(pe.quiet().await, 2), cause);
            assert_eq!(assert_lost(pe.barrier_all().await, 2), cause);
            assert_eq!(assert_lost(pe.put_nbi(words, words, 2), 2), cause);
            assert_eq!(assert_lost(pe.get_nbi(block, block, 2), 2), cause);
            assert_eq!(assert_lost(pe.put_bytes_nbi(block.slice(..1).unwrap(), vec![1].into(), 2), 2), cause);
            assert_eq!(assert_lost(pe.atomic(words.slice(2..).unwrap(), AtomicOp::Fetch, 2).await, 2), cause);
            assert_eq!(
                assert_lost(pe.signal_wait_until(words.slice(2..).unwrap(), Cmp::Eq, 9).await, 2),
                cause
            );
        }
        // Between the others, puts still work: of each kind, and more than all queues hold.
        let none = block.slice(..0).unwrap();
        for round in 0..1200_u64 {
            let piece = block.part((round % 16) as usize, 16).unwrap();
            pe.heap().write(piece, &[round as u8; 4096]).unwrap();
            if round % 100 == 0 {
                pe.put_bytes_nbi(piece, vec![round as u8; 4096].into(), other).unwrap();
            } else {
                pe.put_signal_nbi(none, none, words.part(me, 3).unwrap(), SignalOp::Add(1), other).unwrap();
            }
        }
        let mine = words.part(other, 3).unwrap();
        let before = pe.atomic(mine, AtomicOp::Add(0), me).await.unwrap();
        assert!(before <= 1188, "{before}");
        // No wait of this PE can end well any more; what arrives can be looked at.
        let limit = Instant::now() + PATIENCE;
        while pe.heap().load(mine).unwrap() < 1188 {
            assert!(Instant::now() < limit, "only {} signals came", pe.heap().load(mine).unwrap());
            std::thread::yield_now();
        }
    });
}

/// The NIC tries for longer than this PE waits.
#[test]
fn a_peer_that_does_not_answer_ends_quiet_and_barrier_at_the_deadline() {
    let Some(device) = device() else { return };
    // 4.3 s for each of four tries.
    let job = Unheard::new(&device, |job| job.set("SHMEM_ROCE_TIMEOUT", "20").set("SHMEM_ROCE_RETRY", "3"));
    each(&job.pes, async |pe| {
        pe.endpoint().set_timeout(SHORT / 2);
        pe.put_nbi(job.words, job.words, 2).unwrap();
        match pe.quiet().await {
            Err(Error::Timeout { op: "quiet", missing, .. }) => assert_eq!(missing.as_slice(), [2]),
            other => panic!("PE {}: {other:?}", pe.my_pe()),
        }
        // What does not arrive at PE 2 does not keep the others from each other.
        let mine = job.words.part(pe.my_pe(), 3).unwrap();
        let other = 1 - pe.my_pe();
        pe.atomic(mine, AtomicOp::Add(1), other).await.unwrap();
        pe.put_bytes_nbi(job.block.slice(..4096).unwrap(), vec![8; 4096].into(), 2).unwrap();
        for _ in 0..200 {
            pe.put_bytes_nbi(job.block.slice(..4096).unwrap(), vec![7; 4096].into(), other).unwrap();
        }
        match pe.barrier_all().await {
            Err(Error::Timeout { op: "barrier_all", missing, .. }) => {
                assert!(missing.contains(2), "{missing}")
            }
            other => panic!("PE {}: {other:?}", pe.my_pe()),
        }
    });
}
