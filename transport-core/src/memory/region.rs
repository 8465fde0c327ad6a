//! A range of mapped bytes with a keeper, accessed only by shared copies and atomics.

#[cfg(not(shmem_loom))]
use super::shared_copy::{copy_shared, copy_to_shared};
use crate::sync::atomic::Ordering;
#[cfg(not(shmem_loom))]
use crate::sync::atomic::{AtomicU32, AtomicU64};
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// The bytes of one PE's heap as this process maps them, kept alive by whatever maps them.
///
/// Offsets count from the region's start. Out-of-range offsets are the crate's own mistakes (user ranges are
/// checked before, with a proper error), so they panic.
#[derive(Clone)]
pub struct Region {
    base: NonNull<u8>,
    len: usize,
    _keeper: Arc<dyn Any + Send + Sync>,
    #[cfg(shmem_loom)]
    pub(super) words: super::modelled::Words,
}

// SAFETY: the bytes are only ever touched by `copy_shared` and atomics, both of which allow any number of
// threads; the keeper, which is Send and Sync, keeps them mapped.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Wraps `len` bytes at `base`.
    ///
    /// # Safety
    ///
    /// The bytes must be mapped, initialised, readable and writable for as long as `keeper` lives, and nobody
    /// may hold a reference (`&`, `&mut`) into them other than to atomics.
    #[must_use]
    pub unsafe fn new(base: NonNull<u8>, len: usize, keeper: Arc<dyn Any + Send + Sync>) -> Self {
        assert_eq!(base.as_ptr() as usize % 64, 0, "a region starts on a cache line");
        Self {
            base,
            len,
            _keeper: keeper,
            #[cfg(shmem_loom)]
            words: super::modelled::Words::new(),
        }
    }

    /// Zeroed private memory of this process, for device buffers and tests.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        /// Owns the boxed words by pointer, so that no reference to them exists while they are in use.
        struct Words(*mut [u64]);
        // SAFETY: the pointer is only used to free the box, once.
        unsafe impl Send for Words {}
        // SAFETY: as above.
        unsafe impl Sync for Words {}
        impl Drop for Words {
            fn drop(&mut self) {
                // SAFETY: it came from `Box::into_raw` and is freed nowhere else.
                drop(unsafe { Box::from_raw(self.0) });
            }
        }
        // Aligned by hand: an allocator that is asked for more than its own alignment clears the pages itself, and so
        // touches all of them.
        let words = len.div_ceil(8) + 64 / 8;
        let keeper = Arc::new(Words(Box::into_raw(bytemuck::allocation::zeroed_slice_box(words))));
        let start = keeper.0.cast::<u8>();
        // SAFETY: the words hold `len` bytes after the at most 63 that are skipped.
        let start = unsafe { start.add(start.align_offset(64)) };
        // SAFETY: a box is not at null, nor is what follows its start.
        let base = unsafe { NonNull::new_unchecked(start) };
        // SAFETY: the keeper owns `len` or more zeroed bytes at `base` and holds no reference to them.
        unsafe { Self::new(base, len, keeper) }
    }

    /// Bytes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// `len` bytes from `offset` (a multiple of 64) as a region of their own, which keeps the whole alive.
    #[must_use]
    pub fn part(&self, offset: u64, len: u64) -> Self {
        let base = self.at(offset, len);
        assert_eq!(base as usize % 64, 0, "a region starts on a cache line");
        // SAFETY: `at` gives a pointer into the region, which is not null.
        let base = unsafe { NonNull::new_unchecked(base) };
        Self {
            base,
            len: len as usize,
            _keeper: Arc::clone(&self._keeper),
            #[cfg(shmem_loom)]
            words: self.words.part(offset),
        }
    }

    /// Pointer to the byte at `offset`, with `len` bytes after it inside of the region.
    #[inline]
    #[must_use]
    pub fn at(&self, offset: u64, len: u64) -> *mut u8 {
        if offset.checked_add(len).is_none_or(|end| end > self.len as u64) {
            leaves(offset, len, self.len);
        }
        // SAFETY: `offset <= self.len`, inside of (or one past) the mapped bytes.
        unsafe { self.base.as_ptr().add(offset as usize) }
    }

    /// Sets `len` bytes from `offset` to `byte`.
    pub fn fill(&self, offset: u64, len: u64, byte: u8) {
        let block = [byte; 4096];
        let mut at = 0;
        while at < len {
            let step = (len - at).min(block.len() as u64);
            self.write(offset + at, &block[..step as usize]);
            at += step;
        }
    }

    /// Reads the word at `offset` with acquire order.
    #[must_use]
    pub fn load(&self, offset: u64) -> u64 {
        self.word(offset).load(Ordering::Acquire)
    }
}

// Apart, so that nothing is made ready for them where all is well.

#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a mistake of the caller, as an index out of bounds")]
fn leaves(offset: u64, len: u64, size: usize) -> ! {
    panic!("offset {offset} + {len} bytes leaves a region of {size} bytes");
}

#[cfg(not(shmem_loom))]
#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a mistake of the caller, as an index out of bounds")]
fn misaligned(offset: u64, boundary: u64) -> ! {
    panic!("a word at {offset} is not on a boundary of {boundary}");
}

/// The accesses. In a build with `--cfg shmem_loom`, `modelled` has them.
#[cfg(not(shmem_loom))]
impl Region {
    /// Copies `data` in at `offset`.
    #[inline]
    pub fn write(&self, offset: u64, data: &[u8]) {
        let dst = self.at(offset, data.len() as u64);
        // SAFETY: `at` checked the destination; `data` is a live slice, and private, so they cannot overlap.
        unsafe { copy_to_shared(dst, data) };
    }

    /// Copies out `data.len()` bytes from `offset`.
    #[inline]
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        let src = self.at(offset, data.len() as u64);
        // SAFETY: `at` checked the source; `data` is a live exclusive slice, so they cannot overlap.
        unsafe { copy_shared(data.as_mut_ptr(), src, data.len()) };
    }

    /// Copies `len` bytes from `src_offset` of `src` to `dst_offset` here, which must not overlap (unless
    /// they are the same bytes: then nothing is done).
    #[inline]
    pub fn copy_from(&self, dst_offset: u64, src: &Region, src_offset: u64, len: u64) {
        let to = self.at(dst_offset, len);
        let from = src.at(src_offset, len);
        if to.cast_const() != from {
            // SAFETY: `at` checked both ranges. If they overlap, bytes come out mixed, but each access is
            // within its range.
            unsafe { copy_shared(to, from, len as usize) };
        }
    }

    /// The word of 64 bits at `offset`, which must be a multiple of 8.
    #[inline]
    #[must_use]
    pub fn word(&self, offset: u64) -> &AtomicU64 {
        if !offset.is_multiple_of(8) {
            misaligned(offset, 8);
        }
        // SAFETY: inside of the region, aligned (the base is), and only atomics and shared copies touch it.
        unsafe { &*self.at(offset, 8).cast::<AtomicU64>() }
    }

    /// The word of 32 bits at `offset`, which must be a multiple of 4.
    #[inline]
    #[must_use]
    pub fn word32(&self, offset: u64) -> &AtomicU32 {
        if !offset.is_multiple_of(4) {
            misaligned(offset, 4);
        }
        // SAFETY: as for `word`.
        unsafe { &*self.at(offset, 4).cast::<AtomicU32>() }
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region").field("base", &self.base).field("len", &self.len).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_read_back_and_words_see_them() {
        let region = Region::zeroed(4096);
        region.write(8, &0x0102_0304_0506_0708_u64.to_ne_bytes());
        assert_eq!(region.load(8), 0x0102_0304_0506_0708);
        region.fill(100, 3000, 7);
        let mut bytes = [0; 3002];
        region.read(99, &mut bytes);
        assert_eq!((bytes[0], bytes[1], bytes[3000], bytes[3001]), (0, 7, 7, 0));
    }

    #[test]
    #[should_panic(expected = "leaves a region")]
    fn an_offset_outside_is_refused() {
        let _ = Region::zeroed(64).at(u64::MAX, 2);
    }
}
