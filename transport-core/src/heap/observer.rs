//! Who wants to know what a PE itself does to its part of the heap: a simulation that looks for races.

use std::fmt;
use std::panic::Location;

/// Told of every access by a PE to its own copy of the heap, by the calls of [`SymHeap`](super::SymHeap) and by the nodes of a
/// graph. Offsets and lengths are in bytes.
pub trait HeapObserver: Send + Sync {
    /// `len` bytes from `offset` were read, at `place` in the source.
    fn read(&self, offset: u64, len: u64, place: &'static Location<'static>);
    /// `len` bytes from `offset` were written.
    fn written(&self, offset: u64, len: u64, place: &'static Location<'static>);
    /// A word was read with acquire order, as one waits for a signal by hand.
    fn loaded(&self, offset: u64, place: &'static Location<'static>);
}

impl fmt::Debug for dyn HeapObserver + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeapObserver")
    }
}
