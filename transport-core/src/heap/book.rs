//! The book of what is allocated in a heap. All PEs keep the same, since they allocate together.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use super::allocator::{Allocator, MAX_ALIGN};
use super::live::{LiveTable, LiveWriter};
use super::{SymHeap, SymSlice};
use crate::error::{Error, Result};

/// How full a heap is, in bytes unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapStats {
    /// What users can allocate in all.
    pub size: u64,
    /// Allocated now, rounding included.
    pub used: u64,
    /// Not allocated.
    pub free: u64,
    /// The largest free piece.
    pub largest_free: u64,
    /// The most that was ever allocated at once.
    pub peak: u64,
    /// Allocations now (a number).
    pub allocations: usize,
}

/// The book itself.
#[derive(Debug)]
pub(super) struct Book {
    allocator: Allocator,
    writer: LiveWriter,
    /// The bytes that were asked for, by offset: what `free` must be given again.
    asked: BTreeMap<u64, u64>,
}

impl Book {
    /// Of a heap in which nothing is allocated.
    pub(super) fn new(allocator: Allocator, writer: LiveWriter) -> Self {
        Self { allocator, writer, asked: BTreeMap::new() }
    }
}

impl SymHeap {
    /// Sizes and counts as of now.
    #[must_use]
    pub fn stats(&self) -> HeapStats {
        let book = self.book();
        let a = &book.allocator;
        HeapStats {
            size: a.size(),
            used: a.used_bytes(),
            free: a.free_bytes(),
            largest_free: a.largest(),
            peak: a.peak(),
            allocations: a.allocations(),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // The book is changed in steps that cannot panic half way.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds room on this PE. All PEs do so at the same point, and get the same answer.
    pub(super) fn alloc_local(&self, bytes: u64, align: u64) -> Result<SymSlice<u8>> {
        let my_pe = self.my_pe;
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return Err(Error::BadAlignment { my_pe, align, max: MAX_ALIGN });
        }
        let mut book = self.book();
        let a = &mut book.allocator;
        let rounded = Allocator::rounded(bytes);
        let Some(offset) = rounded.and_then(|rounded| a.alloc(rounded, align)) else {
            let (free, largest, size) = (a.free_bytes(), a.largest(), a.size());
            let asked = rounded.unwrap_or(bytes);
            return Err(Error::HeapFull { my_pe, asked, align, free, largest, size });
        };
        let Some(key) = self.live.insert(&mut book.writer) else {
            book.allocator.free(offset);
            return Err(Error::TooManyAllocations { my_pe, limit: LiveTable::LIMIT - 1 });
        };
        book.asked.insert(offset, bytes);
        Ok(SymSlice::new(offset, bytes, key))
    }

    /// Ends the allocation that `slice` is.
    pub(super) fn free_local(&self, slice: SymSlice<u8>) -> bool {
        let mut book = self.book();
        if !self.live.remove(&mut book.writer, slice.key()) {
            return false;
        }
        book.asked.remove(&slice.offset());
        book.allocator.free(slice.offset())
    }

    /// Whether `slice` is all of a live allocation, so that it can be freed.
    pub(super) fn is_allocation(&self, slice: SymSlice<u8>) -> bool {
        self.live.contains(slice.key()) && self.book().asked.get(&slice.offset()) == Some(&slice.byte_len())
    }

    /// A number that differs when two PEs have allocated differently.
    pub(super) fn digest(&self) -> u64 {
        let book = self.book();
        book.allocator.digest() ^ book.writer.digest().rotate_left(32)
    }
}
