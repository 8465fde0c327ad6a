//! The doorbell of a PE: a futex in the shared memory.

use std::time::Duration;

use transport_core::wait::{Doorbell, Ticket};

use crate::job_memory::JobMemory;
use crate::sync::{self, atomic::Ordering};

/// The bell of this PE.
#[derive(Debug)]
pub(crate) struct Bell {
    pub(crate) memory: JobMemory,
    pub(crate) pe: usize,
    /// The word of the heap that a wait of this PE is for, as puts are to know it when it sleeps.
    awaits: std::sync::atomic::AtomicU64,
}

impl Bell {
    pub(crate) fn new(memory: JobMemory, pe: usize) -> Self {
        Self { memory, pe, awaits: JobMemory::NO_WORD.into() }
    }

    /// The wait that now begins is for a word that may be put; or it has ended. Of several at once the last counts, and the
    /// others hear of a plain put when they have napped.
    #[inline]
    pub(crate) fn awaits(&self, word: Option<u64>) {
        self.awaits.store(word.unwrap_or(JobMemory::NO_WORD), std::sync::atomic::Ordering::Relaxed);
    }
}

impl Doorbell for Bell {
    fn arm(&self) {
        let word = self.awaits.load(std::sync::atomic::Ordering::Relaxed);
        self.memory.set_awaited(self.pe, word);
        self.memory.armed(self.pe).fetch_add(1, Ordering::SeqCst);
        // Before the look that follows; see `JobMemory::wake`.
        JobMemory::full_fence();
    }

    fn disarm(&self) {
        self.memory.armed(self.pe).fetch_sub(1, Ordering::Relaxed);
    }

    fn ticket(&self) -> Ticket {
        Ticket(self.memory.rings(self.pe).load(Ordering::Acquire))
    }

    fn sleep(&self, ticket: Ticket, limit: Duration) {
        sync::futex_wait(self.memory.rings(self.pe), ticket.0, limit);
    }

    fn ring(&self) {
        self.memory.ring(self.pe);
    }
}

#[cfg(all(test, not(shmem_loom)))]
mod tests {
    use super::*;
    use transport_core::heap::SymHeap;
    use transport_core::memory::Region;

    #[test]
    fn a_put_rings_for_who_sleeps_until_one_of_its_bytes_changes() {
        let len = JobMemory::len(2, 65536).unwrap();
        let memory = JobMemory::new(Region::map_private(len as usize).unwrap(), 2, 65536);
        let heap = SymHeap::new(memory.heap(1), 1, 2, 0, 1);
        let area = heap.backend_area(2, 64).unwrap();
        let put = |range| {
            memory.wake_after_put(1, heap.check("put", "destination", area.slice(range).unwrap()).unwrap())
        };
        let rings = |pe| memory.rings(pe).load(Ordering::Relaxed);
        let bell = Bell::new(memory.clone(), 1);
        bell.awaits(Some(area.offset() + 16));
        put(0..64);
        assert_eq!(rings(1), 0, "it does not sleep");
        bell.arm();
        put(0..16);
        put(24..64);
        assert_eq!(rings(1), 0, "its word was not put");
        put(16..24);
        put(0..17);
        assert_eq!((rings(0), rings(1)), (0, 2));
        bell.disarm();
        bell.awaits(None);
        bell.arm();
        put(0..64);
        assert_eq!(rings(1), 2, "it waits for something else");
    }
}
