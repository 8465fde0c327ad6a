//! Each kind of fault by itself: what it does, and that the same seed does it again.

use std::time::{Duration, Instant};

use transport_core::faulty::{Fault, FaultPolicy, Faulty};
use transport_core::wait::block_on;
use transport_core::{AtomicOp, Cmp, Error, SignalOp, SymSlice, Transport};
use transport_loopback::{Loopback, Threads};

type Pe = Faulty<Loopback>;

/// A job, and a word and eight numbers on each PE: 6 operations on each.
fn job(n_pes: usize, timeout: Duration, policy: &FaultPolicy) -> (Vec<Pe>, SymSlice<u64>, SymSlice<u64>) {
    let pes = Threads::new(n_pes).heap_size(1 << 20).timeout(timeout).start().unwrap();
    let pes = Faulty::all(pes, policy);
    let slices = std::thread::scope(|scope| {
        let allocate =
            |pe: &Pe| block_on(async { Ok::<_, Error>((pe.calloc(1).await?, pe.calloc(8).await?)) }).unwrap();
        let threads: Vec<_> = pes.iter().map(|pe| scope.spawn(move || allocate(pe))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).next_back().unwrap()
    });
    (pes, slices.0, slices.1)
}

const LONG: Duration = Duration::from_secs(20);
/// The first operation after [`job`], in jobs of two: two barriers and a put of each allocation, and its last barrier.
const FIRST: u64 = 9;

#[test]
fn the_first_operation_of_a_test_is_known() {
    let (pes, ..) = job(2, LONG, &FaultPolicy::new(1));
    assert!(
        pes.iter().all(|pe| pe.operations() == FIRST - 1 && pe.injected().is_empty()),
        "{}",
        pes[0].operations()
    );
}

#[test]
fn a_delayed_put_lands_at_quiet_and_not_before() {
    let policy = FaultPolicy::new(1).delay(1.0).linger(Duration::from_secs(1000));
    let (pes, _, data) = job(2, LONG, &policy);
    let (from, to) = (data.part(0, 2).unwrap(), data.part(1, 2).unwrap());
    pes[0].heap().fill(from, 5).unwrap();
    pes[0].put_nbi(to, from, 1).unwrap();
    pes[0].fence().unwrap();
    assert_eq!(pes[1].heap().read_vec(to).unwrap(), [0; 4]);
    block_on(pes[0].quiet()).unwrap();
    assert_eq!(pes[1].heap().read_vec(to).unwrap(), [5; 4]);
    assert!(pes[0].injected().iter().any(|done| done.fault == Fault::Delayed && done.operation == FIRST));
}

#[test]
fn a_delayed_put_goes_by_itself() {
    let (pes, word, data) = job(2, LONG, &FaultPolicy::new(1).delay(1.0));
    pes[0].heap().fill(data, 6).unwrap();
    pes[0].put_signal_nbi(data, data, word, SignalOp::Set(1), 1).unwrap();
    // PE 0 makes no other call.
    assert_eq!(block_on(pes[1].signal_wait_until(word, Cmp::Eq, 1)).unwrap(), 1);
    assert_eq!(pes[1].heap().read_vec(data).unwrap(), [6; 8]);
}

#[test]
fn without_a_fence_puts_overtake_and_with_one_they_do_not() {
    let overtaken = |fence: bool| {
        (0..60).any(|seed| {
            let policy = FaultPolicy::new(seed).delay(0.7).linger(Duration::from_secs(1000));
            let (pes, word, data) = job(2, LONG, &policy);
            pes[0].heap().fill(data, 1).unwrap();
            pes[0].put_nbi(data, data, 1).unwrap();
            if fence {
                pes[0].fence().unwrap();
            }
            let none = data.slice(..0).unwrap();
            pes[0].put_signal_nbi(none, none, word, SignalOp::Set(1), 1).unwrap();
            let mut overtook = false;
            for _ in 0..12 {
                let signal = pes[1].heap().load(word).unwrap();
                overtook |= signal == 1 && pes[1].heap().read_vec(data).unwrap() != [1; 8];
                pes[0].fence().unwrap();
                pes[0].put_nbi(data.part(0, 2).unwrap(), data.part(1, 2).unwrap(), 0).unwrap();
            }
            overtook
        })
    };
    assert!(overtaken(false), "delays never change the order");
    assert!(!overtaken(true), "a fence was overtaken");
}

#[test]
fn a_failed_put_is_said_by_the_next_call_and_from_then_on() {
    let policy = FaultPolicy::new(3).fail_operation(FIRST).only_on(0);
    let (pes, word, data) = job(2, LONG, &policy);
    pes[0].heap().fill(data, 7).unwrap();
    pes[0].put_nbi(data, data, 1).unwrap();
    for _ in 0..2 {
        let error = block_on(pes[0].quiet()).unwrap_err();
        assert!(matches!(error, Error::PeerLost { my_pe: 0, pe: 1, .. }), "{error}");
        for words in ["status 12", "put_nbi, operation 9", "seed 3"] {
            assert!(error.to_string().contains(words), "{words} is not in: {error}");
        }
    }
    assert!(matches!(pes[0].put_nbi(data, data, 1), Err(Error::PeerLost { pe: 1, .. })));
    assert!(matches!(block_on(pes[0].atomic(word, AtomicOp::Fetch, 1)), Err(Error::PeerLost { pe: 1, .. })));
    assert_eq!(pes[1].heap().read_vec(data).unwrap(), [0; 8]);
    // To itself it can still send.
    assert_eq!(block_on(pes[0].atomic(word, AtomicOp::Add(1), 0)).unwrap(), 0);
}

#[test]
fn a_failure_is_seen_by_a_wait_that_is_under_way() {
    let policy = FaultPolicy::new(3).fail_operation(FIRST + 1).only_on(0);
    let (pes, word, data) = job(2, LONG, &policy);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| block_on(pes[0].signal_wait_until(word, Cmp::Eq, 1)));
        while pes[0].operations() < FIRST {
            std::thread::yield_now();
        }
        pes[0].put_nbi(data, data, 1).unwrap();
        assert!(matches!(wait.join().unwrap(), Err(Error::PeerLost { pe: 1, .. })));
    });
    assert!(begin.elapsed() < LONG / 2);
}

#[test]
fn a_dead_pe_answers_so_to_every_call_and_the_others_hear_of_it() {
    let policy = FaultPolicy::new(3).die_at(FIRST).only_on(1);
    let (pes, word, data) = job(2, LONG, &policy);
    let none = data.slice(..0).unwrap();
    let dead = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::PeerLost { my_pe: 1, pe: 1, .. }), "{error}");
    };
    dead(pes[1].put_nbi(data, data, 0));
    dead(pes[1].get_nbi(data, data, 0));
    dead(pes[1].put_signal_nbi(none, none, word, SignalOp::Set(1), 0));
    dead(pes[1].fence());
    dead(pes[1].prepare(0));
    dead(block_on(pes[1].quiet()));
    dead(block_on(pes[1].barrier_all()));
    dead(block_on(pes[1].atomic(word, AtomicOp::Add(1), 0)).map(drop));
    dead(block_on(pes[1].signal_wait_until(word, Cmp::Eq, 1)).map(drop));
    dead(block_on(pes[1].alloc::<u8>(1)).map(drop));
    dead(block_on(pes[1].finalize()));
    let error = block_on(pes[0].barrier_all()).unwrap_err();
    assert!(matches!(error, Error::PeerLost { my_pe: 0, pe: 1, .. }), "{error}");
    assert!(error.to_string().contains("died at its operation 9"), "{error}");
    assert_eq!(pes[0].heap().load(word).unwrap(), 0);
}

#[test]
fn a_stalled_pe_is_named_by_all_at_the_deadline() {
    let timeout = Duration::from_millis(200);
    let policy = FaultPolicy::new(3).stall_at(FIRST, Duration::MAX).only_on(1);
    let (pes, _, data) = job(2, timeout, &policy);
    pes[1].heap().fill(data, 8).unwrap();
    pes[1].put_nbi(data, data, 0).unwrap();
    std::thread::scope(|scope| {
        for pe in &pes {
            scope.spawn(move || {
                let error = block_on(pe.barrier_all()).unwrap_err();
                let Error::Timeout { missing, .. } = &error else { panic!("{error}") };
                assert_eq!(missing.as_slice(), [1], "{error}");
            });
        }
    });
    assert_eq!(pes[0].heap().read_vec(data).unwrap(), [0; 8]);
}

#[test]
fn after_a_stall_all_goes_on() {
    let stall = Duration::from_millis(60);
    let policy = FaultPolicy::new(3).stall_at(FIRST, stall).only_on(1);
    let (pes, _, data) = job(2, LONG, &policy);
    pes[1].heap().fill(data, 8).unwrap();
    let begin = Instant::now();
    pes[1].put_nbi(data, data, 0).unwrap();
    std::thread::scope(|scope| {
        pes.iter().for_each(|pe| drop(scope.spawn(move || block_on(pe.barrier_all()).unwrap())));
    });
    assert!(begin.elapsed() >= stall);
    assert_eq!(pes[0].heap().read_vec(data).unwrap(), [8; 8]);
}

#[test]
fn the_same_seed_does_the_same() {
    let once = |seed| {
        let policy = FaultPolicy::new(seed).delay(0.5).duplicate(0.5).stall(0.1, Duration::from_micros(100));
        let (pes, ..) = job(3, LONG, &policy);
        pes.iter().map(Faulty::injected).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..8).map(once).collect();
    assert_eq!(all, (0..8).map(once).collect::<Vec<_>>());
    assert!(all.windows(2).any(|pair| pair[0] != pair[1]));
}
