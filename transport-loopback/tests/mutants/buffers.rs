//! Memory that is used again: slots, double buffers, sources of puts.

use transport_core::{Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    OneSlot,
    SourceTooSoon,
    OneBarrierTooFew,
    OnlyTheLast,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("exchange over two slots in turn, 2 PEs", 2, exchange, Mutation::None)
            .racy("one slot shared by two rounds", Mutation::OneSlot)
            .racy("source written before its put was complete", Mutation::SourceTooSoon)
            .listed(),
        Protocol::of("double buffer that is fetched from, 2 PEs", 2, fetched, Mutation::None)
            .racy("double buffer with one barrier too few", Mutation::OneBarrierTooFew)
            .listed(),
        Protocol::of("quiet by answers, 3 PEs", 3, answered, Mutation::None)
            .racy("quiet that waits for the last request only", Mutation::OnlyTheLast)
            .listed(),
    ]
}

fn value(round: u64, pe: usize) -> u64 {
    10 * round + pe as u64
}

fn check<X: Transport>(pe: &X, at: SymSlice<u64>, expected: u64, round: u64) -> Result<()> {
    same(&pe.heap().read_vec(at)?, &[expected], &format!("round {round} at PE {}", pe.my_pe()));
    Ok(())
}

/// Each sends to the other. That the other's message has come says that it has read the one before: two slots will do.
async fn exchange(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, peer) = (pe.my_pe(), 1 - pe.my_pe());
    let (slots, source, signal) =
        (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    pe.begin().await;
    for round in 1..=3 {
        let slot = slots.part(if mutation == Mutation::OneSlot { 0 } else { round as usize % 2 }, 2)?;
        pe.heap().write(source, &[value(round, me)])?;
        pe.put_signal_nbi(slot, source, signal, SignalOp::Add(1), peer)?;
        pe.signal_wait_until(signal, Cmp::Ge, round).await?;
        check(&pe, slot, value(round, peer), round)?;
        if mutation != Mutation::SourceTooSoon {
            pe.quiet().await?;
        }
    }
    pe.finalize().await
}

/// PE 0 fills the two buffers in turn and says so; PE 1 fetches. A barrier comes before the buffers are filled again. (If both
/// filled and both fetched, it could be left out: that the other has filled again would say that it has fetched.)
async fn fetched(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (buffers, mine, filled) =
        (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    let nothing = filled.slice(..0)?;
    pe.begin().await;
    for round in 0..4 {
        let buffer = buffers.part(round as usize % 2, 2)?;
        if round == 2 && mutation != Mutation::OneBarrierTooFew {
            pe.barrier_all().await?;
        }
        if pe.my_pe() == 0 {
            pe.heap().write(buffer, &[value(round, 0)])?;
            pe.put_signal_nbi(nothing, nothing, filled, SignalOp::Add(1), 1)?;
        } else {
            pe.signal_wait_until(filled, Cmp::Gt, round).await?;
            pe.get_nbi(mine, buffer, 0)?;
            pe.quiet().await?;
            check(&pe, mine, value(round, 0), round)?;
        }
    }
    pe.finalize().await
}

/// Each sends to all others from one source; each answers. When all have answered, the source is free.
async fn answered(pe: SimPe, mutation: Mutation) -> Result<()> {
    const ROUNDS: u64 = 2;
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let source = pe.calloc::<u64>(1).await?;
    // A word a round and sender; signals and answers, a word a sender.
    let slots = pe.calloc::<u64>(ROUNDS as usize * n).await?;
    let (signals, answers) = (pe.calloc::<u64>(n).await?, pe.calloc::<u64>(n).await?);
    let nothing = source.slice(..0)?;
    let peers: Vec<_> = (me + 1..n).chain(0..me).collect();
    pe.begin().await;
    for round in 1..=ROUNDS {
        let slots = slots.part(round as usize - 1, ROUNDS as usize)?;
        pe.heap().write(source, &[value(round, me)])?;
        for &peer in &peers {
            let (slot, signal) = (slots.part(me, n)?, signals.part(me, n)?);
            pe.put_signal_nbi(slot, source, signal, SignalOp::Set(round), peer)?;
        }
        for &peer in &peers {
            pe.signal_wait_until(signals.part(peer, n)?, Cmp::Ge, round).await?;
            check(&pe, slots.part(peer, n)?, value(round, peer), round)?;
            pe.put_signal_nbi(nothing, nothing, answers.part(me, n)?, SignalOp::Set(round), peer)?;
        }
        let first = if mutation == Mutation::OnlyTheLast { peers.len() - 1 } else { 0 };
        for &peer in &peers[first..] {
            pe.signal_wait_until(answers.part(peer, n)?, Cmp::Ge, round).await?;
        }
    }
    pe.finalize().await
}
