//! What can be had on this host.

use std::hash::{DefaultHasher, Hash, Hasher};

use transport_core::heap::SymHeap;

use crate::error::LoopbackError;

/// Checks a heap's size against the limits of the library and the memory of the machine.
///
/// Heaps are virtual until touched, so that the heaps of all PEs together may well exceed the memory; a single one that
/// does can never be used, and is a slip.
pub(crate) fn check_heap_size(my_pe: usize, size: u64) -> Result<(), LoopbackError> {
    if !(SymHeap::MIN_SIZE..=SymHeap::MAX_SIZE).contains(&size) {
        return Err(LoopbackError::HeapSize { my_pe, size });
    }
    for (available, limit) in transport_core::host::memory_limits() {
        if size > available {
            return Err(LoopbackError::HeapLargerThanMemory { my_pe, size, available, limit });
        }
    }
    Ok(())
}

/// A number made of what names a job, by which slices of other jobs are recognised.
pub(crate) fn job_seed(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() as u32
}
