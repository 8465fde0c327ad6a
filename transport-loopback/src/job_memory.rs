//! The one memory of a job: for each PE a page of control words, and its heap.

use transport_core::heap::{HeapRange, SymHeap};
use transport_core::memory::Region;

use crate::sync;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of control words of a PE, before its heap.
const CONTROL: u64 = 4096;
/// Each word that another PE may spin on has a cache line of its own.
const LINE: u64 = 64;
/// In the control page: the doorbell's count of rings, and how many are armed.
const RINGS: u64 = 0;
const ARMED: u64 = 4;
/// Beside it, in the line that who rings looks at anyway: the word of its heap that a sleeper waits for.
const AWAITED: u64 = 8;
/// The barrier that the PE has entered last, and the one that it has finished last.
const ENTERED: u64 = LINE;
const FINISHED: u64 = LINE + 4;
/// One flag for each round of the barrier.
const FLAGS: u64 = 2 * LINE;
/// As many rounds as a `u32` of PEs can need.
const MAX_ROUNDS: u64 = 32;
/// In the page of PE 0: how many have come to barriers in all; and how barriers are done.
const ARRIVED: u64 = FLAGS + MAX_ROUNDS * LINE;
const COUNTED: u64 = ARRIVED + LINE;
const _: () = assert!(COUNTED + LINE <= CONTROL);

/// All PEs' control words and heaps, as this process maps them.
#[derive(Debug, Clone)]
pub(crate) struct JobMemory {
    all: Region,
    n_pes: usize,
    /// Bytes from one PE's control page to the next one's.
    stride: u64,
    heap_len: u64,
}

impl JobMemory {
    /// Bytes of the whole, `None` if that cannot be addressed.
    pub(crate) fn len(n_pes: usize, user_heap: u64) -> Option<u64> {
        Self::stride(n_pes, user_heap)?.checked_mul(n_pes as u64).filter(|&len| len < 1 << 46)
    }

    fn stride(n_pes: usize, user_heap: u64) -> Option<u64> {
        CONTROL.checked_add(SymHeap::region_len(n_pes, user_heap, 0))?.checked_next_multiple_of(4096)
    }

    /// Over memory of [`JobMemory::len`] bytes.
    pub(crate) fn new(all: Region, n_pes: usize, user_heap: u64) -> Self {
        let heap_len = SymHeap::region_len(n_pes, user_heap, 0);
        let stride = all.len() as u64 / n_pes as u64;
        Self { all, n_pes, stride, heap_len }
    }

    /// Barriers are counted in one word. Once, before anybody uses them.
    pub(crate) fn set_counted(&self) {
        self.control(0, COUNTED).store(1, Ordering::Relaxed);
    }

    /// Whether barriers are counted in one word: the same on all PEs.
    pub(crate) fn is_counted(&self) -> bool {
        self.control(0, COUNTED).load(Ordering::Relaxed) != 0
    }

    /// How often PEs have come to barriers, all together.
    #[inline]
    pub(crate) fn arrived(&self) -> &AtomicU64 {
        self.all.word(ARRIVED)
    }

    /// Sets the barrier's counters of all PEs to `epoch`. Once, before anybody uses them; zeroed memory stands for 0.
    pub(crate) fn set_first_epoch(&self, epoch: u32) {
        for pe in 0..self.n_pes {
            self.entered(pe).store(epoch, Ordering::Relaxed);
            self.finished(pe).store(epoch, Ordering::Relaxed);
            for round in 0..MAX_ROUNDS as u32 {
                self.flag(pe, round).store(epoch, Ordering::Relaxed);
            }
        }
    }

    /// The heap of one PE, as a region of its own that keeps the whole mapped.
    pub(crate) fn heap(&self, pe: usize) -> Region {
        self.all.part(self.heap_at(pe, 0), self.heap_len)
    }

    /// All of it; see [`JobMemory::heap_at`].
    pub(crate) fn all(&self) -> &Region {
        &self.all
    }

    /// Where byte `offset` of the heap of `pe` is in the whole.
    #[inline]
    pub(crate) fn heap_at(&self, pe: usize, offset: u64) -> u64 {
        pe as u64 * self.stride + CONTROL + offset
    }

    #[inline]
    fn control(&self, pe: usize, at: u64) -> &AtomicU32 {
        self.all.word32(pe as u64 * self.stride + at)
    }

    /// The count of rings of the bell of `pe`.
    pub(crate) fn rings(&self, pe: usize) -> &AtomicU32 {
        self.control(pe, RINGS)
    }

    /// How many sleepers of `pe` want to be rung for.
    #[inline]
    pub(crate) fn armed(&self, pe: usize) -> &AtomicU32 {
        self.control(pe, ARMED)
    }

    /// No word of a heap.
    pub(crate) const NO_WORD: u64 = u64::MAX;

    /// Says what word of its heap `pe` waits for, before it arms.
    pub(crate) fn set_awaited(&self, pe: usize, word: u64) {
        // Models have no word here: what hangs on it is only how soon a plain put is seen.
        #[cfg(not(shmem_loom))]
        self.all.word(pe as u64 * self.stride + AWAITED).store(word, Ordering::Relaxed);
        #[cfg(shmem_loom)]
        let _ = (pe, word, AWAITED);
    }

    /// Rings for `pe` if it sleeps until a word changes that was just put. There is no fence between, so one that is just going
    /// to sleep may be missed; it looks again after its nap.
    #[inline(always)]
    pub(crate) fn wake_after_put(&self, pe: usize, put: HeapRange) {
        #[cfg(not(shmem_loom))]
        if self.armed(pe).load(Ordering::Relaxed) != 0 {
            let word = self.all.word(pe as u64 * self.stride + AWAITED).load(Ordering::Relaxed);
            if word.wrapping_sub(put.offset()) < put.len() {
                self.ring(pe);
            }
        }
        #[cfg(shmem_loom)]
        let _ = (pe, put);
    }

    /// The number of the barrier that `pe` has entered last.
    #[inline]
    pub(crate) fn entered(&self, pe: usize) -> &AtomicU32 {
        self.control(pe, ENTERED)
    }

    /// The number of the barrier that `pe` has finished last: it owes nobody anything of it.
    #[inline]
    pub(crate) fn finished(&self, pe: usize) -> &AtomicU32 {
        self.control(pe, FINISHED)
    }

    /// The flag of `pe` that its partner of `round` sets to the number of the barrier.
    #[inline]
    pub(crate) fn flag(&self, pe: usize, round: u32) -> &AtomicU32 {
        self.control(pe, FLAGS + u64::from(round) * LINE)
    }

    /// Rings for `pe` if it sleeps. What it waits for was written before, and a full fence was made since: so either we see
    /// it armed, or it sees the write when it looks once more after arming.
    #[inline]
    pub(crate) fn wake(&self, pe: usize) {
        if self.armed(pe).load(Ordering::Relaxed) != 0 {
            self.ring(pe);
        }
    }

    /// As [`wake`](Self::wake), right after an atomic read-modify-write of what it waits for. On x86-64 that is a full fence
    /// by itself; elsewhere the look at the sleepers could overtake it.
    #[inline]
    pub(crate) fn wake_after_change(&self, pe: usize) {
        #[cfg(any(shmem_loom, not(target_arch = "x86_64")))]
        Self::full_fence();
        self.wake(pe);
    }

    /// Rings for `pe`.
    #[cold]
    pub(crate) fn ring(&self, pe: usize) {
        self.rings(pe).fetch_add(1, Ordering::Release);
        sync::futex_wake_all(self.rings(pe));
    }

    /// Makes all that this thread wrote visible before anything that it reads or writes later.
    #[inline]
    pub(crate) fn full_fence() {
        sync::full_fence();
    }
}
