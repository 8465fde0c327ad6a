//! AllGather by puts between two barriers.

use transport_core::collectives::{AllGatherAlgorithm::Auto, all_gather_in_place};
use transport_core::{Result, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    NoEntryBarrier,
    NoExitBarrier,
    GetsBeforeBarrier,
    OtherOrder,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    let by_puts = |name, n_pes| Protocol::of(name, n_pes, rounds, Mutation::None);
    vec![
        by_puts("AllGather by puts, 2 PEs", 2)
            .racy("puts, no entry barrier", Mutation::NoEntryBarrier)
            .racy("puts, a quiet for the exit barrier", Mutation::NoExitBarrier)
            .listed(),
        by_puts("AllGather by puts, 3 PEs", 3)
            .racy("puts, no entry barrier, 3 PEs", Mutation::NoEntryBarrier)
            .racy("puts, a quiet for the exit barrier, 3 PEs", Mutation::NoExitBarrier)
            .listed(),
        Protocol::of("AllGather by gets, 2 PEs", 2, by_gets, Mutation::None)
            .racy("gets before the barrier that publishes", Mutation::GetsBeforeBarrier)
            .racy("gets, a quiet for the exit barrier", Mutation::NoExitBarrier)
            .listed(),
        Protocol::of("two collectives, 2 PEs", 2, two, Mutation::None)
            .wrong("one PE calls them in another order", Mutation::OtherOrder)
            .listed(),
    ]
}

/// What PE `pe` contributes in `round`.
fn block(round: u64, pe: usize) -> u64 {
    10 * round + pe as u64
}

fn check<X: Transport>(pe: &X, all: SymSlice<u64>, round: u64) -> Result<()> {
    let expected: Vec<_> = (0..pe.n_pes()).map(|peer| block(round, peer)).collect();
    same(&pe.heap().read_vec(all)?, &expected, &format!("round {round} at PE {}", pe.my_pe()));
    Ok(())
}

async fn gather<X: Transport>(pe: &X, all: SymSlice<u64>, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let mine = all.part(me, n)?;
    if mutation != Mutation::NoEntryBarrier {
        pe.barrier_all().await?;
    }
    for peer in (me + 1..n).chain(0..me) {
        pe.put_nbi(mine, mine, peer)?;
    }
    match mutation {
        Mutation::NoExitBarrier => pe.quiet().await,
        _ => pe.barrier_all().await,
    }
}

async fn rounds(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let all = pe.calloc::<u64>(n).await?;
    pe.begin().await;
    for round in 1..=2 {
        pe.heap().write(all.part(me, n)?, &[block(round, me)])?;
        gather(&pe, all, mutation).await?;
        check(&pe, all, round)?;
    }
    pe.finalize().await
}

/// Each fetches what the others have.
async fn fetch<X: Transport>(
    pe: &X,
    all: SymSlice<u64>,
    mine: SymSlice<u64>,
    mutation: Mutation,
) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    if mutation != Mutation::GetsBeforeBarrier {
        pe.barrier_all().await?;
    }
    for peer in (me..n).chain(0..me) {
        pe.get_nbi(all.part(peer, n)?, mine, peer)?;
    }
    match mutation {
        Mutation::NoExitBarrier => pe.quiet().await,
        _ => pe.barrier_all().await,
    }
}

async fn by_gets(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (all, mine) = (pe.calloc::<u64>(pe.n_pes()).await?, pe.calloc::<u64>(1).await?);
    pe.begin().await;
    for round in 1..=2 {
        pe.heap().write(mine, &[block(round, pe.my_pe())])?;
        fetch(&pe, all, mine, mutation).await?;
        check(&pe, all, round)?;
    }
    pe.finalize().await
}

/// The collective of the library, on two buffers.
async fn two(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let buffers = [pe.calloc::<u64>(n).await?, pe.calloc::<u64>(n).await?];
    pe.begin().await;
    for (round, buffer) in (1..).zip(buffers) {
        pe.heap().write(buffer.part(me, n)?, &[block(round, me)])?;
    }
    let turned = mutation == Mutation::OtherOrder && me == n - 1;
    for step in 0..buffers.len() {
        let which = if turned { buffers.len() - 1 - step } else { step };
        all_gather_in_place(&pe, buffers[which], Auto).await?;
        check(&pe, buffers[which], which as u64 + 1)?;
    }
    pe.finalize().await
}
