//! Runs the program on every PE of a job with faults, watches it, and judges what came out.

use std::env;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use transport_core::faulty::{FaultPolicy, Faulty, Injected};
use transport_core::wait::block_on;
use transport_core::{Error, Transport};
use transport_loopback::{Loopback, Threads};

use crate::program::{Trouble, program};

/// One case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// What `SHMEM_FAULT_SEED` takes.
    pub(crate) number: u64,
    pub(crate) n_pes: usize,
    pub(crate) deadline: Duration,
    /// One inside of the other.
    pub(crate) policies: [FaultPolicy; 2],
}

/// How one PE ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) pe: usize,
    pub(crate) result: Result<(), Trouble>,
    pub(crate) operations: u64,
    pub(crate) injected: Vec<Injected>,
}

/// No wait of the program is longer than the job's deadline, and it makes few that reach it.
const WATCHDOG: Duration = Duration::from_secs(20);

/// All cases, or the one that is asked for.
pub(crate) fn for_each(test: &str, cases: impl Iterator<Item = Case>, judge: impl Fn(&Case, &[End])) {
    let only = env::var("SHMEM_FAULT_SEED").ok().map(|number| number.parse::<u64>().unwrap());
    let mut count = 0;
    for case in cases.filter(|case| only.is_none_or(|only| only == case.number)) {
        count += 1;
        let again = Replay(format!(
            "to see it again: SHMEM_FAULT_SEED={} cargo test -p transport-loopback --test faulty {test}\n{case:?}",
            case.number
        ));
        let ends = run(&case);
        for end in &ends {
            if let Err(trouble) = &end.result {
                assert_clear(trouble, case.n_pes, end);
            }
        }
        judge(&case, &ends);
        std::mem::forget(again);
    }
    assert!(count > 0 || only.is_some(), "no case");
}

/// Printed when a test fails while it lives.
struct Replay(String);

impl Drop for Replay {
    fn drop(&mut self) {
        eprintln!("{}", self.0);
    }
}

/// The job of a case, PE by PE.
pub(crate) fn start(case: &Case) -> Vec<Faulty<Faulty<Loopback>>> {
    let pes = Threads::new(case.n_pes).heap_size(256 << 10).timeout(case.deadline).start().unwrap();
    let [inner, outer] = &case.policies;
    Faulty::all(Faulty::all(pes, inner), outer)
}

pub(crate) fn run(case: &Case) -> Vec<End> {
    let (sender, ends) = mpsc::channel();
    for pe in start(case) {
        let sender = sender.clone();
        thread::spawn(move || {
            let pe = std::sync::Arc::new(pe);
            let number = pe.my_pe();
            let result = block_on(program(&pe));
            let (operations, mut injected) = (pe.operations(), pe.injected());
            injected.extend(pe.inner().injected());
            // Before its end is told: a drop that hangs is a hang.
            drop(pe);
            drop(sender.send(End { pe: number, result, operations, injected }));
        });
    }
    drop(sender);
    let mut all: Vec<End> = Vec::new();
    while all.len() < case.n_pes {
        match ends.recv_timeout(WATCHDOG) {
            Ok(end) => all.push(end),
            Err(_) => panic!("only {} of {} PEs ended (hang or panic): {all:#?}", all.len(), case.n_pes),
        }
    }
    all.sort_by_key(|end| end.pe);
    all
}

/// An error says who: which PE is gone or missing, or, for a signal, which word did not come.
fn assert_clear(trouble: &Trouble, n_pes: usize, end: &End) {
    let named = match trouble.cause() {
        Some(Error::PeerLost { pe, cause, .. }) => *pe < n_pes && !cause.is_empty(),
        Some(Error::Timeout { missing, .. }) => !missing.is_empty(),
        Some(Error::SignalTimeout { offset, .. }) => *offset > 0,
        Some(_) | None => false,
    };
    assert!(named, "PE {} of {n_pes}: {trouble}\n{end:#?}", end.pe);
}

/// All PEs came to the end.
pub(crate) fn assert_all_well(ends: &[End]) {
    for end in ends {
        assert!(end.result.is_ok(), "{end:#?}");
    }
}
