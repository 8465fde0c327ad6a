//! The barrier's flags in the shared memory.

use transport_core::transport::{BarrierFlags, BarrierTurn, Dissemination, reached};

use crate::job_memory::JobMemory;
use crate::sync::atomic::Ordering;

/// The flags of the whole job, as PE `my_pe` uses them.
#[derive(Debug)]
pub(crate) struct SharedFlags {
    pub(crate) memory: JobMemory,
    pub(crate) my_pe: usize,
    pub(crate) n_pes: usize,
    /// Where all count in one word.
    pub(crate) counted: Option<Counted>,
}

/// The barrier that this PE has counted itself in for, last.
#[derive(Debug)]
pub(crate) struct Counted {
    // Only whoever has the turn uses them.
    epoch: std::sync::atomic::AtomicU32,
    /// The count when all have come to it: worked out once, since a division takes longer than a look.
    complete_at: std::sync::atomic::AtomicU64,
}

impl Counted {
    /// Before the first, whose number comes after `first_epoch`.
    pub(crate) fn new(first_epoch: u32) -> Self {
        Self { epoch: first_epoch.into(), complete_at: 0.into() }
    }
}

impl BarrierFlags for SharedFlags {
    /// A count tells of the barrier that this PE is in, and of no later one.
    #[inline]
    fn flag(&self, round: u32) -> u32 {
        match &self.counted {
            None => self.memory.flag(self.my_pe, round).load(Ordering::Acquire),
            Some(counted) => {
                let complete_at = counted.complete_at.load(Ordering::Relaxed);
                let is_complete = self.memory.arrived().load(Ordering::Acquire) >= complete_at;
                counted.epoch.load(Ordering::Relaxed).wrapping_sub(u32::from(!is_complete))
            }
        }
    }

    /// All puts before it are visible before it (the `quiet` in the barrier), and it is visible before we look whether the
    /// neighbour sleeps.
    #[inline]
    fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool {
        let Some(counted) = &self.counted else {
            // A full fence too, before the look whether it sleeps. A plain store, with the fence left to who goes to sleep
            // (membarrier), was measured: 2 PEs took half as long again, since the store stays behind while we look.
            self.memory.flag(neighbour, round).swap(epoch, Ordering::SeqCst);
            self.memory.wake_after_change(neighbour);
            return true;
        };
        // One for each PE and barrier, so all of a barrier have counted before anybody counts in the next.
        let before = self.memory.arrived().fetch_add(1, Ordering::SeqCst);
        let n_pes = self.n_pes as u64;
        let complete_at = before - before % n_pes + n_pes;
        counted.complete_at.store(complete_at, Ordering::Relaxed);
        counted.epoch.store(epoch, Ordering::Relaxed);
        if before + 1 == complete_at {
            JobMemory::full_fence();
            (0..self.n_pes).filter(|&pe| pe != self.my_pe).for_each(|pe| self.memory.wake(pe));
        }
        true
    }

    #[inline]
    fn entered(&self, epoch: u32) {
        self.memory.entered(self.my_pe).store(epoch, Ordering::Relaxed);
        if self.n_pes == 1 {
            JobMemory::full_fence();
        }
    }

    /// After all flags of ours, as seen by whoever acquires it.
    #[inline]
    fn finished(&self, epoch: u32) {
        self.memory.finished(self.my_pe).store(epoch, Ordering::Release);
    }

    /// The turn was given back by a swap.
    #[inline]
    fn turn_ended(&self) {
        self.memory.wake_after_change(self.my_pe);
    }
}

impl SharedFlags {
    /// The barrier over these flags, of which `first_epoch` is the number before the first.
    pub(crate) fn barrier(&self, first_epoch: u32) -> Dissemination {
        let new = if self.counted.is_some() { Dissemination::counted } else { Dissemination::new };
        new(self.my_pe, self.n_pes, first_epoch)
    }

    /// Whether the barrier under way finishes even if `pe` is gone: it has sent all its flags, or all have been counted.
    ///
    /// That `pe` alone has been counted is not enough. Who hears of its end before it enters never will, and then nobody would
    /// tell those who wait.
    pub(crate) fn is_done(&self, turn: &BarrierTurn<'_, Self>, pe: usize) -> bool {
        let all_counted = || self.counted.is_some() && reached(self.flag(0), turn.epoch());
        reached(self.memory.finished(pe).load(Ordering::Acquire), turn.epoch()) || all_counted()
    }

    /// The PEs that have not entered; if all have, the one whose flag is awaited.
    pub(crate) fn missing(&self, turn: &BarrierTurn<'_, Self>) -> Vec<usize> {
        let absent = |&pe: &usize| !reached(self.memory.entered(pe).load(Ordering::Relaxed), turn.epoch());
        let missing: Vec<usize> = (0..self.n_pes).filter(absent).collect();
        if missing.is_empty() { vec![turn.awaited()] } else { missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport_core::memory::Region;

    #[test]
    fn who_has_not_entered_is_missing_and_who_has_finished_is_not_needed() {
        by_flags(false);
        by_flags(true);
    }

    fn by_flags(is_counted: bool) {
        let n_pes = 5;
        let len = JobMemory::len(n_pes, 65536).unwrap();
        let memory = JobMemory::new(Region::map_private(len as usize).unwrap(), n_pes, 65536);
        memory.set_first_epoch(u32::MAX);
        let flags: Vec<_> = (0..n_pes)
            .map(|my_pe| {
                let counted = is_counted.then(|| Counted::new(u32::MAX));
                SharedFlags { memory: memory.clone(), my_pe, n_pes, counted }
            })
            .collect();
        let barriers: Vec<_> = flags.iter().map(|flags| flags.barrier(u32::MAX)).collect();
        let turn = |pe: usize| barriers[pe].try_take(&flags[pe]).unwrap();
        for pe in [0, 2, 4] {
            turn(pe).enter();
            assert_eq!(turn(pe).advance(), None);
        }
        let first = turn(0);
        assert_eq!(flags[0].missing(&first), [1, 3]);
        // Who has sent a flag may owe another; who has been counted is not all.
        assert!(!flags[0].is_done(&first, 4) && !flags[0].is_done(&first, 3));
        drop(first);
        let mut waiting: Vec<usize> = (0..n_pes).collect();
        while !waiting.is_empty() {
            waiting.retain(|&pe| {
                let turn = turn(pe);
                turn.enter();
                turn.advance().is_none()
            });
        }
        assert!(flags[0].is_done(&turn(0), 4));
    }
}
