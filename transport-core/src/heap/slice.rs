//! `SymSlice`: a typed range of the symmetric heap, the same on every PE.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use super::live::AllocKey;
use crate::error::{Error, Result};

/// `len` elements of type `T` at the same offset of every PE's symmetric heap.
///
/// It is a name, not memory: `Copy`, and valid on any PE. The call that takes it says whose copy is meant.
/// It comes from a collective `alloc` ([`Transport::alloc`](crate::Transport::alloc)) and can be cut into
/// parts, which never leave their allocation. After `free` it names nothing, and each call that gets it
/// answers [`Error::NotLive`].
///
/// ```
/// # use transport_core::{Transport, wait::block_on};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pe = transport_loopback::Threads::new(1).heap_size(1 << 20).start()?.remove(0);
/// let all = block_on(pe.alloc::<u32>(12))?;
/// let third = all.slice(4..8)?;
/// pe.heap().write(third, &[1, 2, 3, 4])?;
/// assert_eq!(pe.heap().read_vec(all.slice(3..6)?)?, [0, 1, 2]);
/// assert!(all.slice(8..13).is_err());
/// # Ok(()) }
/// ```
pub struct SymSlice<T> {
    offset: u64,
    len: u64,
    key: AllocKey,
    _element: PhantomData<fn() -> T>,
}

impl<T: Pod> SymSlice<T> {
    /// The caller vouches that the range lies in the allocation that `key` names, aligned for `T`.
    pub(super) fn new(offset: u64, len: u64, key: AllocKey) -> Self {
        Self { offset, len, key, _element: PhantomData }
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes from the start of the heap to its first element.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Its bytes.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.len * size_of::<T>() as u64
    }

    pub(super) fn key(&self) -> AllocKey {
        self.key
    }

    /// The elements of `range`.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if the range leaves this slice or ends before it starts.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start as u64,
            Bound::Excluded(&before) => (before as u64).saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => (last as u64).saturating_add(1),
            Bound::Excluded(&end) => end as u64,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            return Err(Error::BadSlice { op: "SymSlice::slice", start, end, len: self.len });
        }
        Ok(Self::new(self.offset + start * size_of::<T>() as u64, end - start, self.key))
    }

    /// Part `index` of `parts` equal parts, e.g. a PE's slice of a gathered buffer.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if the length is no multiple of `parts`, or `index` is not below `parts`.
    pub fn part(&self, index: usize, parts: usize) -> Result<Self> {
        if parts == 0 || index >= parts || !self.len().is_multiple_of(parts) {
            let (start, end) = (index as u64, parts as u64);
            return Err(Error::BadSlice { op: "SymSlice::part", start, end, len: self.len });
        }
        let each = self.len() / parts;
        self.slice(index * each..(index + 1) * each)
    }

    /// The same bytes as bytes.
    #[must_use]
    pub fn bytes(&self) -> SymSlice<u8> {
        SymSlice::new(self.offset, self.byte_len(), self.key)
    }

    /// The same bytes as elements of another type.
    ///
    /// # Errors
    ///
    /// [`Error::BadCast`] if the bytes are no whole number of `U`, or the start is not aligned for `U`.
    pub fn cast<U: Pod>(&self) -> Result<SymSlice<U>> {
        let (bytes, each, align) = (self.byte_len(), size_of::<U>() as u64, align_of::<U>() as u64);
        if each == 0 || !bytes.is_multiple_of(each) || !self.offset.is_multiple_of(align) {
            return Err(Error::BadCast { offset: self.offset, bytes, size: each });
        }
        Ok(SymSlice::new(self.offset, bytes / each, self.key))
    }
}

// By hand, since derives would ask the same of `T`.
impl<T> Clone for SymSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SymSlice<T> {}

impl<T> PartialEq for SymSlice<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.offset, self.len, self.key) == (other.offset, other.len, other.key)
    }
}

impl<T> Eq for SymSlice<T> {}

impl<T> Hash for SymSlice<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.offset, self.len, self.key).hash(state);
    }
}

impl<T> fmt::Debug for SymSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SymSlice<{}>({} at {})", std::any::type_name::<T>(), self.len, self.offset)
    }
}
