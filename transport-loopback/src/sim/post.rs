//! What a PE posts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use transport_core::transport::{Remote, Transfer, Word};
use transport_core::{AtomicOp, SignalOp};

use super::event::{Event, OpId, OpKind, Place};
use super::message::Kind;
use super::world::World;

/// Changes a word in one step, and answers what it was.
pub(super) fn change(word: &std::sync::atomic::AtomicU64, op: AtomicOp) -> u64 {
    const ORDER: Ordering = Ordering::SeqCst;
    match op {
        AtomicOp::Fetch => word.load(ORDER),
        AtomicOp::Swap(value) => word.swap(value, ORDER),
        AtomicOp::Add(value) => word.fetch_add(value, ORDER),
        AtomicOp::And(value) => word.fetch_and(value, ORDER),
        AtomicOp::Or(value) => word.fetch_or(value, ORDER),
        AtomicOp::Xor(value) => word.fetch_xor(value, ORDER),
        AtomicOp::CompareSwap { expected, new } => {
            word.compare_exchange(expected, new, ORDER, ORDER).unwrap_or_else(|found| found)
        }
    }
}

/// A signal is an atomic that nobody awaits.
pub(super) fn as_atomic(op: SignalOp) -> AtomicOp {
    match op {
        SignalOp::Set(value) => AtomicOp::Swap(value),
        SignalOp::Add(value) => AtomicOp::Add(value),
    }
}

impl World {
    /// The next operation of `pe`: its number, told to who listens.
    fn post(&mut self, pe: usize, kind: impl FnOnce() -> OpKind, place: Place, complete: bool) -> u64 {
        let state = &mut self.pes[pe];
        let number = state.posted;
        state.posted += 1;
        state.complete.push(complete);
        let fence = state.fences;
        self.tell(|| Event::Posted { id: OpId { pe, number }, kind: kind(), fence, place });
        number
    }

    /// What an operation of `pe` to itself does: all of it, now.
    fn at_once(
        &mut self,
        pe: usize,
        number: u64,
        source: Option<std::ops::Range<u64>>,
        to: std::ops::Range<u64>,
    ) {
        let id = OpId { pe, number };
        self.copied(pe, to.end - to.start);
        if let Some(range) = source {
            self.pes[pe].memory.clone().copy_from(
                to.start,
                &self.pes[pe].memory,
                range.start,
                to.end - to.start,
            );
            self.tell_fetched(Some(id), range);
        }
        self.landed(Some(id), pe, to, true);
        self.tell(|| Event::Completed { id });
    }

    pub(super) fn post_put(&mut self, pe: usize, put: Transfer, place: Place) -> Option<u32> {
        if self.closed {
            return None;
        }
        let (from, at, to) = (put.local(), put.remote(), put.pe());
        let (local, remote) =
            (from.offset()..from.offset() + from.len(), at.offset()..at.offset() + at.len());
        let kind = || OpKind::Put { to, local: local.clone(), remote: remote.clone() };
        let number = self.post(pe, kind, place, to == pe);
        if to == pe {
            self.at_once(pe, number, Some(local), remote);
            return None;
        }
        let kind = Kind::Put { local: local.start, remote: remote.start };
        self.launch(pe, to, Some(number), kind, from.len())
    }

    /// Words that are 0 at `put.pe()`, byte by byte in any order: the words of a put are signals to whoever waits for them, and each
    /// is torn into two that add what is theirs. Each reads the source when it does, as other puts.
    pub(super) fn post_put_marked(&mut self, pe: usize, put: Transfer, place: Place) {
        if self.timed.is_some() {
            self.post_put(pe, put, place);
            return;
        }
        for (local, to) in put.words() {
            let first =
                if self.network.torn { self.plan.some_bytes(pe as u32, self.pes[pe].sent) } else { !0 };
            for bytes in [first, !first] {
                if bytes != 0 {
                    self.post_marked_word(pe, local, to, bytes, place);
                }
            }
        }
    }

    fn post_marked_word(&mut self, pe: usize, local: u64, to: Word, bytes: u64, place: Place) {
        if self.closed {
            return;
        }
        let (to, word) = (to.pe(), to.offset());
        let number = self.post(pe, || OpKind::PutMarked { to, local, word, bytes }, place, to == pe);
        if to == pe {
            let memory = &self.pes[pe].memory;
            change(memory.word(word), AtomicOp::Add(memory.load(local) & bytes));
            self.tell_fetched(Some(OpId { pe, number }), local..local + 8);
            return self.at_once(pe, number, None, word..word + 8);
        }
        self.launch(pe, to, Some(number), Kind::Marked { local, word, bytes }, 8);
    }

    pub(super) fn post_put_bytes(&mut self, pe: usize, dst: Remote, data: Bytes, place: Place) {
        if self.closed {
            return;
        }
        let (to, start, len) = (dst.pe(), dst.range().offset(), dst.range().len());
        let remote = start..start + len;
        let number = self.post(pe, || OpKind::PutBytes { to, remote: remote.clone() }, place, to == pe);
        if to == pe {
            self.pes[pe].memory.write(start, &data);
            return self.at_once(pe, number, None, remote);
        }
        self.launch(pe, to, Some(number), Kind::Bytes { data, remote: start }, len);
    }

    pub(super) fn post_get(&mut self, pe: usize, get: Transfer, place: Place) {
        if self.closed {
            return;
        }
        let (to, at, from) = (get.local(), get.remote(), get.pe());
        let (local, remote) = (to.offset()..to.offset() + to.len(), at.offset()..at.offset() + at.len());
        let kind = || OpKind::Get { from, local: local.clone(), remote: remote.clone() };
        let number = self.post(pe, kind, place, from == pe);
        if from == pe {
            return self.at_once(pe, number, Some(remote), local);
        }
        let kind = Kind::Get { local: local.start, remote: remote.start };
        self.launch(pe, from, Some(number), kind, to.len());
    }

    pub(super) fn post_put_signal(
        &mut self,
        pe: usize,
        put: Option<Transfer>,
        signal: Word,
        op: SignalOp,
        place: Place,
    ) {
        if self.closed {
            return;
        }
        let (to, word) = (signal.pe(), signal.offset());
        let data = self.pes[pe].posted;
        let after = put.is_some().then_some(OpId { pe, number: data });
        let before = put.and_then(|put| self.post_put(pe, put, place));
        let number = self.post(pe, || OpKind::Signal { to, word, op, after }, place, to == pe);
        if to == pe {
            change(self.pes[pe].memory.word(word), as_atomic(op));
            return self.at_once(pe, number, None, word..word + 8);
        }
        // Where order is kept it comes behind its data by that.
        let waits_for_data = before.is_some() && !self.network.ordered;
        if !waits_for_data {
            self.launch(pe, to, Some(number), Kind::Signal { word, op }, 0);
            return;
        }
        let slot = self.send(pe, to, Some(number), Kind::Signal { word, op }, 0);
        if let Some(data) = before.and_then(|before| self.message_mut(before)) {
            data.then = Some(slot);
        }
        self.depart(slot, true);
    }

    /// Begins an atomic: its number, and its answer if it is on a word of this PE.
    pub(super) fn post_atomic(
        &mut self,
        pe: usize,
        at: Word,
        op: AtomicOp,
        place: Place,
    ) -> (u64, Option<u64>) {
        let (to, word) = (at.pe(), at.offset());
        let number = self.post(pe, || OpKind::Atomic { to, word, op }, place, to == pe);
        if to == pe {
            let before = change(self.pes[pe].memory.word(word), op);
            let changes = op != AtomicOp::Fetch;
            let id = OpId { pe, number };
            self.landed(Some(id), pe, word..word + 8, changes);
            self.tell(|| Event::Completed { id });
            return (number, Some(before));
        }
        self.launch(pe, to, Some(number), Kind::Atomic { word, op }, 0);
        (number, None)
    }

    /// Tells all other PEs that `pe` is gone; they believe what they hear first, and that is what it said first.
    pub(super) fn post_lost(&mut self, pe: usize, reason: &Arc<str>) {
        if self.closed || std::mem::replace(&mut self.pes[pe].gone, true) {
            return;
        }
        for to in (0..self.pes.len()).filter(|&to| to != pe) {
            if !self.pes[to].ended {
                self.launch(pe, to, None, Kind::Lost { reason: Arc::clone(reason) }, 0);
            }
        }
    }

    /// Sets a flag of a neighbour's barrier.
    pub(super) fn post_flag(&mut self, pe: usize, to: usize, round: u32, epoch: u32) {
        if !self.closed {
            self.launch(pe, to, None, Kind::Flag { round, epoch }, 0);
        }
    }
}
