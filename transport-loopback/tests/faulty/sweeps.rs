//! Every operation of the program as the one that fails, that the PE dies at, or stalls at.

use std::time::Duration;

use transport_core::faulty::{Fault, FaultPolicy, Injected};

use crate::program::Trouble;
use crate::runs::{Case, End, assert_all_well, for_each, run};

const LONG: Duration = Duration::from_secs(10);

/// The numbers of a sweep's cases, as `SHMEM_FAULT_SEED` takes them: PEs, PE, operation.
fn number(n_pes: usize, pe: usize, k: u64) -> u64 {
    (n_pes as u64 * 100 + pe as u64) * 10_000 + k
}

/// How many operations the program makes on each PE, without faults.
fn operations(n_pes: usize) -> u64 {
    let none = || FaultPolicy::new(0);
    let ends = run(&Case { number: 0, n_pes, deadline: LONG, policies: [none(), none()] });
    assert_all_well(&ends);
    ends.iter().map(|end| end.operations).max().unwrap()
}

/// All `k` of one PE of each size of job; of the larger ones every `step`th, and some beyond the end.
fn sweep(
    sizes: &'static [(usize, usize)],
    deadline: Duration,
    policy: impl Fn(FaultPolicy, u64) -> FaultPolicy + Copy,
) -> impl Iterator<Item = Case> {
    sizes.iter().flat_map(move |&(n_pes, step)| {
        (1..operations(n_pes) + 3).step_by(step).map(move |k| {
            let pe = k as usize % n_pes;
            let number = number(n_pes, pe, k);
            // Delays inside, so that something is under way when it happens.
            let inner = FaultPolicy::new(number).delay(0.3);
            let outer = policy(FaultPolicy::new(number).only_on(pe), k);
            Case { number, n_pes, deadline, policies: [inner, outer] }
        })
    })
}

/// The call that leaves, after the last barrier.
const LAST: &str = "finalize";

/// To whom this was done, and when.
fn done_to(ends: &[End], is: impl Fn(&Fault) -> bool) -> Option<(&End, &Injected)> {
    let done = |end: &'_ End| end.injected.iter().position(|injected| is(&injected.fault));
    ends.iter().find_map(|end| Some((end, end.injected.get(done(end)?)?)))
}

#[test]
fn a_pe_dies_at_every_operation() {
    let cases = sweep(&[(1, 1), (2, 1), (3, 1), (5, 3), (8, 7)], LONG, FaultPolicy::die_at);
    for_each("a_pe_dies_at_every_operation", cases, |_, ends| {
        let Some((dead, at)) = done_to(ends, |fault| *fault == Fault::Died) else {
            return assert_all_well(ends);
        };
        let says_so = |trouble: &Trouble| trouble.to_string().contains("died at its operation");
        assert!(dead.result.as_ref().is_err_and(says_so), "{dead:#?}");
        let others = || ends.iter().filter(|end| end.pe != dead.pe);
        if at.call == LAST {
            // It had come to the last barrier, as all had.
            assert!(others().all(|end| end.result.is_ok()), "{ends:#?}");
        } else {
            assert!(others().all(|end| end.result.is_err()), "{ends:#?}");
        }
    });
}

#[test]
fn every_operation_fails() {
    let cases = sweep(&[(1, 7), (2, 1), (3, 1), (5, 3), (8, 7)], LONG, FaultPolicy::fail_operation);
    for_each("every_operation_fails", cases, |case, ends| {
        let Some((failed, _)) = done_to(ends, |fault| matches!(fault, Fault::Failed { .. })) else {
            return assert_all_well(ends);
        };
        // Nobody can be through: the program has a barrier behind each operation that can fail, and this PE is not in it.
        assert!(
            failed.result.as_ref().is_err_and(|trouble| trouble.to_string().contains("status 12")),
            "{failed:#?}"
        );
        assert!(case.n_pes > 1 && ends.iter().all(|end| end.result.is_err()), "{ends:#?}");
    });
}

#[test]
fn a_short_stall_at_every_operation_harms_nobody() {
    let stall = |policy: FaultPolicy, k| policy.stall_at(k, Duration::from_millis(4));
    let cases = sweep(&[(1, 9), (2, 2), (3, 3), (5, 9), (8, 23)], LONG, stall);
    for_each("a_short_stall_at_every_operation_harms_nobody", cases, |_, ends| assert_all_well(ends));
}

#[test]
fn a_stall_for_good_ends_at_the_deadline() {
    let stall = |policy: FaultPolicy, k| policy.stall_at(k, Duration::MAX);
    let cases = sweep(&[(1, 11), (2, 4), (3, 7), (5, 17), (8, 41)], Duration::from_millis(150), stall);
    for_each("a_stall_for_good_ends_at_the_deadline", cases, |_, ends| {
        let is_stall = |fault: &Fault| matches!(fault, Fault::Stalled { .. });
        let Some((stalled, at)) = done_to(ends, is_stall) else { return };
        assert!(stalled.result.is_err(), "{stalled:#?}");
        if at.call != LAST {
            assert!(ends.iter().all(|end| end.result.is_err()), "{ends:#?}");
        }
        let (pe, named) = (stalled.pe, format!("PE {}", stalled.pe));
        let names =
            |end: &End| end.result.as_ref().is_err_and(|trouble| trouble.to_string().contains(&named));
        assert!(ends.iter().any(names), "nobody names PE {pe}: {ends:#?}");
    });
}
