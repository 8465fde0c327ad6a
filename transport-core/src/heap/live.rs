//! Which allocations are live, readable by every put without a lock.

use crate::sync::atomic::{AtomicU32, Ordering};

/// Names one allocation for ever: a place in the table and the generation that it held then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AllocKey {
    slot: u32,
    generation: u32,
}

/// The place of the system area, which is live from the start.
const SYSTEM_SLOT: u32 = 0;

/// A table of generations. A slot holds 0 when free, or else the generation of its allocation.
#[derive(Debug)]
pub(super) struct LiveTable {
    slots: Box<[AtomicU32]>,
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
    /// As many allocations as can be live at once. The table is virtual until used.
    pub(super) const LIMIT: usize = if cfg!(shmem_loom) { 4 } else { 1 << 16 };

    pub(super) fn new(seed: u32) -> (Self, LiveWriter) {
        let slots = zeroed_atomics(Self::LIMIT);
        let generation = seed.max(1);
        slots[SYSTEM_SLOT as usize].store(generation, Ordering::Relaxed);
        let system = AllocKey { slot: SYSTEM_SLOT, generation };
        (Self { slots, system }, LiveWriter { generation, fresh: SYSTEM_SLOT + 1, free: Vec::new() })
    }

    /// The key of the system area.
    pub(super) fn system(&self) -> AllocKey {
        self.system
    }

    /// Whether what `key` names is live.
    #[inline]
    pub(super) fn contains(&self, key: AllocKey) -> bool {
        self.slots.get(key.slot as usize).is_some_and(|slot| slot.load(Ordering::Relaxed) == key.generation)
    }

    /// A key for a new allocation; `None` when the table is full.
    pub(super) fn insert(&self, writer: &mut LiveWriter) -> Option<AllocKey> {
        let slot = writer.free.pop().or_else(|| {
            let fresh = writer.fresh;
            writer.fresh += u32::from((fresh as usize) < self.slots.len());
            ((fresh as usize) < self.slots.len()).then_some(fresh)
        })?;
        writer.generation = writer.generation.checked_add(1).unwrap_or(1);
        self.slots[slot as usize].store(writer.generation, Ordering::Relaxed);
        Some(AllocKey { slot, generation: writer.generation })
    }

    /// Ends the allocation that `key` names; false if it was not live.
    pub(super) fn remove(&self, writer: &mut LiveWriter, key: AllocKey) -> bool {
        if key == self.system || !self.contains(key) {
            return false;
        }
        self.slots[key.slot as usize].store(0, Ordering::Relaxed);
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
        assert!(table.remove(&mut writer, keys[9]) && table.insert(&mut writer).is_some());
    }
}

#[cfg(all(test, shmem_loom))]
#[path = "live_loom.rs"]
mod loom_models;
