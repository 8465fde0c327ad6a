//! The words of a region in a build with `--cfg shmem_loom`: each is an atomic of loom, beside the bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::region::Region;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The words of a region and its parts. A word begins as 0 when first named, which a model does before it starts threads.
#[derive(Clone)]
pub(super) struct Words {
    start: u64,
    table: Arc<Table>,
}

#[derive(Default)]
struct Table {
    wide: Mutex<BTreeMap<u64, Arc<AtomicU64>>>,
    narrow: Mutex<BTreeMap<u64, Arc<AtomicU32>>>,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { start: 0, table: Arc::default() }
    }

    pub(super) fn part(&self, offset: u64) -> Self {
        Self { start: self.start + offset, table: Arc::clone(&self.table) }
    }

    fn wide(&self, offset: u64) -> &AtomicU64 {
        let mut words = self.table.wide.lock().unwrap_or_else(PoisonError::into_inner);
        let word = Arc::as_ptr(words.entry(self.start + offset).or_default());
        // SAFETY: the table keeps the word as long as `self` keeps the table, and never moves it out of its `Arc`.
        unsafe { &*word }
    }

    fn narrow(&self, offset: u64) -> &AtomicU32 {
        let mut words = self.table.narrow.lock().unwrap_or_else(PoisonError::into_inner);
        let word = Arc::as_ptr(words.entry(self.start + offset).or_default());
        // SAFETY: as for `wide`.
        unsafe { &*word }
    }
}

/// The accesses, by whole words: relaxed, as the copies in `shared_copy` are.
impl Region {
    /// Copies `data` in at `offset`.
    pub fn write(&self, offset: u64, data: &[u8]) {
        for (at, word) in whole_words(data.len() as u64).zip(data.as_chunks().0) {
            self.word(offset + at).store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
    }

    /// Copies out `data.len()` bytes from `offset`.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        for (at, word) in whole_words(data.len() as u64).zip(data.as_chunks_mut().0) {
            *word = self.word(offset + at).load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    /// Copies `len` bytes from `src_offset` of `src` to `dst_offset` here.
    pub fn copy_from(&self, dst_offset: u64, src: &Region, src_offset: u64, len: u64) {
        for at in whole_words(len) {
            let value = src.word(src_offset + at).load(Ordering::Relaxed);
            self.word(dst_offset + at).store(value, Ordering::Relaxed);
        }
    }

    /// The word of 64 bits at `offset`.
    #[must_use]
    pub fn word(&self, offset: u64) -> &AtomicU64 {
        self.words.wide(offset)
    }

    /// The word of 32 bits at `offset`.
    #[must_use]
    pub fn word32(&self, offset: u64) -> &AtomicU32 {
        self.words.narrow(offset)
    }
}

fn whole_words(len: u64) -> impl Iterator<Item = u64> {
    assert_eq!(len % 8, 0, "a model copies whole words");
    (0..len).step_by(8)
}
