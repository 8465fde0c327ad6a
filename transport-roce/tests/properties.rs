//! Random programs on a verbs device, against a sequential model of memory: the plans are those of the software backend.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

#[path = "../../transport-loopback/tests/properties/plan.rs"]
mod plan;
mod support;

use plan::{Kind, Plan, Planned, Step, UNITS, WORDS, step};
use proptest::prelude::*;
use proptest::test_runner::Config;
use support::{Job, device};
use transport_core::wait::block_on;
use transport_core::{AtomicOp, Error, SignalOp, SymSlice, Transport};
use transport_roce::Roce;

/// What a PE says when the world is not as its model.
type Verdict = Result<(), String>;

struct Memory {
    bytes: SymSlice<u8>,
    words: SymSlice<u64>,
    bytes_each: usize,
}

/// Each unit's bytes in the heap.
fn spread(units: &[u8], bytes_each: usize) -> Vec<u8> {
    units.iter().flat_map(|&unit| std::iter::repeat_n(unit, bytes_each)).collect()
}

impl Memory {
    fn units(&self, start: usize, len: usize) -> Result<SymSlice<u8>, Error> {
        self.bytes.slice(start * self.bytes_each..(start + len) * self.bytes_each)
    }

    async fn run(&self, pe: &Roce, planned: &Planned) -> Result<Verdict, Error> {
        let Step { kind, other, mine, theirs, len, value, .. } = planned.step;
        let (local, remote) = (self.units(mine, len)?, self.units(theirs, len)?);
        match kind {
            Kind::Local => pe.heap().fill(local, value)?,
            Kind::Look => {
                let found = pe.heap().read_vec(local)?;
                if found != spread(&planned.sees, self.bytes_each) {
                    let (me, sees) = (pe.my_pe(), &planned.sees);
                    return Ok(Err(format!("PE {me}: {:?} saw {found:?}, not {sees:?}", planned.step)));
                }
            }
            Kind::Put => pe.put_nbi(remote, local, other)?,
            Kind::PutBytes => pe.put_bytes_nbi(remote, vec![value; len * self.bytes_each].into(), other)?,
            Kind::Get => pe.get_nbi(local, remote, other)?,
            Kind::PutSignal => {
                let word = self.words.part(usize::from(value) % WORDS, WORDS)?;
                pe.put_signal_nbi(remote, local, word, SignalOp::Add(value.into()), other)?;
            }
            Kind::Atomic => {
                let word = self.words.part(theirs % WORDS, WORDS)?;
                pe.atomic(word, AtomicOp::Add(value.into()), other).await?;
            }
            Kind::Fence => pe.fence()?,
            Kind::Quiet => pe.quiet().await?,
        }
        Ok(Ok(()))
    }
}

async fn run(pe: Roce, plan: &Plan, bytes_each: usize) -> Result<Verdict, Error> {
    let memory =
        Memory { bytes: pe.calloc(UNITS * bytes_each).await?, words: pe.calloc(WORDS).await?, bytes_each };
    for phase in &plan.phases {
        for planned in phase.iter().filter(|planned| planned.step.pe == pe.my_pe()) {
            let verdict = memory.run(&pe, planned).await?;
            if verdict.is_err() {
                return Ok(verdict);
            }
        }
        pe.barrier_all().await?;
    }
    let (found, expected) = (pe.heap().read_vec(memory.bytes)?, spread(&plan.memory[pe.my_pe()], bytes_each));
    if found != expected {
        let unit = found.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0) / bytes_each;
        return Ok(Err(format!("PE {}: in the end unit {unit} is not as in the model", pe.my_pe())));
    }
    let (found, expected) = (pe.heap().read_vec(memory.words)?, plan.words[pe.my_pe()]);
    if found != expected {
        return Ok(Err(format!("PE {}: words {found:?}, not {expected:?}", pe.my_pe())));
    }
    pe.finalize().await?;
    Ok(Ok(()))
}

/// The first complaint of a PE. One that complains is dropped at once, which ends the waits of the others.
fn verdict(pes: Vec<Roce>, plan: &Plan, bytes_each: usize) -> Verdict {
    let mut verdicts: Vec<_> = std::thread::scope(|scope| {
        let one = |pe| scope.spawn(move || block_on(run(pe, plan, bytes_each)));
        let threads: Vec<_> = pes.into_iter().map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // What a model contradicts says more than the errors of those who then wait in vain.
    verdicts.sort_by_key(|verdict| !matches!(verdict, Ok(Err(_))));
    verdicts.into_iter().try_for_each(|verdict| verdict.unwrap_or_else(|error| Err(error.to_string())))
}

/// `PROPTEST_CASES` if set, or else some dozens.
fn config() -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    // Each case is a job; the smallest failing input is printed, and there is no file to keep it in.
    Config { cases, failure_persistence: None, max_shrink_iters: 60, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Units of 8 bytes travel in the request, of 5000 bytes over several links, where there are.
    #[test]
    fn programs_do_what_a_sequential_memory_says(
        n in 1..=3_usize,
        bytes_each in prop_oneof![Just(1_usize), Just(8), Just(13), Just(200), Just(5000)],
        depth in prop_oneof![Just("16"), Just("1024")],
        pairs in prop_oneof![2 => Just("1"), 1 => Just("3")],
        connect in prop_oneof![Just("start"), Just("first-use")],
        first in prop_oneof![Just((0, 0)), Just((u32::MAX - 3, u64::MAX - 30)), Just((0, (1 << 40) - 30))],
        phases in prop::collection::vec(prop::collection::vec(step(), 0..60), 1..6),
    ) {
        let Some(device) = device() else { return Ok(()) };
        let plan = Plan::new(n, &phases);
        let job = Job::new(&device, n).set("SHMEM_ROCE_QUEUE_DEPTH", depth).set("SHMEM_ROCE_QPS", pairs);
        let pes = job.set("SHMEM_ROCE_CONNECT", connect).first_numbers(first.0, first.1).start();
        let verdict = verdict(pes, &plan, bytes_each);
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }
}
