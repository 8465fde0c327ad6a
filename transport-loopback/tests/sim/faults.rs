//! Programs that are wrong are found, told, and can be seen again.

use transport_core::{Cmp, Result, Transport};
use transport_loopback::sim::{Exploration, Failure, FailureKind, Network, Schedule, Sim, SimPe};

use crate::programs::ByHand;

/// The fewest schedules that show it.
const PLAIN: Network = Network { torn: false, ordered: false, late_source: false };

/// By each kind of exploration (by that of all schedules, of two PEs); the schedule that is printed fails in the same way, and is no longer than the one that was found.
fn is_found<F, Fut>(sim: &Sim, body: F) -> Vec<Failure>
where
    F: Fn(SimPe) -> Fut + Copy,
    Fut: Future<Output = Result<()>> + Send,
{
    let (two, sim) = (Sim::new(2).network(PLAIN), sim.clone());
    let ways = [
        Exploration::Exhaustive { most: 1_000_000 },
        Exploration::Random { schedules: 10_000 },
        Exploration::Pct { schedules: 10_000, depth: 3 },
    ];
    let found = ways.map(|how| {
        let sim = if matches!(how, Exploration::Exhaustive { .. }) { &two } else { &sim };
        let failure = *sim.explore(how.clone(), body).expect_err(&format!("{how:?} finds nothing"));
        let printed = failure.to_string();
        let text = printed.split("SHMEM_SIM_REPLAY=").nth(1).and_then(|rest| rest.split(' ').next());
        let schedule: Schedule = text.expect("a command that replays it").parse().unwrap();
        assert_eq!(&schedule, failure.schedule());
        assert!(schedule.deviations() <= failure.found().deviations(), "{printed}");
        let again = sim.explore(Exploration::Replay(schedule), body).expect_err("it does not fail again");
        assert_eq!(again.kind(), failure.kind(), "{printed}");
        assert_eq!(again.timeline(), failure.timeline());
        failure
    });
    found.into()
}

fn is_panic(failure: &Failure) -> bool {
    matches!(failure.kind(), FailureKind::Panic { message, .. } if message.contains("round"))
}

#[test]
fn an_all_gather_without_its_exit_barrier() {
    for n_pes in [2, 3] {
        let found = is_found(&Sim::new(n_pes), |pe| ByHand { entry: true, exit: false }.twice(pe));
        assert!(found.iter().all(is_panic), "{}", found[0]);
        assert!(found.iter().all(|failure| failure.schedule().deviations() < 12), "{}", found[1]);
    }
}

#[test]
fn an_all_gather_without_its_entry_barrier() {
    for n_pes in [2, 3] {
        let found = is_found(&Sim::new(n_pes), |pe| ByHand { entry: false, exit: true }.twice(pe));
        assert!(found.iter().all(is_panic), "{}", found[0]);
        assert!(found.iter().all(|failure| failure.schedule().deviations() < 12), "{}", found[1]);
    }
}

#[test]
fn a_failure_is_a_story() {
    let sim = Sim::new(2).network(Network { torn: false, late_source: false, ..Network::default() });
    let body = |pe| ByHand { entry: true, exit: false }.twice(pe);
    let failure = sim.explore(Exploration::Random { schedules: 1000 }, body).unwrap_err();
    let story = failure.to_string();
    for part in [
        "panicked: ",
        "seed 1",
        "SHMEM_SIM_REPLAY=",
        "cargo test",
        "faults::a_failure_is_a_story -- --exact",
        "posts put #",
        "programs.rs:",
        " lands at PE ",
        " waits in barrier_all for PE ",
        "enters barrier ",
        "before begin",
    ] {
        assert!(story.contains(part), "{part:?} is missing in\n{story}");
    }
}

#[test]
fn a_pe_that_skips_a_barrier_leaves_the_others_stuck() {
    let body = |pe: SimPe| async move {
        let word = pe.calloc::<u64>(1).await?;
        pe.begin().await;
        match pe.my_pe() {
            1 => pe.signal_wait_until(word, Cmp::Eq, 3).await.map(drop),
            _ => pe.barrier_all().await,
        }
    };
    for how in [Exploration::Exhaustive { most: 1000 }, Exploration::Random { schedules: 10 }] {
        let failure = Sim::new(3).explore(how, body).unwrap_err();
        let FailureKind::Stuck { waits } = failure.kind() else { panic!("{failure}") };
        assert_eq!(waits[0], "PE 0 waits in barrier_all for PE 1");
        assert!(waits[1].starts_with("PE 1 waits in signal_wait_until for the word at +"), "{failure}");
        assert!(waits[1].ends_with(" == 3; it is 0"), "{failure}");
        assert_eq!(waits[2], "PE 2 waits in barrier_all for PE 1");
    }
}

#[test]
fn a_pe_that_does_not_come_to_begin_is_named() {
    let failure = Sim::new(2).explore(Exploration::Random { schedules: 1 }, |pe| async move {
        if pe.my_pe() == 0 {
            pe.begin().await;
        }
        pe.barrier_all().await
    });
    let failure = failure.unwrap_err();
    assert_eq!(
        failure.kind(),
        &FailureKind::Stuck {
            waits: vec!["PE 0 waits in begin for PE 1".into(), "PE 1 waits in barrier_all for PE 0".into()]
        }
    );
}

#[test]
fn a_pe_that_goes_without_finalize_is_lost_for_who_needs_it() {
    let failure = Sim::new(2).explore(Exploration::Random { schedules: 100 }, |pe| async move {
        if pe.my_pe() == 0 { Ok(()) } else { pe.barrier_all().await }
    });
    let failure = failure.unwrap_err();
    let FailureKind::Error { pe: 1, message } = failure.kind() else { panic!("{failure}") };
    assert!(message.contains("PE 0") && message.contains("dropped without finalize"), "{failure}");
}

#[test]
fn a_loop_without_end_ends() {
    let sim = Sim::new(2).most_steps(10_000);
    let failure = sim.explore(Exploration::Random { schedules: 1 }, |pe| async move {
        let word = pe.calloc::<u64>(1).await?;
        while pe.heap().load(word)? == 0 {
            transport_loopback::sim::yield_now().await;
        }
        Result::Ok(())
    });
    assert_eq!(failure.unwrap_err().kind(), &FailureKind::Endless { steps: 10_000 });
}

#[test]
fn a_deadline_is_an_error_where_time_passes() {
    let explored =
        Sim::new(2).time_outs(true).explore(Exploration::Exhaustive { most: 1000 }, |pe| async move {
            let word = pe.calloc::<u64>(1).await?;
            pe.begin().await;
            let late = pe.signal_wait_until(word, Cmp::Ne, 0).await.unwrap_err();
            assert!(matches!(late, transport_core::Error::SignalTimeout { value: 0, .. }), "{late}");
            pe.finalize().await
        });
    assert!(explored.unwrap().complete);
}
