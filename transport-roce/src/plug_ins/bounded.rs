//! Reads a file's tables, but no more of them than a shared object has: their sizes are the file's word.

use std::cell::Cell;
use std::io::{Read, Seek};
use std::ops::Range;

use object::read::{ReadCache, ReadRef};

/// How much is read of one file in all. The tables of the largest libraries have some tens of millions of bytes.
pub(super) const MOST: u64 = 128 << 20;
/// What a short read costs besides its bytes.
const EACH: u64 = 64;

/// What may still be read.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<u64>,
    exceeded: Cell<bool>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left: Cell::new(MOST), exceeded: Cell::new(false) }
    }

    /// Whether something was not read because it was too much.
    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.get()
    }

    fn take(&self, bytes: u64) -> Result<(), ()> {
        let left = self.left.get().checked_sub(bytes.saturating_add(EACH));
        self.exceeded.set(self.exceeded.get() || left.is_none());
        self.left.set(left.ok_or(())?);
        Ok(())
    }
}

/// A file that is read within a budget.
#[derive(Debug)]
pub(super) struct Bounded<'a, R: Read + Seek> {
    cache: &'a ReadCache<R>,
    budget: &'a Budget,
}

impl<'a, R: Read + Seek> Bounded<'a, R> {
    pub(super) fn new(cache: &'a ReadCache<R>, budget: &'a Budget) -> Self {
        Self { cache, budget }
    }
}

impl<R: Read + Seek> Clone for Bounded<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Read + Seek> Copy for Bounded<'_, R> {}

impl<'a, R: Read + Seek> ReadRef<'a> for Bounded<'a, R> {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        // What is not there at all is another fault.
        if offset.saturating_add(size) <= self.cache.len()? {
            self.budget.take(size)?;
        }
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let found = self.cache.read_bytes_at_until(range, delimiter)?;
        self.budget.take(found.len() as u64)?;
        Ok(found)
    }
}
