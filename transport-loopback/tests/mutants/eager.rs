//! AllGather without a barrier: part and flag go to slots at every peer, which copies them out.

use transport_core::{Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    /// Slots of so many successive epochs are apart.
    Epochs(usize),
    /// Epochs have slots apart, but not flags.
    OneFlag,
    FlagFirst,
    SentFromTheSource,
    OneCounter,
    NotTheLast,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    let one_by_one = |name, n_pes| Protocol::of(name, n_pes, rounds, Mutation::None);
    vec![
        one_by_one("eager AllGather, 2 PEs", 2)
            .racy("eager: the next epoch takes the same slots", Mutation::Epochs(1))
            .racy("eager: a flag that epochs share", Mutation::OneFlag)
            .racy("eager: the flag goes before the data", Mutation::FlagFirst)
            .racy("eager: sent from a source that is changed then", Mutation::SentFromTheSource)
            .racy("eager: the last part is not waited for", Mutation::NotTheLast)
            .listed(),
        one_by_one("eager AllGather, 3 PEs", 3)
            .racy("eager: the next epoch takes the same slots, 3 PEs", Mutation::Epochs(1))
            .racy("eager: all parts are counted in one word", Mutation::OneCounter)
            .listed(),
        Protocol::of("eager AllGathers by two, 2 PEs", 2, pairs, Mutation::None)
            .racy("eager by two: slots of two epochs", Mutation::Epochs(2))
            .racy("eager by two: slots of three epochs", Mutation::Epochs(3))
            .listed(),
    ]
}

/// What the slots are made of.
#[derive(Clone, Copy)]
struct Slots {
    /// By epoch and PE.
    data: SymSlice<u64>,
    flags: SymSlice<u64>,
    epochs: usize,
    mutation: Mutation,
}

impl Slots {
    async fn new<X: Transport>(pe: &X, usual: usize, mutation: Mutation) -> Result<Self> {
        let epochs = if let Mutation::Epochs(epochs) = mutation { epochs } else { usual };
        let words = epochs * pe.n_pes();
        Ok(Self { data: pe.calloc(words).await?, flags: pe.calloc(words).await?, epochs, mutation })
    }

    fn at(&self, words: SymSlice<u64>, epoch: u64, from: usize, n: usize) -> Result<SymSlice<u64>> {
        let row = if self.mutation == Mutation::OneFlag && words == self.flags {
            0
        } else {
            epoch as usize % self.epochs * n
        };
        let column = if self.mutation == Mutation::OneCounter && words == self.flags { 0 } else { from };
        words.slice(row + column..=row + column)
    }

    /// Sends `src` to all.
    fn start<X: Transport>(&self, pe: &X, src: SymSlice<u64>, epoch: u64) -> Result<()> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        let (slot, flag) = (self.at(self.data, epoch, me, n)?, self.at(self.flags, epoch, me, n)?);
        let from = if self.mutation == Mutation::SentFromTheSource {
            src
        } else {
            pe.heap().write(slot, &pe.heap().read_vec(src)?)?;
            slot
        };
        let op = match self.mutation {
            Mutation::OneCounter | Mutation::OneFlag => SignalOp::Add(1),
            _ => SignalOp::Set(epoch),
        };
        for peer in (me + 1..n).chain(0..me) {
            if self.mutation == Mutation::FlagFirst {
                pe.put_signal_nbi(slot.slice(..0)?, slot.slice(..0)?, flag, op, peer)?;
                pe.put_nbi(slot, from, peer)?;
            } else {
                pe.put_signal_nbi(slot, from, flag, op, peer)?;
            }
        }
        Ok(())
    }

    /// Takes what the others have sent.
    async fn finish<X: Transport>(&self, pe: &X, dst: SymSlice<u64>, epoch: u64) -> Result<()> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        for (count, from) in (1..).zip((0..me).rev().chain((me + 1..n).rev())) {
            let value = match self.mutation {
                // This is the n-th use of the counter.
                Mutation::OneCounter => (epoch - 1) / self.epochs as u64 * (n as u64 - 1) + count,
                _ => epoch,
            };
            if self.mutation != Mutation::NotTheLast || count + 1 < n as u64 {
                pe.signal_wait_until(self.at(self.flags, epoch, from, n)?, Cmp::Ge, value).await?;
            }
            let part = pe.heap().read_vec(self.at(self.data, epoch, from, n)?)?;
            pe.heap().write(dst.part(from, n)?, &part)?;
        }
        Ok(())
    }
}

fn check<X: Transport>(pe: &X, all: SymSlice<u64>, epoch: u64) -> Result<()> {
    let expected: Vec<_> = (0..pe.n_pes() as u64).map(|peer| 10 * epoch + peer).collect();
    same(&pe.heap().read_vec(all)?, &expected, &format!("epoch {epoch} at PE {}", pe.my_pe()));
    Ok(())
}

async fn rounds(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (slots, all) = (Slots::new(&pe, 2, mutation).await?, pe.calloc::<u64>(n).await?);
    pe.begin().await;
    for epoch in 1..=3 {
        let mine = all.part(me, n)?;
        pe.heap().write(mine, &[10 * epoch + me as u64])?;
        slots.start(&pe, mine, epoch)?;
        slots.finish(&pe, all, epoch).await?;
        check(&pe, all, epoch)?;
    }
    pe.finalize().await
}

/// Two are on their way at a time, as from a graph.
async fn pairs(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let slots = Slots::new(&pe, 4, mutation).await?;
    let both = [pe.calloc::<u64>(n).await?, pe.calloc::<u64>(n).await?];
    pe.begin().await;
    for first in [1, 3, 5] {
        for (epoch, all) in (first..).zip(both) {
            pe.heap().write(all.part(me, n)?, &[10 * epoch + me as u64])?;
            slots.start(&pe, all.part(me, n)?, epoch)?;
        }
        for (epoch, all) in (first..).zip(both) {
            slots.finish(&pe, all, epoch).await?;
            check(&pe, all, epoch)?;
        }
    }
    pe.finalize().await
}
