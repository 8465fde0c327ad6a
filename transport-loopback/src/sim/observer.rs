//! What a PE does to its own part of the heap.

use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

use transport_core::heap::HeapObserver;

use super::event::Event;
use super::pe::Job;

/// Tells the job of the accesses of PE `pe` to its own memory.
pub(super) struct Accesses {
    pub(super) job: Arc<Job>,
    pub(super) pe: usize,
}

fn bytes(offset: u64, len: u64) -> Option<Range<u64>> {
    (len > 0).then(|| offset..offset + len)
}

impl HeapObserver for Accesses {
    fn read(&self, offset: u64, len: u64, place: &'static Location<'static>) {
        if let Some(range) = bytes(offset, len) {
            self.job.world().tell(|| Event::Read { pe: self.pe, range, place });
        }
    }

    fn written(&self, offset: u64, len: u64, place: &'static Location<'static>) {
        if let Some(range) = bytes(offset, len) {
            let mut world = self.job.world();
            // Another future of the same PE may wait for it.
            world.wake_word(self.pe, &range);
            world.tell(|| Event::Written { pe: self.pe, range, place });
        }
    }

    fn loaded(&self, word: u64, place: &'static Location<'static>) {
        let mut world = self.job.world();
        if world.tell.is_on() {
            let seen = world.tell.seen(self.pe, word);
            world.tell(|| Event::Loaded { pe: self.pe, word, seen, place });
        }
    }
}
