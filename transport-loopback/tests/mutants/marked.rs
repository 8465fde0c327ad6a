//! AllGather by bytes that tell by themselves that they have come: no barrier, and no flag either.

use transport_core::{Cmp, Result, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::marking::Marking;
use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    /// Slots of so many successive epochs are apart.
    Epochs(usize),
    NotCleared,
    /// Slots are cleared when the next epoch is complete.
    ClearedLate,
    /// A word is taken when its first bytes have come.
    Torn,
    NotTheLast,
    /// An epoch without data sends nothing.
    SilentWhenEmpty,
    /// All epochs are sent from one place: what is on its way may not have been read yet.
    OneSource,
    /// The place that it is sent from is cleared once it is posted.
    SourceCleared,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    let one_by_one = |name, n_pes| Protocol::of(name, n_pes, rounds, Mutation::None);
    vec![
        one_by_one("marked AllGather, 2 PEs", 2)
            .racy_or_stuck("marked: the next epoch takes the same slots", Mutation::Epochs(1))
            .wrong("marked: slots are not cleared", Mutation::NotCleared)
            .racy_or_stuck("marked: slots are cleared one epoch later", Mutation::ClearedLate)
            .racy("marked: half a word is taken for all of it", Mutation::Torn)
            .racy("marked: the last part is not waited for", Mutation::NotTheLast)
            .racy("marked: the next epoch is sent from the same place", Mutation::OneSource)
            .racy_or_stuck("marked: the source is cleared after the post", Mutation::SourceCleared)
            .listed(),
        one_by_one("marked AllGather, 3 PEs", 3)
            .racy_or_stuck("marked: the next epoch takes the same slots, 3 PEs", Mutation::Epochs(1))
            .listed(),
        Protocol::of("marked AllGathers by two, 2 PEs", 2, pairs, Mutation::None)
            .racy_or_stuck("marked by two: slots of two epochs", Mutation::Epochs(2))
            .racy_or_stuck("marked by two: slots of three epochs", Mutation::Epochs(3))
            .listed(),
        Protocol::of("marked AllGathers, some without data, 2 PEs", 2, empty, Mutation::None)
            .racy_or_stuck("marked: an epoch without data sends nothing", Mutation::SilentWhenEmpty)
            .listed(),
    ]
}

const MARKS: u64 = 0x8080_8080_8080_8080;

/// A word for every PE and epoch.
#[derive(Clone, Copy)]
struct Slots {
    words: SymSlice<u64>,
    epochs: usize,
    mutation: Mutation,
}

impl Slots {
    async fn new<X: Transport>(pe: &X, usual: usize, mutation: Mutation) -> Result<Self> {
        let epochs = if let Mutation::Epochs(epochs) = mutation { epochs } else { usual };
        Ok(Self { words: pe.calloc(epochs * pe.n_pes()).await?, epochs, mutation })
    }

    fn at(&self, epoch: u64, from: usize, n: usize) -> Result<SymSlice<u64>> {
        let word = epoch as usize % self.epochs * n + from;
        self.words.slice(word..=word)
    }

    /// Sends 7 bits a byte to all, from this PE's own slot.
    fn start(&self, pe: &Marking, data: u64, epoch: u64) -> Result<()> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        let slot = self.at(epoch, me, n)?;
        let source = if self.mutation == Mutation::OneSource { self.at(0, me, n)? } else { slot };
        pe.heap().write(source, &[data | MARKS])?;
        for peer in (me + 1..n).chain(0..me) {
            pe.put_nbi(slot, source, peer)?;
        }
        if self.mutation == Mutation::SourceCleared {
            pe.heap().write(source, &[0])?;
        }
        Ok(())
    }

    /// Takes what the others have sent; its own part is 0.
    async fn finish<X: Transport>(&self, pe: &X, epoch: u64) -> Result<Vec<u64>> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        let mut parts = vec![0; n];
        for (count, from) in (1..).zip((0..me).rev().chain((me + 1..n).rev())) {
            let slot = self.at(epoch, from, n)?;
            let mut word = pe.heap().load(slot)?;
            let is_enough = |word| match self.mutation {
                Mutation::Torn => word & MARKS != 0,
                Mutation::NotTheLast if count + 1 == n => true,
                _ => word & MARKS == MARKS,
            };
            while !is_enough(word) {
                word = pe.signal_wait_until(slot, Cmp::Ne, word).await?;
            }
            parts[from] = word & !MARKS;
            if !matches!(self.mutation, Mutation::NotCleared | Mutation::ClearedLate) {
                pe.heap().write(slot, &[0])?;
            }
        }
        Ok(parts)
    }

    fn clear<X: Transport>(&self, pe: &X, epoch: u64) -> Result<()> {
        for from in (0..pe.n_pes()).filter(|&from| from != pe.my_pe()) {
            pe.heap().write(self.at(epoch, from, pe.n_pes())?, &[0])?;
        }
        Ok(())
    }
}

/// In the first byte and in the last.
fn part(epoch: u64, pe: usize) -> u64 {
    (epoch << 56) | (epoch + pe as u64)
}

fn check<X: Transport>(pe: &X, parts: &[u64], epoch: u64) {
    let expected = |of| if of == pe.my_pe() { 0 } else { part(epoch, of) };
    let expected: Vec<_> = (0..pe.n_pes()).map(expected).collect();
    same(parts, &expected, &format!("epoch {epoch} at PE {}", pe.my_pe()));
}

async fn rounds(pe: SimPe, mutation: Mutation) -> Result<()> {
    let pe = Marking(pe);
    let slots = Slots::new(&pe, 2, mutation).await?;
    pe.0.begin().await;
    for epoch in 1..=3 {
        slots.start(&pe, part(epoch, pe.my_pe()), epoch)?;
        let parts = slots.finish(&pe, epoch).await?;
        check(&pe, &parts, epoch);
        if mutation == Mutation::ClearedLate && epoch > 1 {
            slots.clear(&pe, epoch - 1)?;
        }
    }
    pe.finalize().await
}

/// Two are on their way at a time, as from a graph.
async fn pairs(pe: SimPe, mutation: Mutation) -> Result<()> {
    let pe = Marking(pe);
    let slots = Slots::new(&pe, 4, mutation).await?;
    pe.0.begin().await;
    for first in [1, 3, 5] {
        for epoch in [first, first + 1] {
            slots.start(&pe, part(epoch, pe.my_pe()), epoch)?;
        }
        for epoch in [first, first + 1] {
            let parts = slots.finish(&pe, epoch).await?;
            check(&pe, &parts, epoch);
        }
    }
    pe.finalize().await
}

/// Those of even epochs have no data.
async fn empty(pe: SimPe, mutation: Mutation) -> Result<()> {
    let pe = Marking(pe);
    let slots = Slots::new(&pe, 2, mutation).await?;
    pe.0.begin().await;
    for epoch in 1..=5 {
        let is_empty = epoch % 2 == 0;
        if is_empty && mutation == Mutation::SilentWhenEmpty {
            continue;
        }
        slots.start(&pe, if is_empty { 0 } else { part(epoch, pe.my_pe()) }, epoch)?;
        let parts = slots.finish(&pe, epoch).await?;
        if is_empty {
            same(&parts, &vec![0; pe.n_pes()], "no data");
        } else {
            check(&pe, &parts, epoch);
        }
    }
    pe.finalize().await
}
