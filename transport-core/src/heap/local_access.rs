//! What a PE itself reads and writes of its own part of the heap: by copy, and told to who observes it.

use std::panic::Location;

use bytemuck::Pod;

use super::{HeapObserver, SymHeap, SymSlice};
use crate::error::{Error, Result};

impl SymHeap {
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

    fn same_len(&self, op: &'static str, dst: u64, src: u64) -> Result<()> {
        if dst == src { Ok(()) } else { Err(Error::LengthMismatch { op, my_pe: self.my_pe, dst, src }) }
    }
}
