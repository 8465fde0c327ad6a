//! One run of an AllGather: what all algorithms do alike.

use super::all_gather::{AllGather, OP};
use super::marks;
use crate::error::{Error, Result};
use crate::heap::{Epoch, PeerWord, Staging, SymHeap};
use crate::transport::{Cmp, SignalOp, Steps, Transfer, Transport, Word, capturing};

/// A plan that has been checked once more, on its PE. Places are in bytes from the start of the heap.
pub(super) struct Run<'a, X: ?Sized> {
    pub(super) transport: &'a X,
    pub(super) my_pe: usize,
    pub(super) n_pes: usize,
    /// What this PE contributes.
    pub(super) src: u64,
    /// All parts.
    dst: u64,
    /// Bytes of a part.
    pub(super) len: u64,
}

/// That an AllGather which needs no barrier is on its way. No more than two may be, and they end in the order of their starts.
///
/// It is moved some times on its way through futures, so it is small: a [`Run`] is made again from the plan.
pub(crate) struct Started<'a> {
    /// The number of this run.
    pub(super) epoch: u64,
    pub(super) steps: Steps<'a>,
}

impl<'a, X: Transport + ?Sized> Run<'a, X> {
    /// Nothing has been sent if it fails.
    #[inline]
    pub(super) fn check(transport: &'a X, plan: &AllGather) -> Result<Self> {
        let (my_pe, endpoint) = (transport.my_pe(), transport.endpoint());
        capturing::refuse_blocking(OP, my_pe)?;
        endpoint.failures().check_in_step(OP)?;
        endpoint.failures().check_all(OP)?;
        endpoint.heap().check(OP, "destination", plan.dst())?;
        endpoint.heap().check(OP, "source", plan.src())?;
        Ok(Self::checked(transport, plan))
    }

    /// Of a plan that has passed [`check`](Self::check) in this run.
    #[inline]
    pub(super) fn checked(transport: &'a X, plan: &AllGather) -> Self {
        let (my_pe, n_pes, src) = (transport.my_pe(), transport.n_pes(), plan.src());
        Self { transport, my_pe, n_pes, src: src.offset(), dst: plan.dst().offset(), len: src.byte_len() }
    }

    /// Begins a run of those that `counter` counts.
    #[inline]
    pub(super) fn start(&self, counter: &Epoch) -> Started<'a> {
        Started { steps: self.half_way(), epoch: counter.next() }
    }

    #[inline]
    pub(super) fn heap(&self) -> &'a SymHeap {
        self.transport.endpoint().heap()
    }

    #[inline]
    pub(super) fn staging(&self) -> &'a Staging {
        self.heap().staging()
    }

    /// From here on a second attempt would be taken for the next AllGather.
    #[inline]
    pub(super) fn half_way(&self) -> Steps<'a> {
        self.transport.endpoint().failures().half_way(OP)
    }

    /// A barrier before anything is sent.
    pub(super) async fn barrier(&self) -> Result<()> {
        self.transport.wait_barrier_all().await.map_err(|error| error.within(OP))
    }

    /// Where the part of `pe` goes.
    #[inline]
    pub(super) fn part(&self, pe: usize) -> u64 {
        self.dst + pe as u64 * self.len
    }

    /// The PE that is `distance` to the right, around the end.
    #[inline]
    pub(super) fn right(&self, distance: usize) -> usize {
        let pe = self.my_pe + distance;
        if pe < self.n_pes { pe } else { pe - self.n_pes }
    }

    /// The PE that is `distance` to the left.
    #[inline]
    pub(super) fn left(&self, distance: usize) -> usize {
        self.right(self.n_pes - distance)
    }

    /// All others, the right-hand neighbour first, so that not all begin with PE 0.
    #[inline]
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> + Send + use<'_, 'a, X> {
        (1..self.n_pes).map(|distance| self.right(distance))
    }

    /// All others, in the order in which they come here as targets.
    #[inline]
    pub(super) fn sources(&self) -> impl Iterator<Item = usize> + Send + use<'_, 'a, X> {
        (1..self.n_pes).map(|distance| self.left(distance))
    }

    /// Its own part, unless it is there.
    #[inline]
    pub(super) fn copy_own(&self) {
        let own = self.part(self.my_pe);
        if own != self.src && self.len > 0 {
            self.heap().copy_within(own, self.src, self.len);
        }
    }

    /// Begins to put `len` bytes from `local` to `remote` of `pe`, and to set `word` there behind them.
    #[inline]
    #[track_caller]
    pub(super) fn put_signal(
        &self,
        pe: usize,
        (local, remote, len): (u64, u64, u64),
        word: u64,
        value: u64,
    ) -> Result<()> {
        let put = Transfer::between(local, remote, len, pe);
        self.transport.post_put_signal(put, Word::at(word, pe), SignalOp::Set(value))
    }

    /// Begins to set `word` of `pe`.
    #[inline]
    #[track_caller]
    pub(super) fn signal(&self, pe: usize, word: u64, value: u64) -> Result<()> {
        self.transport.post_put_signal(None, Word::at(word, pe), SignalOp::Set(value))
    }

    /// Waits until `word` of this PE, which `from` sets, is at least `value`.
    #[inline]
    pub(super) async fn wait(&self, from: usize, word: u64, value: u64) -> Result<()> {
        self.wait_or(word, (Cmp::Ge, value), || vec![from]).await.map(drop)
    }

    /// As [`wait`](Self::wait), on one of the words that each peer has here. At the deadline the error names all whose word is
    /// less.
    #[inline]
    pub(super) async fn wait_among(
        &self,
        from: usize,
        value: u64,
        word_of: impl Fn(usize) -> u64 + Send + Sync,
    ) -> Result<()> {
        let region = self.heap().region();
        let late = || self.targets().filter(|&pe| region.load(word_of(pe)) < value).collect();
        self.wait_or(word_of(from), (Cmp::Ge, value), late).await.map(drop)
    }

    /// Waits until all bytes have come of the word `at` bytes behind the start of the slot that `from` writes, which was `found` to
    /// miss some. At the deadline the error names all of whose word something is missing, but for [sources](Self::sources) before
    /// `from`: their slots have been taken, and are empty again.
    #[inline]
    pub(super) async fn wait_whole(
        &self,
        from: usize,
        (at, mut found): (u64, u64),
        slot_of: impl Fn(usize) -> u64 + Send + Sync,
    ) -> Result<()> {
        let word = slot_of(from) + at;
        // Whatever comes changes it, until nothing is missing.
        while !marks::is_whole(found) {
            let region = self.heap().region();
            let left = || self.sources().skip_while(|&pe| pe != from);
            let late = || left().filter(|&pe| !marks::is_whole(region.load(slot_of(pe) + at))).collect();
            found = self.wait_or(word, (Cmp::Ne, found), late).await?;
        }
        Ok(())
    }

    /// Waits for `word`; at the deadline those that `late` says are missing.
    #[inline]
    async fn wait_or(
        &self,
        word: u64,
        (cmp, value): (Cmp, u64),
        late: impl Fn() -> Vec<usize> + Send,
    ) -> Result<u64> {
        match self.transport.wait_signal(Word::at(word, self.my_pe), cmp, value).await {
            Ok(found) => Ok(found),
            Err(Error::SignalTimeout { after, .. }) => {
                let missing = late().into_iter().collect();
                Err(Error::Timeout { op: OP, my_pe: self.my_pe, after, missing })
            }
            Err(other) => Err(other.within(OP)),
        }
    }

    /// As [`wait_among`](Self::wait_among), on a word of the staging.
    #[inline]
    pub(super) async fn wait_word(&self, from: usize, word: PeerWord, value: u64) -> Result<()> {
        let staging = self.staging();
        self.wait_among(from, value, |pe| staging.word(pe, word)).await
    }

    /// Waits until the source may be changed, if that is not so since the posts.
    #[inline]
    pub(super) async fn release_source(&self) -> Result<()> {
        if self.transport.reads_source_at_post(self.len) {
            return Ok(());
        }
        self.quiet().await
    }

    /// Waits until all that was posted is done.
    #[inline]
    pub(super) async fn quiet(&self) -> Result<()> {
        self.transport.wait_quiet().await.map_err(|error| error.within(OP))
    }
}
