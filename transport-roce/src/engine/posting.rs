//! Posting requests on one link, in order, with credits, several to a doorbell.

use std::sync::MutexGuard;

use transport_core::{Error, Result};

use super::link::{Link, Queue};
use super::{Engine, request};
use crate::verbs::{Chain, Flags, LocalBytes, QueuePair};

/// Requests to one doorbell, on the stack of who posts.
pub(crate) type Requests = Chain<8>;

/// Requests being made for one link. Nobody else posts there until it ends.
pub(crate) struct Posting<'e> {
    engine: &'e Engine,
    link: &'e Link,
    qp: &'e QueuePair,
    queue: MutexGuard<'e, Queue>,
    /// Not in here: it is large, and a posting is moved.
    chain: &'e mut Requests,
    op: &'static str,
    /// The number of the request that is made next.
    next: u64,
    /// One past the last that tells of its completion.
    signaled: u64,
    /// Nothing was under way when this began.
    was_idle: bool,
    /// A quiet is likely to wait for this.
    awaited: bool,
    /// A quiet waits for these.
    needed: bool,
}

impl<'e> Posting<'e> {
    /// Begins; the link is connected first if it is not. The user's quiet will wait for what is posted.
    #[inline]
    pub(crate) fn begin(
        engine: &'e Engine,
        link: &'e Link,
        chain: &'e mut Requests,
        op: &'static str,
    ) -> Result<Self> {
        let qp = engine.queue_pair(link, op)?;
        Ok(Self::over(engine, (link, qp, link.lock()), chain, op, true))
    }

    /// Begins if the link is connected, nobody else posts, and `requests` can be posted now. A quiet waits for them if `needed`.
    #[inline]
    pub(crate) fn try_begin(
        engine: &'e Engine,
        link: &'e Link,
        chain: &'e mut Requests,
        op: &'static str,
        requests: u64,
        needed: bool,
    ) -> Option<Self> {
        let (qp, queue) = (link.qp()?, link.try_lock()?);
        let room = engine.limits.depth - queue.next.wrapping_sub(link.done());
        (requests <= room).then(|| Self::over(engine, (link, qp, queue), chain, op, needed))
    }

    #[inline]
    fn over(
        engine: &'e Engine,
        (link, qp, queue): (&'e Link, &'e QueuePair, MutexGuard<'e, Queue>),
        chain: &'e mut Requests,
        op: &'static str,
        needed: bool,
    ) -> Self {
        let next = queue.next;
        let (signaled, was_idle) = (link.signaled(), link.is_done(next));
        let awaited = link.is_awaited(next, 2 * engine.limits.signal_every);
        Self { engine, link, qp, queue, chain, op, next, signaled, was_idle, awaited, needed }
    }

    /// Whether nothing was under way on this link.
    #[inline]
    pub(crate) fn was_idle(&self) -> bool {
        self.was_idle
    }

    /// Where it posts.
    pub(crate) fn link(&self) -> &'e Link {
        self.link
    }

    /// A Write of `len` bytes of this PE's heap.
    #[inline]
    pub(crate) fn write(&mut self, src: u64, dst: u64, len: u64, end: End) -> Result<()> {
        self.make_room()?;
        let remote = self.engine.remote(self.link.pe, dst);
        let (name, flags) = self.name(end);
        // In the request itself it needs no second look at the memory by the NIC.
        let inline = len <= self.engine.limits.inline;
        let local = self.local(src, len);
        self.chain.push_write(local, remote, name, Flags { inline, ..flags });
        Ok(())
    }

    /// A Write of bytes that travel in the request; no more than the limit of inline.
    #[inline]
    pub(crate) fn write_inline(&mut self, bytes: &'e [u8], dst: u64, end: End) -> Result<()> {
        self.make_room()?;
        let remote = self.engine.remote(self.link.pe, dst);
        let (name, flags) = self.name(end);
        self.chain.push_write_inline(bytes.as_ptr(), bytes.len() as u32, remote, name, flags);
        Ok(())
    }

    /// A Write of nothing, which tells that all before it is complete.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.make_room()?;
        let remote = self.engine.remote(self.link.pe, 0);
        let (name, flags) = self.name(End::Signaled);
        self.chain.push_empty_write(remote, name, flags);
        Ok(())
    }

    /// A Read of `len` bytes to this PE's heap.
    #[inline]
    pub(crate) fn read(&mut self, src: u64, dst: u64, len: u64, end: End) -> Result<()> {
        self.make_room()?;
        let remote = self.engine.remote(self.link.pe, src);
        let (name, flags) = self.name(end);
        let local = self.local(dst, len);
        self.chain.push_read(local, remote, name, flags);
        Ok(())
    }

    /// Adds to a word; what it was goes to `answer` of this PE's heap.
    pub(crate) fn fetch_add(&mut self, word: u64, add: u64, answer: u64, end: End) -> Result<()> {
        self.make_room()?;
        let remote = self.engine.remote(self.link.pe, word);
        let (name, flags) = self.name(end);
        let local = self.local(answer, 8);
        self.chain.push_fetch_add(local, remote, add, name, flags);
        Ok(())
    }

    /// Sets a word to `new` if it is `expected`; what it was goes to `answer` of this PE's heap.
    pub(crate) fn compare_swap(
        &mut self,
        word: u64,
        (expected, new): (u64, u64),
        answer: u64,
        end: End,
    ) -> Result<()> {
        self.make_room()?;
        let remote = self.engine.remote(self.link.pe, word);
        let (name, flags) = self.name(end);
        let local = self.local(answer, 8);
        self.chain.push_compare_swap(local, remote, expected, new, name, flags);
        Ok(())
    }

    /// Rings the doorbell for what is made. Answers the number after the last.
    #[inline]
    pub(crate) fn end(mut self) -> Result<u64> {
        self.ring()?;
        Ok(self.next)
    }

    #[inline]
    fn local(&self, offset: u64, len: u64) -> LocalBytes {
        // No message is longer than what 32 bits hold; who makes the requests has split them.
        LocalBytes { address: self.engine.local(offset), len: len as u32, lkey: self.engine.memory.lkey() }
    }

    /// The next request's name, and whether it tells of its completion: the last of a call on a link where nothing was under
    /// way, if quiets are made here, and else every so many. So who waits for each put needs nothing more, and a stream, or
    /// a ping-pong without quiets, costs few completions.
    #[inline]
    fn name(&mut self, end: End) -> (u64, Flags) {
        let limits = &self.engine.limits;
        let (number, silent) = (self.next, self.next.wrapping_sub(self.signaled));
        let signal = match end {
            End::More => silent + 1 >= limits.depth / 2,
            End::Last => self.was_idle && self.awaited || silent + 1 >= limits.signal_every,
            End::Signaled => true,
            // Of these there may be many without a wait, but each waits for another PE's.
            End::Silent => silent + 1 >= limits.signal_every,
        };
        self.next = number.wrapping_add(1);
        if signal {
            self.signaled = self.next;
        }
        (request::name(self.link.index, number), Flags { signaled: signal, ..Flags::default() })
    }

    /// Sees to it that one more request can be made: rings for those that are, and waits for credits.
    #[inline]
    fn make_room(&mut self) -> Result<()> {
        if self.chain.is_full() {
            self.ring()?;
        }
        if self.has_room() { Ok(()) } else { self.wait_for_room() }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.next.wrapping_sub(self.link.done()) < self.engine.limits.depth
    }

    #[cold]
    fn wait_for_room(&mut self) -> Result<()> {
        self.ring()?;
        self.engine.wait_here(self.op, self.link.pe, || self.has_room())
    }

    #[inline]
    fn ring(&mut self) -> Result<()> {
        if self.chain.is_empty() {
            return Ok(());
        }
        let made = self.chain.len();
        // SAFETY: local addresses are in the heap, by a checked range or the layout, and the heap stays registered while there
        // are queue pairs: the engine drops them first. What a Read or an atomic writes is shared memory, of which nobody
        // holds a reference. Inline bytes are borrowed for as long as this posting.
        let posted = unsafe { self.qp.post(self.chain) };
        match posted {
            Ok(()) => {
                self.link.posted(&mut self.queue, self.next, self.signaled, self.needed);
                Ok(())
            }
            Err(error) => {
                self.next = self.next.wrapping_sub((made - error.posted) as u64);
                self.link.posted(&mut self.queue, self.next, self.next, self.needed);
                self.engine.post_failed(self.link, &error);
                let (my_pe, pe) = (self.engine.endpoint.my_pe(), self.link.pe);
                self.engine.endpoint.failures().check_peer(self.op, pe)?;
                Err(Error::PeerLost { op: self.op, my_pe, pe, cause: error.to_string().into() })
            }
        }
    }
}

/// Where a request stands in its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Others of the call follow.
    More,
    /// It is the last of the call.
    Last,
    /// It must tell of its completion.
    Signaled,
    /// Nobody waits for its completion.
    Silent,
}
