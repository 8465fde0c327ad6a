//! The barrier's state of one PE: a dissemination in ceil(log2 n) rounds.
//!
//! In round k a PE sets flag k of its neighbour at distance 2^k to the number of the barrier, and waits until its own flag k
//! has that number. Each flag has one writer. The numbers only go up (and wrap), so nothing is ever reset, and a neighbour
//! that is already one barrier ahead is recognised.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::job_memory::JobMemory;

/// Where this PE is in its barriers. Held by one caller at a time; a caller that gives up leaves it for the next.
#[derive(Debug)]
pub(crate) struct Barrier {
    my_pe: usize,
    n_pes: usize,
    rounds: u32,
    /// Somebody is at it. The fields below are his.
    taken: AtomicBool,
    /// The number of the barrier that was entered last.
    epoch: AtomicU32,
    /// It is not finished.
    under_way: AtomicBool,
    /// The round that it is in, whose flag has been sent.
    round: AtomicU32,
}

/// The right to go on with the barrier, until dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    barrier: &'a Barrier,
    memory: &'a JobMemory,
}

impl Barrier {
    pub(crate) fn new(my_pe: usize, n_pes: usize, first_epoch: u32) -> Self {
        Self {
            my_pe,
            n_pes,
            rounds: n_pes.next_power_of_two().trailing_zeros(),
            taken: AtomicBool::new(false),
            epoch: AtomicU32::new(first_epoch),
            under_way: AtomicBool::new(false),
            round: AtomicU32::new(0),
        }
    }

    /// The right to go on, if nobody has it.
    #[inline]
    pub(crate) fn try_take<'a>(&'a self, memory: &'a JobMemory) -> Option<Turn<'a>> {
        let free = self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Not `then_some`: a turn that is made is given back when dropped.
        free.then(|| Turn { barrier: self, memory })
    }
}

/// Whether a counter has come to `epoch`, across the wrap: at most 2^31 barriers lie between two PEs (in truth, one).
fn reached(counter: u32, epoch: u32) -> bool {
    counter.wrapping_sub(epoch) as i32 >= 0
}

impl Turn<'_> {
    /// Whether a barrier was begun and not finished: then that one is resumed.
    #[inline]
    pub(crate) fn is_under_way(&self) -> bool {
        self.barrier.under_way.load(Ordering::Relaxed)
    }

    /// Enters the next barrier, unless one is under way.
    #[inline]
    pub(crate) fn enter(&self) {
        let b = self.barrier;
        if self.is_under_way() {
            return;
        }
        let epoch = b.epoch.load(Ordering::Relaxed).wrapping_add(1);
        b.epoch.store(epoch, Ordering::Relaxed);
        b.round.store(0, Ordering::Relaxed);
        b.under_way.store(true, Ordering::Relaxed);
        self.memory.entered(b.my_pe).store(epoch, Ordering::Relaxed);
        if b.rounds > 0 {
            self.send(0, epoch);
        } else {
            JobMemory::full_fence();
        }
    }

    /// Goes on as far as the others' flags allow; `Some` when the barrier is finished.
    #[inline]
    pub(crate) fn advance(&self) -> Option<()> {
        let b = self.barrier;
        let epoch = b.epoch.load(Ordering::Relaxed);
        let mut round = b.round.load(Ordering::Relaxed);
        while round < b.rounds {
            if !reached(self.memory.flag(b.my_pe, round).load(Ordering::Acquire), epoch) {
                return None;
            }
            round += 1;
            if round < b.rounds {
                self.send(round, epoch);
            }
            b.round.store(round, Ordering::Relaxed);
        }
        b.under_way.store(false, Ordering::Relaxed);
        // After all flags of ours, as seen by whoever acquires it.
        self.memory.finished(b.my_pe).store(epoch, Ordering::Release);
        Some(())
    }

    /// Whether `pe` has sent all its flags of this barrier, so that it finishes even if `pe` is gone.
    pub(crate) fn is_done(&self, pe: usize) -> bool {
        let epoch = self.barrier.epoch.load(Ordering::Relaxed);
        reached(self.memory.finished(pe).load(Ordering::Acquire), epoch)
    }

    /// The PEs that have not entered; if all have, the one whose flag is awaited.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let b = self.barrier;
        let epoch = b.epoch.load(Ordering::Relaxed);
        let absent = |&pe: &usize| !reached(self.memory.entered(pe).load(Ordering::Relaxed), epoch);
        let missing: Vec<usize> = (0..b.n_pes).filter(absent).collect();
        if missing.is_empty() {
            let distance = (1_usize << b.round.load(Ordering::Relaxed)) % b.n_pes;
            return vec![(b.my_pe + b.n_pes - distance) % b.n_pes];
        }
        missing
    }

    /// Sets the flag of the neighbour of `round`. The swap is a full fence too: all puts before it are visible before it
    /// (the `quiet` in the barrier), and it is visible before we look whether the neighbour sleeps.
    #[inline]
    fn send(&self, round: u32, epoch: u32) {
        let b = self.barrier;
        let neighbour = (b.my_pe + (1 << round)) % b.n_pes;
        self.memory.flag(neighbour, round).swap(epoch, Ordering::SeqCst);
        #[cfg(not(target_arch = "x86_64"))]
        JobMemory::full_fence();
        self.memory.wake(neighbour);
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.barrier.taken.swap(false, Ordering::SeqCst);
        // For another thread of this PE that waits for its turn.
        self.memory.wake(self.barrier.my_pe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys;

    fn job(n_pes: usize, first_epoch: u32) -> (JobMemory, Vec<Barrier>) {
        let len = JobMemory::len(n_pes, 65536).unwrap();
        let memory = JobMemory::new(sys::private_memory(len as usize).unwrap(), n_pes, 65536);
        memory.set_first_epoch(first_epoch);
        let barriers = (0..n_pes).map(|pe| Barrier::new(pe, n_pes, first_epoch)).collect();
        (memory, barriers)
    }

    #[test]
    fn a_turn_is_had_by_one_and_given_back_by_him_alone() {
        let (memory, barriers) = job(1, 0);
        let turn = barriers[0].try_take(&memory).unwrap();
        assert!(barriers[0].try_take(&memory).is_none());
        assert!(barriers[0].try_take(&memory).is_none(), "the failed attempt gave back the turn of another");
        drop(turn);
        assert!(barriers[0].try_take(&memory).is_some());
    }

    /// One thread plays all PEs in many orders, over the wrap: nobody leaves before all have entered, everybody leaves
    /// once all have.
    #[test]
    fn nobody_leaves_before_all_have_entered() {
        for n_pes in [1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 130] {
            let (memory, barriers) = job(n_pes, u32::MAX - 3);
            for epoch in 0..8_usize {
                // Another order each time, every PE once.
                let order = |turn: usize| (0..n_pes).map(move |i| (i * 7919 + turn * 31 + epoch) % n_pes);
                let mut order: Vec<usize> = order(epoch).collect();
                order.sort_unstable();
                order.dedup();
                order.rotate_left(epoch * 5 % n_pes.max(1));
                let last = order.pop().unwrap();
                for &pe in &order {
                    let turn = barriers[pe].try_take(&memory).unwrap();
                    turn.enter();
                    assert_eq!(turn.advance(), None, "PE {pe} of {n_pes} left without PE {last}");
                    assert!(turn.missing().contains(&last));
                }
                let mut waiting: Vec<usize> = order.into_iter().chain([last]).collect();
                for _ in 0..=n_pes {
                    waiting.retain(|&pe| {
                        let turn = barriers[pe].try_take(&memory).unwrap();
                        turn.enter();
                        turn.advance().is_none()
                    });
                    if waiting.is_empty() {
                        break;
                    }
                }
                assert!(waiting.is_empty(), "{waiting:?} of {n_pes} are stuck");
            }
        }
    }
}
