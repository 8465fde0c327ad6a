//! The doorbell of a PE: a futex in the shared memory.

use std::time::Duration;

use transport_core::wait::{Doorbell, Ticket};

use crate::job_memory::{Fences, JobMemory};
use crate::sync::{self, atomic::Ordering};

/// The bell of this PE.
#[derive(Debug)]
pub(crate) struct Bell {
    pub(crate) memory: JobMemory,
    pub(crate) pe: usize,
}

impl Doorbell for Bell {
    fn arm(&self) {
        self.memory.armed(self.pe).fetch_add(1, Ordering::SeqCst);
        // Before the look that follows; see `JobMemory::wake`.
        JobMemory::full_fence();
        if self.memory.fences() == Fences::BySleeper {
            sync::fence_all_writers();
        }
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
