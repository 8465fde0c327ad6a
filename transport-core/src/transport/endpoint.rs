//! What every backend has in common: who this PE is, its heap, its deadline, what has failed.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytemuck::Pod;

use super::failures::Failures;
use super::operations::{Remote, Transfer, Word};
use crate::collectives::AllGatherAlgorithm;
use crate::error::{Error, Result};
use crate::heap::{HeapRange, SymHeap, SymSlice};
use crate::wait::{Look, Waiter};

/// The common half of a transport. A backend makes one at start and answers it from
/// [`Transport::endpoint`](super::Transport::endpoint).
#[derive(Debug)]
pub struct Endpoint {
    my_pe: usize,
    n_pes: usize,
    heap: SymHeap,
    timeout: AtomicU64,
    failures: Failures,
    in_collective: AtomicBool,
    medium: Medium,
    all_gather: AllGatherAlgorithm,
}

/// By what the PEs of a job reach each other. Collectives choose by it, so all PEs of a job must say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// All heaps are in one memory: a put is a copy by the PE itself.
    Memory,
    /// The same, and PEs take turns on the processors: there are more of them.
    CrowdedMemory,
    /// NICs, to which a message is little work.
    Nic,
    /// NICs that some host's kernel plays: a message is work of its processors, much more than the bytes in it.
    SoftwareNic,
}

impl Endpoint {
    /// The default limit of any wait.
    pub const DEFAULT_TIMEOUT: Duration = crate::config::DEFAULT_TIMEOUT;

    /// For PE `my_pe` of `n_pes`, with its heap.
    #[must_use]
    pub fn new(my_pe: usize, n_pes: usize, heap: SymHeap, timeout: Duration) -> Self {
        assert!(my_pe < n_pes, "PE {my_pe} of {n_pes}");
        let new = Self {
            my_pe,
            n_pes,
            heap,
            timeout: AtomicU64::new(0),
            failures: Failures::new(my_pe, n_pes),
            in_collective: AtomicBool::new(false),
            medium: Medium::Nic,
            all_gather: AllGatherAlgorithm::Auto,
        };
        new.set_timeout(timeout);
        new
    }

    /// The same over this medium; without it, [`Medium::Nic`].
    #[must_use]
    pub fn over(self, medium: Medium) -> Self {
        Self { medium, ..self }
    }

    /// By what it reaches its peers.
    #[must_use]
    pub fn medium(&self) -> Medium {
        self.medium
    }

    /// The same, with AllGathers by this algorithm where the program leaves it open; all PEs of a job must say the same.
    #[must_use]
    pub fn all_gather_by(self, all_gather: AllGatherAlgorithm) -> Self {
        Self { all_gather, ..self }
    }

    /// What [`AllGatherAlgorithm::Auto`] means in this job; if that itself, it is chosen by size, PE count and medium.
    #[must_use]
    pub fn all_gather(&self) -> AllGatherAlgorithm {
        self.all_gather
    }

    /// This PE's number, from 0.
    #[must_use]
    #[inline]
    pub fn my_pe(&self) -> usize {
        self.my_pe
    }

    /// How many PEs the job has.
    #[must_use]
    #[inline]
    pub fn n_pes(&self) -> usize {
        self.n_pes
    }

    /// This PE's part of the symmetric heap.
    #[must_use]
    #[inline]
    pub fn heap(&self) -> &SymHeap {
        &self.heap
    }

    /// The limit of every wait.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout.load(Ordering::Relaxed))
    }

    /// Sets the limit for waits that begin from now on.
    pub fn set_timeout(&self, timeout: Duration) {
        let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        self.timeout.store(nanos, Ordering::Relaxed);
    }

    /// What has failed.
    #[must_use]
    #[inline]
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Waits until `ready` has an answer. `Err` when a peer is lost meanwhile that is not done with this, or by `late` at the
    /// deadline.
    ///
    /// # Errors
    ///
    /// [`Error::PeerLost`], [`Error::Finalized`], and what `late` makes.
    // No `async fn`: what that is given it holds twice, and each move of it is a copy.
    #[inline]
    pub fn wait_until<R>(
        &self,
        waiter: &Waiter,
        op: &'static str,
        mut ready: impl FnMut() -> Option<R> + Send,
        is_done: impl Fn(usize) -> bool + Send,
        late: impl Fn(Duration) -> Error + Send,
    ) -> impl Future<Output = Result<R>> + Send {
        let mut waits_since = None;
        poll_fn(move |cx| {
            let look = waiter.look(cx, &mut ready);
            if let Look::Answer(answer) = look {
                return Poll::Ready(Ok(answer));
            }
            if let Err(lost) = self.failures.check_needed(op, &is_done) {
                return Poll::Ready(Err(lost));
            }
            // Where PEs share processors a look at the clock would be a tenth of each turn.
            if let Look::AgainSoon = look {
                return Poll::Pending;
            }
            let since = *waits_since.get_or_insert_with(Instant::now);
            let after = self.timeout();
            if since.elapsed() >= after { Poll::Ready(Err(late(after))) } else { Poll::Pending }
        })
    }

    /// Marks a collective heap call as under way until the answer is dropped.
    pub(crate) fn begin_collective(&self, op: &'static str) -> Result<impl Drop + '_> {
        struct Turn<'a>(&'a AtomicBool);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                self.0.store(false, Ordering::Release);
            }
        }
        if self.in_collective.swap(true, Ordering::Acquire) {
            return Err(Error::CollectiveBusy { op, my_pe: self.my_pe });
        }
        Ok(Turn(&self.in_collective))
    }

    #[inline]
    pub(super) fn check_pe(&self, op: &'static str, pe: usize) -> Result<()> {
        if pe >= self.n_pes { Err(self.no_such_pe(op, pe)) } else { self.failures.check_peer(op, pe) }
    }

    #[cold]
    #[inline(never)]
    fn no_such_pe(&self, op: &'static str, pe: usize) -> Error {
        Error::NoSuchPe { op, my_pe: self.my_pe, pe, n_pes: self.n_pes }
    }

    #[cold]
    #[inline(never)]
    fn lengths_differ(&self, op: &'static str, dst: u64, src: u64) -> Error {
        Error::LengthMismatch { op, my_pe: self.my_pe, dst, src }
    }

    /// A transfer between ranges of this PE: whether there is anything to move.
    #[cold]
    fn check_to_self(&self, op: &'static str, dst: HeapRange, src: HeapRange) -> Result<bool> {
        let (a, b, len) = (dst.offset(), src.offset(), dst.len());
        if a != b && a.abs_diff(b) < len {
            return Err(Error::Overlap { op, my_pe: self.my_pe, src: b, dst: a, len });
        }
        Ok(a != b)
    }

    /// Checks `dst` and `src` of a transfer between this PE and `pe`; `None` if there is nothing to move.
    // A call with its registers saved and its answer by memory would be a third of a put of one word.
    #[inline(always)]
    fn check_transfer<T: Pod>(
        &self,
        op: &'static str,
        dst: SymSlice<T>,
        src: SymSlice<T>,
        pe: usize,
    ) -> Result<Option<(HeapRange, HeapRange)>> {
        self.check_pe(op, pe)?;
        let dst = self.heap.check(op, "destination", dst)?;
        let src = self.heap.check(op, "source", src)?;
        if dst.len() != src.len() {
            return Err(self.lengths_differ(op, dst.len(), src.len()));
        }
        if pe == self.my_pe && !self.check_to_self(op, dst, src)? {
            return Ok(None);
        }
        Ok((!dst.is_empty()).then_some((dst, src)))
    }

    #[inline(always)]
    pub(super) fn check_put<T: Pod>(
        &self,
        op: &'static str,
        dst: SymSlice<T>,
        src: SymSlice<T>,
        pe: usize,
    ) -> Result<Option<Transfer>> {
        let checked = self.check_transfer(op, dst, src, pe)?;
        Ok(checked.map(|(remote, local)| Transfer { local, remote, pe }))
    }

    #[inline(always)]
    pub(super) fn check_get<T: Pod>(
        &self,
        op: &'static str,
        dst: SymSlice<T>,
        src: SymSlice<T>,
        pe: usize,
    ) -> Result<Option<Transfer>> {
        let checked = self.check_transfer(op, dst, src, pe)?;
        Ok(checked.map(|(local, remote)| Transfer { local, remote, pe }))
    }

    pub(super) fn check_remote(
        &self,
        op: &'static str,
        dst: SymSlice<u8>,
        len: usize,
        pe: usize,
    ) -> Result<Option<Remote>> {
        self.check_pe(op, pe)?;
        let range = self.heap.check(op, "destination", dst)?;
        if range.len() != len as u64 {
            return Err(self.lengths_differ(op, range.len(), len as u64));
        }
        Ok((!range.is_empty()).then_some(Remote { range, pe }))
    }

    #[inline(always)]
    pub(super) fn check_word(
        &self,
        op: &'static str,
        operand: &'static str,
        word: SymSlice<u64>,
        pe: usize,
    ) -> Result<Word> {
        self.check_pe(op, pe)?;
        let range = self.heap.check_word(op, operand, word)?;
        Ok(Word { offset: range.offset(), pe })
    }
}
