//! The operations, as requests.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use transport_core::transport::{Remote, Transfer, Word};
use transport_core::{Result, SignalOp};

use super::layout::STAGE_LEN;
use super::posting::{End, Posting, Requests};
use super::stages::Stages;
use super::{Engine, Link, span};

/// From this size on, the puts to a peer with several links are spread over them.
const LARGE: u64 = 32 << 10;

impl Engine {
    /// The link that a put or a get of `len` bytes takes.
    #[inline]
    fn link_for(&self, pe: usize, len: u64) -> &Link {
        let per_peer = self.limits.per_peer;
        if per_peer == 1 || len < LARGE {
            return self.first_link(pe);
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) as usize % per_peer;
        &self.links_to(pe)[turn]
    }

    /// Begins to post to `link`, after what a fence has ordered before.
    #[inline]
    fn posting<'e>(
        &'e self,
        link: &'e Link,
        chain: &'e mut Requests,
        op: &'static str,
    ) -> Result<Posting<'e>> {
        if self.limits.per_peer > 1 {
            self.keep_fence(link, op)?;
        }
        Posting::begin(self, link, chain, op)
    }

    /// A put.
    #[inline]
    pub(crate) fn put(&self, put: Transfer) -> Result<()> {
        const OP: &str = "put_nbi";
        let ((src, len), (dst, _)) = (span(put.local()), span(put.remote()));
        let mut chain = Requests::new();
        let mut posting = self.posting(self.link_for(put.pe(), len), &mut chain, OP)?;
        if put.pe() == self.endpoint.my_pe() && posting.was_idle() {
            // To itself it is a copy, unless that could overtake a signal or an atomic on its way through the NIC.
            self.region().copy_from(dst, self.region(), src, len);
            return Ok(());
        }
        self.write_all(&mut posting, (src, dst, len), End::Last)?;
        posting.end().map(drop)
    }

    /// Writes of as many messages as the NIC needs for `len` bytes, the last of which is the `end`.
    #[inline]
    fn write_all(&self, posting: &mut Posting<'_>, (src, dst, len): (u64, u64, u64), end: End) -> Result<()> {
        self.in_messages(len, end, |at, len, end| posting.write(src + at, dst + at, len, end))
    }

    /// Calls `make` with start, length and place of each message that the NIC needs for `len` bytes.
    #[inline]
    fn in_messages(
        &self,
        len: u64,
        end: End,
        mut make: impl FnMut(u64, u64, End) -> Result<()>,
    ) -> Result<()> {
        let (mut at, message) = (0, self.limits.message);
        while len - at > message {
            make(at, message, End::More)?;
            at += message;
        }
        make(at, len - at, end)
    }

    /// A get.
    pub(crate) fn get(&self, get: Transfer) -> Result<()> {
        const OP: &str = "get_nbi";
        let ((dst, len), (src, _)) = (span(get.local()), span(get.remote()));
        let mut chain = Requests::new();
        let mut posting = self.posting(self.link_for(get.pe(), len), &mut chain, OP)?;
        if get.pe() == self.endpoint.my_pe() && posting.was_idle() {
            self.region().copy_from(dst, self.region(), src, len);
            return Ok(());
        }
        self.in_messages(len, End::Last, |at, len, end| posting.read(src + at, dst + at, len, end))?;
        posting.end().map(drop)
    }

    /// A put of bytes that are not in the heap: they travel in the request if they are few, else from a piece of registered
    /// memory. In both cases `data` is no longer needed when this returns.
    pub(crate) fn put_bytes(&self, to: Remote, data: &Bytes) -> Result<()> {
        const OP: &str = "put_bytes_nbi";
        let (mut dst, len) = span(to.range());
        let (link, mut chain) = (self.link_for(to.pe(), len), Requests::new());
        if len <= self.limits.inline {
            let mut posting = self.posting(link, &mut chain, OP)?;
            posting.write_inline(data, dst, End::Last)?;
            return posting.end().map(drop);
        }
        for piece in data.chunks(STAGE_LEN as usize) {
            // Held until the request is posted, so that the pieces are used, and are free again, in turn.
            let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
            let stage = self.free_stage(&mut stages, OP)?;
            let at = self.layout.stage(stage);
            self.region().write(at, piece);
            let mut posting = self.posting(link, &mut chain, OP)?;
            posting.write(at, dst, piece.len() as u64, End::Signaled)?;
            stages.use_next(link.index, posting.end()?);
            dst += piece.len() as u64;
        }
        Ok(())
    }

    /// A put, if there is one, and a signal behind it: on one link, which delivers in order.
    pub(crate) fn put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        const OP: &str = "put_signal_nbi";
        // It outlives the posting, which borrows it.
        let value;
        let link = self.link_for(signal.pe(), put.map_or(0, |put| put.local().len()));
        let mut chain = Requests::new();
        let mut posting = self.posting(link, &mut chain, OP)?;
        if let Some(put) = put {
            let ((src, len), (dst, _)) = (span(put.local()), span(put.remote()));
            if put.pe() == self.endpoint.my_pe() && posting.was_idle() {
                self.region().copy_from(dst, self.region(), src, len);
            } else {
                self.write_all(&mut posting, (src, dst, len), End::More)?;
            }
        }
        match op {
            SignalOp::Add(add) => {
                posting.fetch_add(signal.offset(), add, self.layout.discard(), End::Last)?;
                posting.end().map(drop)
            }
            SignalOp::Set(set) if self.limits.inline >= 8 => {
                value = set.to_ne_bytes();
                posting.write_inline(&value, signal.offset(), End::Last)?;
                posting.end().map(drop)
            }
            SignalOp::Set(set) => self.set_from_stage(posting, signal, set),
        }
    }

    /// A signal that sets, on a device that sends nothing inline: the value is sent from a piece of registered memory.
    fn set_from_stage(&self, posting: Posting<'_>, signal: Word, value: u64) -> Result<()> {
        const OP: &str = "put_signal_nbi";
        let link = posting.link();
        // In the order of all other calls: first a piece, then the link. The data before it is posted, so that the link's
        // order holds.
        posting.end()?;
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = self.free_stage(&mut stages, OP)?;
        let at = self.layout.stage(stage);
        self.region().write(at, &value.to_ne_bytes());
        let mut chain = Requests::new();
        let mut posting = self.posting(link, &mut chain, OP)?;
        posting.write(at, signal.offset(), 8, End::Signaled)?;
        stages.use_next(link.index, posting.end()?);
        Ok(())
    }

    /// A piece of registered memory that nothing is sent from any more; waits for one if there is none.
    fn free_stage(&self, stages: &mut Stages, op: &'static str) -> Result<usize> {
        let is_done = |link: usize, number| self.links[link].is_done(number);
        let (stage, last_use) = stages.next(is_done);
        let Some((link, number)) = last_use else { return Ok(stage) };
        self.progress();
        let (stage, last_use) = stages.next(is_done);
        if last_use.is_some() {
            let link = &self.links[link];
            self.wait_here(op, link.pe, || link.is_done(number))?;
        }
        Ok(stage)
    }

    /// Orders puts: on one link that is the NIC's own order; between several links of a peer, the next post there waits.
    pub(crate) fn fence(&self) {
        if self.limits.per_peer > 1 {
            self.fences.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Whether what a fence orders before a request on `link` is complete; takes completions.
    pub(super) fn is_fence_kept(&self, link: &Link) -> bool {
        let (fences, kept) = (self.fences.load(Ordering::Acquire), &self.fenced[link.pe]);
        if self.limits.per_peer == 1 || kept.load(Ordering::Acquire) == fences {
            return true;
        }
        let complete = |other: &Link| {
            let number = other.needed();
            self.ask(other.index, number) && other.is_done(number)
        };
        if !self.links_to(link.pe).iter().all(complete) {
            self.progress();
            return false;
        }
        kept.store(fences, Ordering::Release);
        true
    }

    /// Before the first request to a peer after a fence: what was posted on its other links is complete.
    fn keep_fence(&self, link: &Link, op: &'static str) -> Result<()> {
        if self.fenced[link.pe].load(Ordering::Acquire) == self.fences.load(Ordering::Acquire) {
            return Ok(());
        }
        self.wait_here(op, link.pe, || self.is_fence_kept(link))
    }
}
