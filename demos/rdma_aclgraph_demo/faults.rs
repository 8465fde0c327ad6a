//! The whole job of the demo over a transport with faults: on every PE right or a clear error, never wrong data, never a hang.
//!
//! A failure names its case; `SHMEM_FAULT_SEED=number` and the name of the test run that one alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{env, thread};

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::faulty::{Fault, FaultPolicy, Faulty, Injected};
use transport_loopback::{Loopback, Threads};

use crate::job::Plan;

type Pe = Faulty<Faulty<Loopback>>;

/// One job.
#[derive(Debug)]
struct Case {
    number: u64,
    n_pes: usize,
    deadline: Duration,
    /// One inside of the other.
    policies: [FaultPolicy; 2],
}

/// How one PE ended, and what it said.
#[derive(Debug)]
struct End {
    pe: usize,
    result: Result<(), String>,
    said: String,
    operations: u64,
    injected: Vec<Injected>,
}

const LONG: Duration = Duration::from_secs(15);
/// No wait is longer than the job's deadline, and the job makes few that reach it.
const WATCHDOG: Duration = Duration::from_secs(40);
const LOOPS: u64 = 3;

impl Case {
    fn plan(&self) -> Plan {
        Plan {
            program: "demo".into(),
            elements: 1 + self.number as usize % 40,
            loops: LOOPS,
            device: 0,
            npu: None,
            dot: None,
        }
    }

    fn run(&self) -> Vec<End> {
        let (sender, ends) = mpsc::channel();
        let all = AllGatherAlgorithm::ALL;
        let (algorithm, _) = all[self.number as usize % all.len()];
        let threads = Threads::new(self.n_pes).heap_size(256 << 10).timeout(self.deadline);
        let pes = threads.all_gather(algorithm).start().unwrap();
        let [inner, outer] = &self.policies;
        for (number, pe) in Faulty::all(Faulty::all(pes, inner), outer).into_iter().enumerate() {
            let (sender, plan) = (sender.clone(), self.plan());
            thread::spawn(move || drop(sender.send(end(number, pe, &plan))));
        }
        drop(sender);
        let mut all: Vec<End> = Vec::new();
        while all.len() < self.n_pes {
            match ends.recv_timeout(WATCHDOG) {
                Ok(end) => all.push(end),
                Err(_) => {
                    panic!(
                        "only {} of {} PEs ended (hang or panic): {self:?}\n{all:#?}",
                        all.len(),
                        self.n_pes
                    )
                }
            }
        }
        all.sort_by_key(|end| end.pe);
        all
    }
}

fn end(number: usize, pe: Pe, plan: &Plan) -> End {
    let (pe, mut said) = (Arc::new(pe), Vec::new());
    let result = plan.whole(&pe, &mut said);
    let (operations, mut injected) = (pe.operations(), pe.injected());
    injected.extend(pe.inner().injected());
    // Before its end is told: a drop that hangs is a hang.
    drop(pe);
    End { pe: number, result, said: String::from_utf8(said).unwrap(), operations, injected }
}

/// All cases, or the one that is asked for.
fn for_each(cases: impl Iterator<Item = Case>, judge: impl Fn(&[End]) -> Result<(), &'static str>) {
    let only = env::var("SHMEM_FAULT_SEED").ok().map(|number| number.parse::<u64>().unwrap());
    for case in cases.filter(|case| only.is_none_or(|only| only == case.number)) {
        let ends = case.run();
        let wrong = ends.iter().find_map(|end| unclear(end, case.n_pes)).or_else(|| judge(&ends).err());
        assert!(wrong.is_none(), "{wrong:?}: SHMEM_FAULT_SEED={}, {case:?}\n{ends:#?}", case.number);
    }
}

/// What is wrong with the end of a PE, whatever happened to it: it has to be right, or say who or what kept it.
fn unclear(end: &End, n_pes: usize) -> Option<&'static str> {
    let success = format!("check transport result success, relative pe={}\n", end.pe);
    if end.said.contains("ERROR") || end.result.as_ref().is_err_and(|why| why.contains("wrong result")) {
        return Some("wrong data");
    }
    match &end.result {
        Ok(()) if end.said.matches(&success).count() != 1 => Some("it ended well and does not say so"),
        Err(why) if !(0..n_pes).any(|pe| why.contains(&format!("PE {pe}"))) => Some("it names no PE"),
        _ => None,
    }
}

fn all_well(ends: &[End]) -> Result<(), &'static str> {
    if ends.iter().all(|end| end.result.is_ok()) { Ok(()) } else { Err("it should have ended well") }
}

/// To whom this was done, and when.
fn done_to(ends: &[End], is: impl Fn(&Fault) -> bool) -> Option<(&End, &Injected)> {
    let done = |end: &'_ End| end.injected.iter().position(|injected| is(&injected.fault));
    ends.iter().find_map(|end| Some((end, end.injected.get(done(end)?)?)))
}

/// How many operations a PE makes without faults, at most.
fn undisturbed(number: u64, n_pes: usize) -> u64 {
    let none = FaultPolicy::new(0);
    let ends = Case { number, n_pes, deadline: LONG, policies: [none.clone(), none] }.run();
    assert_eq!(all_well(&ends), Ok(()), "{ends:#?}");
    ends.iter().map(|end| end.operations).max().unwrap()
}

/// Each operation of a PE, and some beyond the end, with delays so that something is under way when it happens.
fn sweep(
    step: usize,
    deadline: Duration,
    policy: impl Fn(FaultPolicy, u64) -> FaultPolicy + Copy,
) -> impl Iterator<Item = Case> {
    [2, 3].into_iter().flat_map(move |n_pes| {
        let operations =
            (0..AllGatherAlgorithm::ALL.len() as u64).map(|number| undisturbed(number, n_pes)).max();
        let operations = operations.unwrap();
        (1..operations + 3).step_by(step).map(move |k| {
            let pe = k % n_pes as u64;
            let number = (n_pes as u64 * 10 + pe) * 1000 + k;
            let inner = FaultPolicy::new(number).delay(0.3);
            let outer = policy(FaultPolicy::new(number).only_on(pe as usize), k);
            Case { number, n_pes, deadline, policies: [inner, outer] }
        })
    })
}

/// The call that leaves, after the last barrier: all others have come to it too.
const LAST: &str = "finalize";

/// The one to whom it was done says `text`, and nobody ends well, unless it was after the last barrier.
fn ends_all(ends: &[End], is: impl Fn(&Fault) -> bool, text: &str) -> Result<(), &'static str> {
    let Some((hit, at)) = done_to(ends, is) else { return all_well(ends) };
    if !hit.result.as_ref().is_err_and(|why| why.contains(text)) {
        return Err("it does not say what happened to it");
    }
    let last = at.call == LAST;
    let as_it_should = |end: &End| end.result.is_ok() == last;
    let all = ends.iter().filter(|end| end.pe != hit.pe).all(as_it_should);
    if all { Ok(()) } else { Err("the others should all have failed, or none after the last barrier") }
}

#[test]
fn a_pe_dies_at_every_operation() {
    for_each(sweep(1, LONG, FaultPolicy::die_at), |ends| {
        ends_all(ends, |fault| *fault == Fault::Died, "died at its operation")
    });
}

#[test]
fn every_operation_fails() {
    for_each(sweep(1, LONG, FaultPolicy::fail_operation), |ends| {
        ends_all(ends, |fault| matches!(fault, Fault::Failed { .. }), "status 12")
    });
}

#[test]
fn a_short_stall_harms_nobody() {
    let stall = |policy: FaultPolicy, k| policy.stall_at(k, Duration::from_millis(3));
    for_each(sweep(2, LONG, stall), all_well);
}

#[test]
fn a_stall_for_good_ends_at_the_deadline() {
    let stall = |policy: FaultPolicy, k| policy.stall_at(k, Duration::MAX);
    for_each(sweep(7, Duration::from_millis(150), stall), |ends| {
        let Some((stalled, at)) = done_to(ends, |fault| matches!(fault, Fault::Stalled { .. })) else {
            return all_well(ends);
        };
        let named = format!("PE {}", stalled.pe);
        let names = |end: &End| end.result.as_ref().is_err_and(|why| why.contains(&named));
        match () {
            () if stalled.result.is_ok() => Err("who stalls does not end well"),
            () if at.call != LAST && ends.iter().any(|end| end.result.is_ok()) => Err("nobody ends well"),
            () if !ends.iter().any(names) => Err("nobody names who stalls"),
            () => Ok(()),
        }
    });
}

#[test]
fn delays_and_duplicates_harm_nobody() {
    let case = |seed: u64| {
        let probability = [0.1, 0.5, 0.9, 1.0][seed as usize % 4];
        let linger = Duration::from_micros([50, 300, 1000][seed as usize % 3]);
        let late = FaultPolicy::new(seed).delay(probability).duplicate(probability).linger(linger);
        let policies = [late, FaultPolicy::new(seed)];
        Case { number: seed, n_pes: 2 + seed as usize % 2, deadline: LONG, policies }
    };
    for_each((0..200).map(case), all_well);
}

#[test]
fn everything_at_once() {
    let case = |seed: u64| {
        let rare = 0.002 * (seed % 9) as f64;
        let inner = FaultPolicy::new(seed).delay(0.4).duplicate(0.2).stall(rare, Duration::from_millis(2));
        let outer = FaultPolicy::new(!seed).die(rare).fail(rare).delay(0.2);
        Case { number: seed, n_pes: 2 + seed as usize % 2, deadline: LONG, policies: [inner, outer] }
    };
    for_each((0..200).map(case), |ends| {
        let hurts = |fault: &Fault| matches!(fault, Fault::Died | Fault::Failed { .. });
        if done_to(ends, hurts).is_some() { Ok(()) } else { all_well(ends) }
    });
}
