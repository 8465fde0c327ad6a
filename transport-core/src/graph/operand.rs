//! `Operand`: what copies and kernels read and write, wherever it is.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use bytemuck::Pod;

use super::buffer::{Buffer, BufferSpace};
use super::error::Result;
use crate::error::Error;
use crate::heap::{HeapObserver, SymHeap, SymSlice};
use crate::memory::Region;

/// Where memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemorySpace {
    /// Private memory of the device: [`DeviceBuffer`](super::DeviceBuffer).
    Device,
    /// Pinned memory of the host: [`HostBuffer`](super::HostBuffer).
    Host,
    /// This PE's part of the symmetric heap: [`SymSlice`].
    Symmetric,
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device",
            Self::Host => "host",
            Self::Symmetric => "symmetric",
        })
    }
}

/// `len` elements of type `T` of device, pinned host or symmetric memory (there: of this PE's own copy).
///
/// Made from any of the three by `From`, so that every call that takes `impl Into<Operand<T>>` takes them. Buffers are
/// kept alive by it; a symmetric allocation can be freed, which is found at each use.
pub struct Operand<T> {
    place: Place,
    len: usize,
    _element: PhantomData<fn() -> T>,
}

#[derive(Clone)]
enum Place {
    Buffer { space: MemorySpace, region: Region, offset: u64 },
    Symmetric(SymSlice<u8>),
}

/// Bytes of one memory, to compare operands by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteRange {
    /// The space, and for buffers which of them (by address).
    pub(super) memory: (MemorySpace, usize),
    pub(super) start: u64,
    pub(super) end: u64,
}

impl ByteRange {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.memory == other.memory && self.start.max(other.start) < self.end.min(other.end)
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        self.memory == other.memory && self.start <= other.start && other.end <= self.end
    }
}

impl<T: Pod> Operand<T> {
    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its bytes.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// Where it is.
    #[must_use]
    pub fn space(&self) -> MemorySpace {
        match &self.place {
            Place::Buffer { space, .. } => *space,
            Place::Symmetric(_) => MemorySpace::Symmetric,
        }
    }

    /// The same bytes as bytes.
    #[must_use]
    pub fn bytes(&self) -> Operand<u8> {
        Operand { place: self.place.clone(), len: self.len * size_of::<T>(), _element: PhantomData }
    }

    /// The memory itself; a symmetric slice is looked up in the heap's table of live allocations.
    #[inline]
    pub(super) fn view<'a>(
        &'a self,
        op: &'static str,
        role: &'static str,
        heap: &'a SymHeap,
    ) -> Result<View<'a, T>> {
        let (region, offset) = self.locate(op, role, heap)?;
        Ok(View { region, offset, len: self.len, observer: self.observer(heap), _element: PhantomData })
    }

    #[inline]
    fn locate<'a>(
        &'a self,
        op: &'static str,
        role: &'static str,
        heap: &'a SymHeap,
    ) -> Result<(&'a Region, u64)> {
        Ok(match &self.place {
            Place::Buffer { region, offset, .. } => (region, *offset),
            Place::Symmetric(slice) => (heap.region(), heap.check(op, role, *slice)?.offset()),
        })
    }

    /// Who is told of accesses to it.
    fn observer<'a>(&self, heap: &'a SymHeap) -> Option<&'a dyn HeapObserver> {
        heap.observer().filter(|_| matches!(self.place, Place::Symmetric(_)))
    }

    pub(super) fn range(&self) -> ByteRange {
        let (memory, start) = match &self.place {
            Place::Buffer { space, region, offset } => ((*space, region.at(0, 0) as usize), *offset),
            Place::Symmetric(slice) => ((MemorySpace::Symmetric, 0), slice.offset()),
        };
        ByteRange { memory, start, end: start + self.byte_len() }
    }

    /// Whether `other` holds some, but not just the same bytes: then what a copy gives depends on its order.
    pub(super) fn refuse_partial_overlap(&self, op: &'static str, my_pe: usize, source: &Self) -> Result<()> {
        let (dst, src) = (self.range(), source.range());
        if dst.overlaps(&src) && dst != src {
            return Err(
                Error::Overlap { op, my_pe, src: src.start, dst: dst.start, len: self.byte_len() }.into()
            );
        }
        Ok(())
    }

    pub(super) fn refuse_other_length(&self, op: &'static str, my_pe: usize, source: &Self) -> Result<()> {
        if self.len != source.len {
            let (dst, src) = (self.byte_len(), source.byte_len());
            return Err(Error::LengthMismatch { op, my_pe, dst, src }.into());
        }
        Ok(())
    }
}

impl Operand<u8> {
    /// The user's call, for errors.
    const COPY: &str = "memcpy_async";

    /// Copies `src`, which is as long and checked for overlap, here.
    #[inline]
    pub(super) fn copy_from(&self, src: &Self, heap: &SymHeap) -> Result<()> {
        let (to, to_offset) = self.locate(Self::COPY, "destination", heap)?;
        let (from, from_offset) = src.locate(Self::COPY, "source", heap)?;
        to.copy_from(to_offset, from, from_offset, self.len as u64);
        if heap.observer().is_some() {
            self.tell_of_copy(src, heap)?;
        }
        Ok(())
    }

    /// Apart from the copy itself, which is done much more often than anybody listens.
    #[cold]
    fn tell_of_copy(&self, src: &Self, heap: &SymHeap) -> Result<()> {
        let (from, to) = (src.view(Self::COPY, "source", heap)?, self.view(Self::COPY, "destination", heap)?);
        from.tell_read(from.offset, self.len as u64);
        to.tell_written(to.offset, self.len as u64);
        Ok(())
    }
}

/// An operand opened for one run of a kernel: it copies elements in and out.
///
/// There is no `&[T]` into it, since peers or other streams may write the same bytes. Copy a tile to private memory,
/// work there, copy it back.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    region: &'a Region,
    offset: u64,
    len: usize,
    /// Of the symmetric heap, if it has one.
    observer: Option<&'a dyn HeapObserver>,
    _element: PhantomData<fn() -> T>,
}

impl<T> View<'_, T> {
    #[track_caller]
    fn tell_read(&self, offset: u64, len: u64) {
        if let Some(observer) = self.observer {
            observer.read(offset, len, Location::caller());
        }
    }

    #[track_caller]
    fn tell_written(&self, offset: u64, len: u64) {
        if let Some(observer) = self.observer {
            observer.written(offset, len, Location::caller());
        }
    }
}

impl<T: Pod> View<'_, T> {
    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies out the `data.len()` elements from element `at` on.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if they leave the operand.
    #[inline]
    #[track_caller]
    pub fn read(&self, at: usize, data: &mut [T]) -> Result<()> {
        let offset = self.byte_at(at, data.len())?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(data);
        self.region.read(offset, bytes);
        self.tell_read(offset, bytes.len() as u64);
        Ok(())
    }

    /// Copies `data` in, from element `at` on.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if it leaves the operand.
    #[inline]
    #[track_caller]
    pub fn write(&self, at: usize, data: &[T]) -> Result<()> {
        let offset = self.byte_at(at, data.len())?;
        let bytes: &[u8] = bytemuck::cast_slice(data);
        self.region.write(offset, bytes);
        self.tell_written(offset, bytes.len() as u64);
        Ok(())
    }

    #[inline]
    fn byte_at(&self, at: usize, len: usize) -> Result<u64> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            let (start, end) = (at as u64, (at as u64).saturating_add(len as u64));
            return Err(Error::BadSlice { op: "kernel", start, end, len: self.len as u64 }.into());
        }
        Ok(self.offset + (at * size_of::<T>()) as u64)
    }
}

impl<T: Pod, S: BufferSpace> From<&Buffer<T, S>> for Operand<T> {
    fn from(buffer: &Buffer<T, S>) -> Self {
        let (region, offset) = buffer.memory();
        let place = Place::Buffer { space: S::SPACE, region: region.clone(), offset };
        Self { place, len: buffer.len(), _element: PhantomData }
    }
}

impl<T: Pod, S: BufferSpace> From<Buffer<T, S>> for Operand<T> {
    fn from(buffer: Buffer<T, S>) -> Self {
        Self::from(&buffer)
    }
}

impl<T: Pod> From<SymSlice<T>> for Operand<T> {
    fn from(slice: SymSlice<T>) -> Self {
        Self { place: Place::Symmetric(slice.bytes()), len: slice.len(), _element: PhantomData }
    }
}

impl<T: Pod> From<&SymSlice<T>> for Operand<T> {
    fn from(slice: &SymSlice<T>) -> Self {
        Self::from(*slice)
    }
}

// By hand, since a derive would ask the same of `T`.
impl<T> Clone for Operand<T> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), len: self.len, _element: PhantomData }
    }
}

impl<T: Pod> fmt::Debug for Operand<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (space, start) = (self.space(), self.range().start);
        write!(f, "Operand<{}>({space}, {} at {start})", std::any::type_name::<T>(), self.len)
    }
}
