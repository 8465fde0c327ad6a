//! The symmetric heap: one region a PE, the same offsets everywhere. Here is how it is laid out, and how a range of it is checked.

mod agreement;
mod allocator;
mod book;
mod live;
mod local_access;
mod observer;
mod slice;
mod staging;

use std::sync::{Arc, Mutex};

use bytemuck::Pod;

pub use book::HeapStats;
pub use observer::HeapObserver;
pub use slice::SymSlice;

pub(crate) use agreement::{agree_on_all_gather, alloc, free};
pub(crate) use staging::{Epoch, PeerWord, Staging};

use crate::config;
use crate::error::{Error, Result};
use crate::memory::Region;
use allocator::Allocator;
use book::Book;
use live::LiveTable;

/// Bytes of the heap's own, before the user's, for each PE of the job: a record of the collective heap calls.
const RECORD: u64 = 64;

/// A checked range of the heap, in bytes from its start. Only [`SymHeap`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapRange {
    offset: u64,
    len: u64,
}

impl HeapRange {
    /// The caller vouches that it lies in the heap.
    #[inline]
    pub(crate) fn new(offset: u64, len: u64) -> Self {
        Self { offset, len }
    }

    /// Bytes from the start of the heap.
    #[inline]
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// This PE's part of the symmetric heap, and the book of what is allocated in it.
///
/// Local reads and writes go through here by copy: peers may write the bytes at any time, so there is never a
/// `&[T]` into them. Whether a read sees a peer's put is the protocol's matter (`quiet` and a barrier, or a signal).
#[derive(Debug)]
pub struct SymHeap {
    my_pe: usize,
    region: Region,
    system: SymSlice<u8>,
    staging: Staging,
    live: LiveTable,
    book: Mutex<Book>,
    observer: Option<Arc<dyn HeapObserver>>,
}

impl SymHeap {
    /// The smallest user heap: 64 KiB.
    pub const MIN_SIZE: u64 = config::MIN_HEAP_SIZE.bytes();
    /// The largest: 40 GiB.
    pub const MAX_SIZE: u64 = config::MAX_HEAP_SIZE.bytes();
    /// The default: 1 GiB, as in the reference. Only touched pages cost memory.
    pub const DEFAULT_SIZE: u64 = config::DEFAULT_HEAP_SIZE.bytes();

    /// Bytes that a region needs for a heap in which users have `user` bytes and the backend `backend` bytes
    /// (the latter for its own flags; see [`SymHeap::backend_area`]).
    #[must_use]
    pub fn region_len(n_pes: usize, user: u64, backend: u64) -> u64 {
        // What cannot be counted cannot be mapped either.
        let user = user.checked_next_multiple_of(allocator::GRANULE).unwrap_or(u64::MAX);
        Self::system_len(n_pes, backend).saturating_add(user)
    }

    fn system_len(n_pes: usize, backend: u64) -> u64 {
        let n_pes = n_pes as u64;
        let len = Self::staging_start(n_pes, backend).saturating_add(Staging::len(n_pes));
        len.checked_next_multiple_of(4096).unwrap_or(u64::MAX)
    }

    fn staging_start(n_pes: u64, backend: u64) -> u64 {
        n_pes.saturating_mul(RECORD).saturating_add(backend).checked_next_multiple_of(64).unwrap_or(u64::MAX)
    }

    /// A heap over `region` (zeroed, [`SymHeap::region_len`] bytes). `seed` is a number of the job, the same on all
    /// PEs, by which slices of other jobs are recognised.
    #[must_use]
    pub fn new(region: Region, my_pe: usize, n_pes: usize, backend: u64, seed: u32) -> Self {
        let system_len = Self::system_len(n_pes, backend);
        let allocator = Allocator::new(system_len, region.len() as u64);
        let (live, writer) = LiveTable::new(seed);
        let system = SymSlice::new(0, system_len, live.system());
        let staging = Staging::new(Self::staging_start(n_pes as u64, backend), n_pes as u64);
        Self {
            my_pe,
            region,
            system,
            staging,
            live,
            book: Mutex::new(Book::new(allocator, writer)),
            observer: None,
        }
    }

    /// The same heap, with `observer` told of every local access.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn HeapObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Where collectives keep what is under way.
    #[inline]
    pub(crate) fn staging(&self) -> &Staging {
        &self.staging
    }

    /// The bytes themselves, for backends. Everything that touches them goes through [`Region`]'s copies and atomics.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The part of the system area that the backend asked for, aligned to a cache line.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if there is none of that size.
    pub fn backend_area(&self, n_pes: usize, backend: u64) -> Result<SymSlice<u8>> {
        let start = n_pes * RECORD as usize;
        self.system.slice(start..start + backend as usize)
    }

    /// Checks that `slice` is of a live allocation of this heap. No lock, two loads.
    ///
    /// `op` and `operand` go into the error.
    ///
    /// # Errors
    ///
    /// [`Error::NotLive`], [`Error::OutOfRange`].
    #[inline]
    pub fn check<T: Pod>(
        &self,
        op: &'static str,
        operand: &'static str,
        slice: SymSlice<T>,
    ) -> Result<HeapRange> {
        let range = HeapRange { offset: slice.offset(), len: slice.byte_len() };
        let is_live = self.live.contains(slice.key());
        // A slice of another job may carry a key that lives here too. It must still not leave the memory.
        let end = range.offset.checked_add(range.len);
        if !is_live || end.is_none_or(|end| end > self.region.len() as u64) {
            return Err(self.refused(op, operand, range, is_live));
        }
        Ok(range)
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, op: &'static str, operand: &'static str, range: HeapRange, is_live: bool) -> Error {
        let (my_pe, HeapRange { offset, len }) = (self.my_pe, range);
        if is_live {
            Error::OutOfRange { op, my_pe, operand, offset, len, size: self.region.len() as u64 }
        } else {
            Error::NotLive { op, my_pe, operand, offset, len }
        }
    }

    /// Checks a single word of 64 bits as [`SymHeap::check`] does, and its alignment.
    ///
    /// # Errors
    ///
    /// As [`SymHeap::check`], and [`Error::Misaligned`]; [`Error::LengthMismatch`] if it is not one word.
    #[inline]
    pub fn check_word(
        &self,
        op: &'static str,
        operand: &'static str,
        word: SymSlice<u64>,
    ) -> Result<HeapRange> {
        let range = self.check(op, operand, word)?;
        if range.len != 8 {
            return Err(Error::LengthMismatch { op, my_pe: self.my_pe, dst: 8, src: range.len });
        }
        if range.offset % 8 != 0 {
            return Err(Error::Misaligned { op, my_pe: self.my_pe, offset: range.offset, align: 8 });
        }
        Ok(range)
    }
}
