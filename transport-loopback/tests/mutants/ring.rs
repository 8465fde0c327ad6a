//! AllGather in a ring: each PE hands on what comes from its left.

use transport_core::{Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    ForwardsAtOnce,
    OneCounter,
    NoEntryBarrier,
    NoExitWait,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("AllGather in a ring, 3 PEs", 3, program, Mutation::None)
            .racy("ring: a block is handed on before it has come", Mutation::ForwardsAtOnce)
            .racy("ring: one counter for all steps, no fence", Mutation::OneCounter)
            .racy("ring: no barrier between rounds", Mutation::NoEntryBarrier)
            .racy("ring: the last block is not waited for", Mutation::NoExitWait)
            .listed(),
    ]
}

/// Step `s` hands on the block of the PE that is `s` to the left. `signals` has a word a step.
async fn gather<X: Transport>(
    pe: &X,
    all: SymSlice<u64>,
    signals: SymSlice<u64>,
    round: u64,
    mutation: Mutation,
) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (right, steps) = ((me + 1) % n, n - 1);
    if mutation != Mutation::NoEntryBarrier {
        pe.barrier_all().await?;
    }
    for step in 0..steps {
        let block = all.part((me + n - step) % n, n)?;
        let (at, op) = match mutation {
            Mutation::OneCounter => (0, SignalOp::Add(1)),
            _ => (step, SignalOp::Set(round)),
        };
        pe.put_signal_nbi(block, block, signals.slice(at..=at)?, op, right)?;
        let value = match mutation {
            Mutation::OneCounter => (round - 1) * steps as u64 + step as u64 + 1,
            _ => round,
        };
        let skips = match mutation {
            Mutation::ForwardsAtOnce => step + 1 < steps,
            Mutation::NoExitWait => step + 1 == steps,
            _ => false,
        };
        if !skips {
            pe.signal_wait_until(signals.slice(at..=at)?, Cmp::Ge, value).await?;
        }
    }
    // The blocks may be written again.
    pe.quiet().await
}

async fn program(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (all, signals) = (pe.calloc::<u64>(n).await?, pe.calloc::<u64>(n - 1).await?);
    pe.begin().await;
    for round in 1..=2 {
        pe.heap().write(all.part(me, n)?, &[10 * round + me as u64])?;
        gather(&pe, all, signals, round, mutation).await?;
        let expected: Vec<_> = (0..n as u64).map(|peer| 10 * round + peer).collect();
        same(&pe.heap().read_vec(all)?, &expected, &format!("round {round} at PE {me}"));
    }
    pe.finalize().await
}
