//! A barrier that counts: each PE adds one at every other.

use transport_core::{Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    Equal,
    Set,
    OneTooFew,
    NoQuiet,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("barrier that counts, 2 PEs", 2, program, Mutation::None)
            .stuck("count awaited by == while the next round adds", Mutation::Equal)
            .racy("count: no quiet", Mutation::NoQuiet)
            .listed(),
        Protocol::of("barrier that counts, 3 PEs", 3, program, Mutation::None)
            .stuck("count awaited by == while the next round adds, 3 PEs", Mutation::Equal)
            .stuck("two PEs set the count instead of adding", Mutation::Set)
            .racy("count awaited is one too few", Mutation::OneTooFew)
            .listed(),
    ]
}

async fn barrier<X: Transport>(pe: &X, count: SymSlice<u64>, round: u64, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    if mutation != Mutation::NoQuiet {
        pe.quiet().await?;
    }
    let op = if mutation == Mutation::Set { SignalOp::Set(round) } else { SignalOp::Add(1) };
    for peer in (me + 1..n).chain(0..me) {
        pe.put_signal_nbi(count.slice(..0)?, count.slice(..0)?, count, op, peer)?;
    }
    let all = round * (n as u64 - 1);
    let (cmp, awaited) = match mutation {
        Mutation::Equal => (Cmp::Eq, all),
        Mutation::OneTooFew => (Cmp::Ge, all - 1),
        _ => (Cmp::Ge, all),
    };
    pe.signal_wait_until(count, cmp, awaited).await.map(drop)
}

/// What is put before is there after, in memory that every round has for itself.
async fn program(pe: SimPe, mutation: Mutation) -> Result<()> {
    const ROUNDS: usize = 2;
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (memory, count) = (pe.calloc::<u64>(ROUNDS * n).await?, pe.calloc::<u64>(1).await?);
    pe.begin().await;
    for round in 0..ROUNDS {
        let all = memory.part(round, ROUNDS)?;
        let mine = all.part(me, n)?;
        pe.heap().write(mine, &[1 + me as u64])?;
        for peer in (me + 1..n).chain(0..me) {
            pe.put_nbi(mine, mine, peer)?;
        }
        barrier(&pe, count, round as u64 + 1, mutation).await?;
        let expected: Vec<_> = (1..=n as u64).collect();
        same(&pe.heap().read_vec(all)?, &expected, &format!("round {round} at PE {me}"));
    }
    pe.finalize().await
}
