//! Where allocations lie: a pure, deterministic best-fit allocator over offsets.
//!
//! Every PE runs the same calls on its own copy and so gets the same offsets.

use std::collections::{BTreeMap, BTreeSet};

/// Offsets and sizes are multiples of a cache line, so that no two allocations share one.
pub(super) const GRANULE: u64 = 64;

/// The largest alignment that can be asked for.
pub(super) const MAX_ALIGN: u64 = 1 << 30;

#[derive(Debug)]
pub(super) struct Allocator {
    start: u64,
    size: u64,
    /// Free pieces by offset, and the same by size.
    free: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    /// Live pieces by offset.
    used: BTreeMap<u64, u64>,
    free_bytes: u64,
    peak: u64,
}

impl Allocator {
    /// Over the bytes `start..end`; both are rounded inwards to whole granules.
    pub(super) fn new(start: u64, end: u64) -> Self {
        let start = start.next_multiple_of(GRANULE);
        let size = (end / GRANULE * GRANULE).saturating_sub(start);
        let mut new = Self {
            start,
            size,
            free: BTreeMap::new(),
            by_size: BTreeSet::new(),
            used: BTreeMap::new(),
            free_bytes: 0,
            peak: 0,
        };
        if size > 0 {
            new.add_free(start, size);
        }
        new
    }

    /// What an allocation of `bytes` takes: at least one granule, since each has a place of its own.
    /// `None` if that is more than can be counted.
    pub(super) fn rounded(bytes: u64) -> Option<u64> {
        bytes.max(1).checked_next_multiple_of(GRANULE)
    }

    /// The offset of `bytes` free bytes (a multiple of the granule) aligned to `align` (a power of two), from the
    /// smallest piece that holds them; `None` if there is none.
    pub(super) fn alloc(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let align = align.max(GRANULE);
        let (offset, len, at) = self.by_size.range((bytes, 0)..).find_map(|&(len, offset)| {
            let at = offset.checked_next_multiple_of(align)?;
            (at.checked_add(bytes)? <= offset + len).then_some((offset, len, at))
        })?;
        self.take_free(offset, len);
        if at > offset {
            self.add_free(offset, at - offset);
        }
        let (end, piece_end) = (at + bytes, offset + len);
        if piece_end > end {
            self.add_free(end, piece_end - end);
        }
        self.used.insert(at, bytes);
        self.peak = self.peak.max(self.used_bytes());
        Some(at)
    }

    /// Gives back the allocation at `offset`; false if none starts there.
    pub(super) fn free(&mut self, offset: u64) -> bool {
        let Some(mut len) = self.used.remove(&offset) else { return false };
        let mut start = offset;
        if let Some((&before, &before_len)) = self.free.range(..offset).next_back()
            && before + before_len == offset
        {
            self.take_free(before, before_len);
            start = before;
            len += before_len;
        }
        if let Some(&after_len) = self.free.get(&(start + len)) {
            self.take_free(start + len, after_len);
            len += after_len;
        }
        self.add_free(start, len);
        true
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.size - self.free_bytes
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak
    }

    pub(super) fn largest(&self) -> u64 {
        self.by_size.last().map_or(0, |&(len, _)| len)
    }

    pub(super) fn allocations(&self) -> usize {
        self.used.len()
    }

    /// A number that differs when the layouts of two PEs differ.
    pub(super) fn digest(&self) -> u64 {
        let mut digest = self.start ^ self.size.rotate_left(17);
        for (offset, len) in self.used.iter().next_back().into_iter().chain(self.free.iter().next()) {
            digest =
                (digest.rotate_left(23) ^ offset ^ len.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        digest ^ (self.used.len() as u64) << 40 ^ self.free_bytes
    }

    fn add_free(&mut self, offset: u64, len: u64) {
        self.free.insert(offset, len);
        self.by_size.insert((len, offset));
        self.free_bytes += len;
    }

    fn take_free(&mut self, offset: u64, len: u64) {
        self.free.remove(&offset);
        self.by_size.remove(&(len, offset));
        self.free_bytes -= len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Alloc { bytes: u64, align: u32 },
        Free(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..5000_u64, 0..13_u32).prop_map(|(bytes, align)| Step::Alloc { bytes, align }),
            2 => any::<usize>().prop_map(Step::Free),
        ]
    }

    proptest! {
        /// Pieces never overlap, cover all, are coalesced, and counts agree; the same steps give the same
        /// offsets; when all is freed, one piece is left.
        #[test]
        fn invariants_hold(start in 0..1000_u64, size in 0..100_000_u64, steps in prop::collection::vec(step(), 0..200)) {
            let mut a = Allocator::new(start, start + size);
            let mut twin = Allocator::new(start, start + size);
            let mut live = Vec::new();
            for step in steps {
                match step {
                    Step::Alloc { bytes, align } => {
                        let (bytes, align) = (Allocator::rounded(bytes).unwrap(), 1 << align);
                        let largest = a.largest();
                        let got = a.alloc(bytes, align);
                        prop_assert_eq!(got, twin.alloc(bytes, align));
                        match got {
                            Some(at) => { prop_assert!(at % align == 0); live.push(at); }
                            None => prop_assert!(largest < bytes + align),
                        }
                    }
                    Step::Free(which) if !live.is_empty() => {
                        let at = live.swap_remove(which % live.len());
                        prop_assert!(a.free(at) && twin.free(at));
                        prop_assert!(!a.free(at));
                    }
                    Step::Free(_) => {}
                }
                let mut pieces: Vec<(u64, u64, bool)> = a.free.iter().map(|(&o, &l)| (o, l, true))
                    .chain(a.used.iter().map(|(&o, &l)| (o, l, false))).collect();
                pieces.sort_unstable();
                let mut at = a.start;
                let mut was_free = false;
                for (offset, len, free) in pieces {
                    prop_assert_eq!(offset, at);
                    prop_assert!(len > 0 && !(free && was_free));
                    (at, was_free) = (offset + len, free);
                }
                prop_assert_eq!(at, a.start + a.size);
                prop_assert_eq!(a.free_bytes, a.free.values().sum::<u64>());
                prop_assert_eq!(a.by_size.len(), a.free.len());
                prop_assert_eq!(a.digest(), twin.digest());
            }
            for at in live { prop_assert!(a.free(at)); }
            prop_assert_eq!(a.largest(), a.size);
        }
    }

    #[test]
    fn sizes_at_the_edge_of_u64_do_not_wrap() {
        let mut a = Allocator::new(0, 1 << 40);
        assert_eq!(Allocator::rounded(u64::MAX), None);
        assert_eq!(a.alloc(1 << 63, 64), None);
        assert_eq!(a.alloc(Allocator::rounded((1 << 33) + 1).unwrap(), MAX_ALIGN), Some(0));
        assert_eq!(a.alloc(64, 64), Some((1 << 33) + 64));
    }
}
