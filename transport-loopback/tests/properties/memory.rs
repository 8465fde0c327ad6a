//! Programs of puts, gets, fences, quiets and barriers against a sequential model of memory.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use transport_core::{AtomicOp, Error, SignalOp, SymSlice, Transport};
use transport_loopback::Loopback;

use crate::plan::{Kind, Plan, Planned, Step, UNITS, WORDS, step};
use crate::{Verdict, config, end, on_pes};

/// Each unit's bytes in the heap.
fn spread(units: &[u8], bytes_each: usize) -> Vec<u8> {
    units.iter().flat_map(|&unit| std::iter::repeat_n(unit, bytes_each)).collect()
}

struct Memory {
    bytes: SymSlice<u8>,
    words: SymSlice<u64>,
    bytes_each: usize,
}

impl Memory {
    fn units(&self, start: usize, len: usize) -> Result<SymSlice<u8>, Error> {
        self.bytes.slice(start * self.bytes_each..(start + len) * self.bytes_each)
    }

    async fn run(&self, pe: &Loopback, planned: &Planned) -> Result<Verdict, Error> {
        let Step { kind, other, mine, theirs, len, value, .. } = planned.step;
        let (local, remote) = (self.units(mine, len)?, self.units(theirs, len)?);
        match kind {
            Kind::Local => pe.heap().fill(local, value)?,
            Kind::Look => {
                let found = pe.heap().read_vec(local)?;
                if found != spread(&planned.sees, self.bytes_each) {
                    return Ok(Err(format!(
                        "PE {}: {:?} saw {found:?}, not {:?}",
                        pe.my_pe(),
                        planned.step,
                        planned.sees
                    )));
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
                pe.atomic(self.words.part(theirs % WORDS, WORDS)?, AtomicOp::Add(value.into()), other)
                    .await?;
            }
            Kind::Fence => pe.fence()?,
            Kind::Quiet => pe.quiet().await?,
        }
        Ok(Ok(()))
    }
}

async fn run(pe: Loopback, plan: &Plan, bytes_each: usize) -> Result<Verdict, Error> {
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
    end(pe).await
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn programs_do_what_a_sequential_memory_says(
        n in 1..=6_usize,
        bytes_each in prop_oneof![Just(1_usize), Just(8), Just(13), Just(200)],
        phases in prop::collection::vec(prop::collection::vec(step(), 0..60), 1..8),
    ) {
        let plan = Plan::new(n, &phases);
        let verdict = on_pes(n, |pe| run(pe, &plan, bytes_each));
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }
}

/// The generator leaves in what makes a program: puts, also over earlier ones after a fence.
#[test]
fn plans_keep_most_steps() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut given, mut kept) = (0, 0);
    for _ in 0..50 {
        let phases = prop::collection::vec(prop::collection::vec(step(), 30), 4)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        given += phases.iter().map(Vec::len).sum::<usize>();
        kept += Plan::new(4, &phases).phases.iter().map(Vec::len).sum::<usize>();
    }
    assert!(kept * 3 > given * 2, "{kept} of {given} steps are left");
}
