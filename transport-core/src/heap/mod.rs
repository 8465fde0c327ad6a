//! The symmetric heap: one region a PE, the same offsets everywhere.

mod agreement;
mod allocator;
mod live;
mod observer;
mod slice;
mod staging;

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;

pub use observer::HeapObserver;
pub use slice::SymSlice;

pub(crate) use agreement::{agree_on_all_gather, alloc, free};
pub(crate) use staging::{Epoch, PeerWord, Staging};

use crate::config;
use crate::error::{Error, Result};
use crate::memory::Region;
use allocator::{Allocator, MAX_ALIGN};
use live::{LiveTable, LiveWriter};

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

#[derive(Debug)]
struct Book {
    allocator: Allocator,
    writer: LiveWriter,
    /// The bytes that were asked for, by offset: what `free` must be given again.
    asked: BTreeMap<u64, u64>,
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
            book: Mutex::new(Book { allocator, writer, asked: BTreeMap::new() }),
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

    /// Copies between two places of this PE's part, which are in it and do not overlap.
    #[inline]
    #[track_caller]
    pub(crate) fn copy_within(&self, dst: u64, src: u64, len: u64) {
        self.region.copy_from(dst, &self.region, src, len);
        if let Some(observer) = &self.observer {
            observer.read(src, len, Location::caller());
            observer.written(dst, len, Location::caller());
        }
    }

    /// Sets a word of the staging.
    #[track_caller]
    pub(crate) fn write_word(&self, offset: u64, value: u64) {
        self.write_bytes(offset, &value.to_ne_bytes());
    }

    /// Writes bytes of this PE's part, which are in it.
    #[track_caller]
    pub(crate) fn write_bytes(&self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.region.write(offset, bytes);
        if let Some(observer) = &self.observer {
            observer.written(offset, bytes.len() as u64, Location::caller());
        }
    }

    /// Copies bytes of this PE's part, which are in it.
    #[track_caller]
    pub(crate) fn read_bytes(&self, offset: u64, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        self.region.read(offset, bytes);
        if let Some(observer) = &self.observer {
            observer.read(offset, bytes.len() as u64, Location::caller());
        }
    }

    /// Reads a word of the staging with acquire order, as one that waits for it.
    #[track_caller]
    pub(crate) fn load_word(&self, offset: u64) -> u64 {
        let word = self.region.load(offset);
        if let Some(observer) = &self.observer {
            observer.loaded(offset, Location::caller());
        }
        word
    }

    /// Reads a word of the staging, which a peer has put as data.
    #[track_caller]
    pub(crate) fn read_word(&self, offset: u64) -> u64 {
        let mut bytes = [0; 8];
        self.read_bytes(offset, &mut bytes);
        u64::from_ne_bytes(bytes)
    }

    /// For the graph's nodes, which reach the bytes by themselves.
    #[inline]
    pub(crate) fn observer(&self) -> Option<&dyn HeapObserver> {
        self.observer.as_deref()
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

    /// Copies `data` into this PE's own copy of `dst`.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`], [`Error::NotLive`].
    #[track_caller]
    pub fn write<T: Pod>(&self, dst: SymSlice<T>, data: &[T]) -> Result<()> {
        let range = self.check("heap write", "destination", dst)?;
        let bytes: &[u8] = bytemuck::cast_slice(data);
        self.same_len("heap write", range.len, bytes.len() as u64)?;
        self.region.write(range.offset, bytes);
        if let Some(observer) = &self.observer {
            observer.written(range.offset, range.len, Location::caller());
        }
        Ok(())
    }

    /// Copies this PE's own copy of `src` into `data`.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`], [`Error::NotLive`].
    #[track_caller]
    pub fn read<T: Pod>(&self, src: SymSlice<T>, data: &mut [T]) -> Result<()> {
        let range = self.check("heap read", "source", src)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(data);
        self.same_len("heap read", bytes.len() as u64, range.len)?;
        self.region.read(range.offset, bytes);
        if let Some(observer) = &self.observer {
            observer.read(range.offset, range.len, Location::caller());
        }
        Ok(())
    }

    /// This PE's own copy of `src`, as a vector.
    ///
    /// # Errors
    ///
    /// [`Error::NotLive`].
    #[track_caller]
    pub fn read_vec<T: Pod>(&self, src: SymSlice<T>) -> Result<Vec<T>> {
        self.check("heap read", "source", src)?;
        let mut data = vec![T::zeroed(); src.len()];
        self.read(src, &mut data)?;
        Ok(data)
    }

    /// Sets every element of this PE's own copy of `dst` to `value`.
    ///
    /// # Errors
    ///
    /// [`Error::NotLive`].
    #[track_caller]
    pub fn fill<T: Pod>(&self, dst: SymSlice<T>, value: T) -> Result<()> {
        self.check("heap fill", "destination", dst)?;
        let each = size_of::<T>().max(1);
        let block = vec![value; (4096 / each).clamp(1, dst.len().max(1))];
        let mut at = 0;
        while at < dst.len() {
            let step = block.len().min(dst.len() - at);
            self.write(dst.slice(at..at + step)?, &block[..step])?;
            at += step;
        }
        Ok(())
    }

    /// Reads a word of this PE's own copy with acquire order: what its writer had made visible before is seen after.
    ///
    /// # Errors
    ///
    /// As [`SymHeap::check_word`].
    #[track_caller]
    pub fn load(&self, word: SymSlice<u64>) -> Result<u64> {
        let range = self.check_word("heap load", "word", word)?;
        if let Some(observer) = &self.observer {
            observer.loaded(range.offset, Location::caller());
        }
        Ok(self.region.load(range.offset))
    }

    /// Pointer to this PE's own copy of `slice`, for kernels and foreign code.
    ///
    /// # Errors
    ///
    /// [`Error::NotLive`].
    ///
    /// # Safety
    ///
    /// Peers may write the bytes at any time: until the protocol in use says that nobody does, access them with
    /// atomics only and make no reference from the pointer. It is valid until the allocation is freed or the
    /// transport is dropped.
    pub unsafe fn as_ptr<T: Pod>(&self, slice: SymSlice<T>) -> Result<*mut T> {
        let range = self.check("heap pointer", "slice", slice)?;
        Ok(self.region.at(range.offset, range.len).cast())
    }

    fn same_len(&self, op: &'static str, dst: u64, src: u64) -> Result<()> {
        if dst == src { Ok(()) } else { Err(Error::LengthMismatch { op, my_pe: self.my_pe, dst, src }) }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // The book is changed in steps that cannot panic half way.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds room on this PE. All PEs do so at the same point, and get the same answer.
    fn alloc_local(&self, bytes: u64, align: u64) -> Result<SymSlice<u8>> {
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
    fn free_local(&self, slice: SymSlice<u8>) -> bool {
        let mut book = self.book();
        if !self.live.remove(&mut book.writer, slice.key()) {
            return false;
        }
        book.asked.remove(&slice.offset());
        book.allocator.free(slice.offset())
    }

    /// Whether `slice` is all of a live allocation, so that it can be freed.
    fn is_allocation(&self, slice: SymSlice<u8>) -> bool {
        self.live.contains(slice.key()) && self.book().asked.get(&slice.offset()) == Some(&slice.byte_len())
    }

    /// A number that differs when two PEs have allocated differently.
    fn digest(&self) -> u64 {
        let book = self.book();
        book.allocator.digest() ^ book.writer.digest().rotate_left(32)
    }
}
