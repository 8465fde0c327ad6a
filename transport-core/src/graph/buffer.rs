//! Memory of the device and pinned memory of the host.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use super::error::{GraphError, Result};
use super::operand::MemorySpace;
use crate::error::Error;
use crate::memory::Region;

/// Which memory a [`Buffer`] is of.
pub trait BufferSpace: 'static {
    /// The space as a value.
    const SPACE: MemorySpace;
    /// The buffer's name in errors.
    const NAME: &'static str;
}

/// Marks a [`DeviceBuffer`].
#[derive(Debug, Clone, Copy)]
pub enum Device {}

/// Marks a [`HostBuffer`].
#[derive(Debug, Clone, Copy)]
pub enum Pinned {}

impl BufferSpace for Device {
    const SPACE: MemorySpace = MemorySpace::Device;
    const NAME: &'static str = "DeviceBuffer";
}

impl BufferSpace for Pinned {
    const SPACE: MemorySpace = MemorySpace::Host;
    const NAME: &'static str = "HostBuffer";
}

/// Private memory of the device: `len` elements of type `T`. The host stream's device is the host, so it is host
/// memory.
///
/// See [`Buffer`] for what it can do.
///
/// ```
/// use std::sync::Arc;
/// use transport_core::Transport;
/// use transport_core::graph::{DeviceBuffer, GraphError, Stream, kernels};
///
/// fn job<X: Transport>(pe: Arc<X>) -> Result<Vec<i32>, GraphError> {
///     let a = DeviceBuffer::from_slice(&[1, 2, 3, 4])?;
///     let sum = DeviceBuffer::<i32>::zeroed(4)?;
///     let stream = Stream::create(pe)?;
///     stream.launch_kernel(kernels::vector_add(&sum, &a, &a))?;
///     // The last two elements of the sum replace the first two of `a`.
///     stream.memcpy_async(a.slice(..2)?, sum.slice(2..)?)?;
///     stream.synchronize()?;
///     assert_eq!(sum.read_vec(), [2, 4, 6, 8]);
///     Ok(a.read_vec())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pes = transport_loopback::Threads::new(2).heap_size(1 << 20).start()?;
/// for pe in pes {
///     assert_eq!(job(Arc::new(pe))?, [6, 8, 3, 4]);
/// }
/// # Ok(()) }
/// ```
pub type DeviceBuffer<T> = Buffer<T, Device>;

/// Pinned memory of the host, the end of asynchronous copies from and to the device: `len` elements of type `T`.
///
/// See [`Buffer`] for what it can do.
pub type HostBuffer<T> = Buffer<T, Pinned>;

/// `len` elements of type `T` that streams may read and write while the program looks at them.
///
/// It is a handle: a clone, a [`slice`](Self::slice) and a graph that uses it share the memory and keep it alive. As a
/// stream may write at any time there is never a `&[T]` into it; [`write`](Self::write) and [`read`](Self::read) copy,
/// at once and on the calling thread. They are not ordered with a stream's work:
/// [`synchronize`](super::Stream::synchronize) before.
pub struct Buffer<T, S> {
    region: Region,
    /// First element, in bytes from the region's start.
    offset: u64,
    /// Elements.
    len: usize,
    _element: PhantomData<fn() -> (T, S)>,
}

impl<T: Pod, S: BufferSpace> Buffer<T, S> {
    /// `len` elements, all bytes 0.
    ///
    /// # Errors
    ///
    /// [`GraphError::NoMemory`].
    pub fn zeroed(len: usize) -> Result<Self> {
        let no_memory = GraphError::NoMemory { op: S::NAME, len: len as u64, size: size_of::<T>() as u64 };
        let Some(bytes) = len.checked_mul(size_of::<T>()) else { return Err(no_memory) };
        // `Region::zeroed` ends the program when there is no memory. So ask first; untouched, it costs nothing.
        let room =
            bytes.checked_add(128).is_some_and(|room| Vec::<u8>::new().try_reserve_exact(room).is_ok());
        if !room {
            return Err(no_memory);
        }
        Ok(Self { region: Region::zeroed(bytes), offset: 0, len, _element: PhantomData })
    }

    /// The elements of `data`.
    ///
    /// # Errors
    ///
    /// [`GraphError::NoMemory`].
    pub fn from_slice(data: &[T]) -> Result<Self> {
        let new = Self::zeroed(data.len())?;
        new.write(data)?;
        Ok(new)
    }

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

    /// The elements of `range`, of the same memory.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if the range leaves this buffer or ends before it starts.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            let (start, end, len) = (start as u64, end as u64, self.len as u64);
            return Err(Error::BadSlice { op: S::NAME, start, end, len }.into());
        }
        let offset = self.offset + (start * size_of::<T>()) as u64;
        Ok(Self { region: self.region.clone(), offset, len: end - start, _element: PhantomData })
    }

    /// Copies `data` in, at once.
    ///
    /// # Errors
    ///
    /// [`GraphError::BufferLength`].
    pub fn write(&self, data: &[T]) -> Result<()> {
        self.same_len(data.len())?;
        self.region.write(self.offset, bytemuck::cast_slice(data));
        Ok(())
    }

    /// Sets every element to `value`, at once.
    pub fn fill(&self, value: T) {
        let each = size_of::<T>() as u64;
        for index in 0..self.len as u64 {
            self.region.write(self.offset + index * each, bytemuck::bytes_of(&value));
        }
    }

    /// Copies all elements out into `data`, at once.
    ///
    /// # Errors
    ///
    /// [`GraphError::BufferLength`].
    pub fn read(&self, data: &mut [T]) -> Result<()> {
        self.same_len(data.len())?;
        self.region.read(self.offset, bytemuck::cast_slice_mut(data));
        Ok(())
    }

    /// All elements, as of now.
    #[must_use]
    pub fn read_vec(&self) -> Vec<T> {
        let mut data = vec![T::zeroed(); self.len];
        self.region.read(self.offset, bytemuck::cast_slice_mut(&mut data));
        data
    }

    fn same_len(&self, data: usize) -> Result<()> {
        if data == self.len {
            return Ok(());
        }
        Err(GraphError::BufferLength { op: S::NAME, buffer: self.len as u64, data: data as u64 })
    }

    /// The memory, and where in it this buffer begins (bytes).
    pub(super) fn memory(&self) -> (&Region, u64) {
        (&self.region, self.offset)
    }
}

// By hand, since a derive would ask the same of `T` and `S`.
impl<T, S> Clone for Buffer<T, S> {
    fn clone(&self) -> Self {
        Self { region: self.region.clone(), offset: self.offset, len: self.len, _element: PhantomData }
    }
}

impl<T, S: BufferSpace> fmt::Debug for Buffer<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>({} at {})", S::NAME, std::any::type_name::<T>(), self.len, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_the_memory_and_stay_inside() {
        let all = DeviceBuffer::from_slice(&[1_u16, 2, 3, 4, 5]).unwrap();
        let part = all.slice(1..=3).unwrap();
        part.slice(2..).unwrap().write(&[9]).unwrap();
        assert_eq!(all.read_vec(), [1, 2, 3, 9, 5]);
        part.fill(7);
        assert_eq!(all.read_vec(), [1, 7, 7, 7, 5]);
        assert!(part.slice(5..5).unwrap_err().to_string().contains("5..5 is no part of the 3"));
        #[expect(clippy::reversed_empty_ranges)]
        let reversed = part.slice(2..1);
        assert!(reversed.is_err());
        assert!(part.slice(..=usize::MAX).is_err());
    }

    #[test]
    fn lengths_are_checked_and_nothing_is_a_length() {
        let empty = HostBuffer::<u64>::zeroed(0).unwrap();
        assert!(empty.is_empty() && empty.read_vec().is_empty());
        empty.write(&[]).unwrap();
        let error = empty.write(&[1]).unwrap_err().to_string();
        assert!(error.starts_with("HostBuffer: the buffer holds 0 elements, the data 1"), "{error}");
        assert!(empty.read(&mut [0]).is_err());
    }

    #[test]
    fn what_does_not_fit_into_memory_is_an_error() {
        for len in [usize::MAX, usize::MAX / 8, 1 << 58] {
            let error = DeviceBuffer::<u64>::zeroed(len).unwrap_err().to_string();
            assert!(error.contains("no memory for"), "{error}");
        }
    }
}
