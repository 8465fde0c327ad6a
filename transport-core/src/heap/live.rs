//! Which allocations are live, readable by every put without a lock.

use std::sync::OnceLock;

use crate::sync::atomic::{AtomicU32, Ordering};

/// Names one allocation for ever: a place in the table and the generation that it held then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AllocKey {
    slot: u32,
    generation: u32,
}

/// The place of the system area, which is live from the start.
const SYSTEM_SLOT: u32 = 0;

/// Slots that are there from the start: most jobs need no more, and a simulation has thousands of tables.
const NEAR: usize = if cfg!(shmem_loom) { 4 } else { 64 };

/// A table of generations. A slot holds 0 when free, or else the generation of its allocation.
#[derive(Debug)]
pub(super) struct LiveTable {
    near: [AtomicU32; NEAR],
    /// The slots behind those, since the first of them was used.
    far: OnceLock<Box<[AtomicU32]>>,
    system: AllocKey,
}

/// The writing half, behind the allocator's lock.
#[derive(Debug)]
pub(super) struct LiveWriter {
    /// The generation given last. It starts from a number of the job, so that a slice of another job is
    /// recognised, and wraps after 2^32 allocations.
    generation: u32,
    /// Slots from here on were never used.
    fresh: u32,
    /// Slots that were, and are free again.
    free: Vec<u32>,
}

impl LiveTable {
    /// As many allocations as can be live at once.
    pub(super) const LIMIT: usize = if cfg!(shmem_loom) { NEAR } else { 1 << 16 };

    pub(super) fn new(seed: u32) -> (Self, LiveWriter) {
        let near = std::array::from_fn(|_| AtomicU32::new(0));
        let generation = seed.max(1);
        near[SYSTEM_SLOT as usize].store(generation, Ordering::Relaxed);
        let system = AllocKey { slot: SYSTEM_SLOT, generation };
        let table = Self { near, far: OnceLock::new(), system };
        (table, LiveWriter { generation, fresh: SYSTEM_SLOT + 1, free: Vec::new() })
    }

    /// The key of the system area.
    pub(super) fn system(&self) -> AllocKey {
        self.system
    }

    /// A slot; none if none so far has been used there.
    #[inline]
    fn slot(&self, at: u32) -> Option<&AtomicU32> {
        self.near.get(at as usize).or_else(|| self.far_slot(at))
    }

    /// Apart from what most puts look at.
    #[cold]
    #[inline(never)]
    fn far_slot(&self, at: u32) -> Option<&AtomicU32> {
        self.far.get()?.get(at as usize - NEAR)
    }

    /// Whether what `key` names is live.
    #[inline]
    pub(super) fn contains(&self, key: AllocKey) -> bool {
        self.slot(key.slot).is_some_and(|slot| slot.load(Ordering::Relaxed) == key.generation)
    }

    /// A key for a new allocation; `None` when the table is full.
    pub(super) fn insert(&self, writer: &mut LiveWriter) -> Option<AllocKey> {
        let at = writer.free.pop().or_else(|| {
            let fresh = writer.fresh;
            writer.fresh += u32::from((fresh as usize) < Self::LIMIT);
            ((fresh as usize) < Self::LIMIT).then_some(fresh)
        })?;
        if at as usize >= NEAR {
            self.far.get_or_init(|| zeroed_atomics(Self::LIMIT - NEAR));
        }
        writer.generation = writer.generation.checked_add(1).unwrap_or(1);
        self.slot(at)?.store(writer.generation, Ordering::Relaxed);
        Some(AllocKey { slot: at, generation: writer.generation })
    }

    /// Ends the allocation that `key` names; false if it was not live.
    pub(super) fn remove(&self, writer: &mut LiveWriter, key: AllocKey) -> bool {
        let Some(slot) = self.slot(key.slot).filter(|_| key != self.system && self.contains(key)) else {
            return false;
        };
        slot.store(0, Ordering::Relaxed);
        writer.free.push(key.slot);
        true
    }
}

impl LiveWriter {
    /// A number that differs when two PEs' histories of allocations differ.
    pub(super) fn digest(&self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.fresh) << 12 ^ self.free.len() as u64
    }
}

/// `vec![0; n]` asks for zeroed pages; a loop over `AtomicU32::new(0)` would touch them all.
#[cfg(not(shmem_loom))]
fn zeroed_atomics(n: usize) -> Box<[AtomicU32]> {
    let raw = Box::into_raw(vec![0_u32; n].into_boxed_slice()) as *mut [AtomicU32];
    // SAFETY: `AtomicU32` has the size, alignment and bit validity of `u32`; the box is given up just above.
    unsafe { Box::from_raw(raw) }
}

#[cfg(shmem_loom)]
fn zeroed_atomics(n: usize) -> Box<[AtomicU32]> {
    (0..n).map(|_| AtomicU32::new(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_dies_with_its_allocation_even_if_the_slot_lives_again() {
        let (table, mut writer) = LiveTable::new(7);
        let first = table.insert(&mut writer).unwrap();
        assert!(table.contains(first));
        assert!(table.remove(&mut writer, first));
        assert!(!table.contains(first) && !table.remove(&mut writer, first));
        let second = table.insert(&mut writer).unwrap();
        assert_eq!(first.slot, second.slot);
        assert!(table.contains(second) && !table.contains(first));
    }

    #[test]
    fn generations_wrap_over_the_free_mark() {
        let (table, mut writer) = LiveTable::new(u32::MAX - 1);
        let keys: Vec<_> = (0..4).map(|_| table.insert(&mut writer).unwrap()).collect();
        assert!(keys.iter().all(|key| key.generation != 0 && table.contains(*key)));
    }

    #[test]
    fn a_full_table_says_so_and_the_system_area_cannot_be_freed() {
        let (table, mut writer) = LiveTable::new(0);
        let keys: Vec<_> = std::iter::from_fn(|| table.insert(&mut writer)).collect();
        assert_eq!(keys.len(), LiveTable::LIMIT - 1);
        assert!(table.insert(&mut writer).is_none());
        assert!(!table.remove(&mut writer, table.system()));
        assert!(keys.iter().all(|key| table.contains(*key)));
        for key in [keys[9], keys[NEAR - 2], keys[NEAR - 1], keys[LiveTable::LIMIT - 2]] {
            assert!(table.remove(&mut writer, key) && !table.contains(key));
            let again = table.insert(&mut writer).unwrap();
            assert!(again.slot == key.slot && table.contains(again) && !table.contains(key));
        }
    }

    #[test]
    fn a_key_of_a_job_with_more_allocations_is_not_live() {
        let (many, mut writer) = LiveTable::new(7);
        let key = (0..2 * NEAR).map(|_| many.insert(&mut writer).unwrap()).next_back().unwrap();
        let (few, mut writer) = LiveTable::new(7);
        assert!(many.contains(key) && !few.contains(key) && !few.remove(&mut writer, key));
    }
}

#[cfg(all(test, shmem_loom))]
#[path = "live_loom.rs"]
mod loom_models;
