//! The barrier that backends share: a dissemination in ceil(log2 n) rounds.
//!
//! In round k a PE sets flag k of its neighbour at distance 2^k to the number of the barrier, and waits until its own flag k
//! has that number. Each flag has one writer. The numbers only go up (and wrap), so nothing is ever reset, and a neighbour
//! that is already one barrier ahead is recognised.

use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Where a backend has the barrier's flags, and how it sets those of others.
pub trait BarrierFlags {
    /// Flag `round` of this PE, with what its writer had made visible before.
    fn flag(&self, round: u32) -> u32;

    /// Sets flag `round` of `neighbour` to `epoch`, after all puts from before the barrier are visible. False if that cannot
    /// be yet: it is asked again at the next look.
    fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool;

    /// This PE has entered barrier `epoch`; nothing of it has been sent.
    fn entered(&self, epoch: u32);

    /// This PE has sent all that it owes to barrier `epoch`, and heard all.
    fn finished(&self, epoch: u32);

    /// Another thread of this PE that waits for its turn can have it.
    fn turn_ended(&self);
}

/// Whether a counter has come to `epoch`, across the wrap: at most 2^31 barriers lie between two PEs (in truth, one).
#[must_use]
#[inline]
pub fn reached(counter: u32, epoch: u32) -> bool {
    counter.wrapping_sub(epoch) as i32 >= 0
}

/// Where this PE is in its barriers. Held by one caller at a time; a caller that gives up leaves it for the next.
#[derive(Debug)]
pub struct Dissemination {
    my_pe: usize,
    n_pes: usize,
    rounds: u32,
    /// Somebody is at it. The fields below are his.
    taken: AtomicBool,
    /// The number of the barrier that was entered last.
    epoch: AtomicU32,
    /// It is not finished.
    under_way: AtomicBool,
    /// The round that it is in.
    round: AtomicU32,
    /// The flag of that round has been sent.
    sent: AtomicBool,
}

/// The right to go on with the barrier, until dropped.
#[derive(Debug)]
pub struct BarrierTurn<'a, F: BarrierFlags> {
    barrier: &'a Dissemination,
    flags: &'a F,
}

impl Dissemination {
    /// For PE `my_pe` of `n_pes`, whose first barrier has the number after `first_epoch`.
    #[must_use]
    pub fn new(my_pe: usize, n_pes: usize, first_epoch: u32) -> Self {
        Self {
            my_pe,
            n_pes,
            rounds: Self::rounds(n_pes),
            taken: AtomicBool::new(false),
            epoch: AtomicU32::new(first_epoch),
            under_way: AtomicBool::new(false),
            round: AtomicU32::new(0),
            sent: AtomicBool::new(false),
        }
    }

    /// The same in one round, for flags that stand for a count that all add to: the one flag tells of all PEs. Where PEs share
    /// processors that is less work than to hear of each other in turn.
    #[must_use]
    pub fn counted(my_pe: usize, n_pes: usize, first_epoch: u32) -> Self {
        let several = u32::from(n_pes > 1);
        Self { rounds: several, ..Self::new(my_pe, n_pes, first_epoch) }
    }

    /// How many flags each of `n_pes` PEs has.
    #[must_use]
    #[inline]
    pub fn rounds(n_pes: usize) -> u32 {
        n_pes.next_power_of_two().trailing_zeros()
    }

    /// The right to go on, if nobody has it.
    #[inline]
    pub fn try_take<'a, F: BarrierFlags>(&'a self, flags: &'a F) -> Option<BarrierTurn<'a, F>> {
        let free = self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Not `then_some`: a turn that is made is given back when dropped.
        free.then(|| BarrierTurn { barrier: self, flags })
    }
}

impl<F: BarrierFlags> BarrierTurn<'_, F> {
    /// Whether a barrier was begun and not finished: then that one is resumed.
    #[must_use]
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.barrier.under_way.load(Ordering::Relaxed)
    }

    /// The number of the barrier that was entered last.
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.barrier.epoch.load(Ordering::Relaxed)
    }

    /// The PE whose flag is awaited, or will be.
    #[must_use]
    pub fn awaited(&self) -> usize {
        let b = self.barrier;
        let distance = (1_usize << b.round.load(Ordering::Relaxed)) % b.n_pes;
        (b.my_pe + b.n_pes - distance) % b.n_pes
    }

    /// Enters the next barrier, unless one is under way.
    #[inline]
    pub fn enter(&self) {
        let b = self.barrier;
        if self.is_under_way() {
            return;
        }
        let epoch = self.epoch().wrapping_add(1);
        b.epoch.store(epoch, Ordering::Relaxed);
        b.round.store(0, Ordering::Relaxed);
        b.sent.store(false, Ordering::Relaxed);
        b.under_way.store(true, Ordering::Relaxed);
        self.flags.entered(epoch);
    }

    /// Goes on as far as the others' flags allow; `Some` when the barrier is finished.
    #[inline]
    pub fn advance(&self) -> Option<()> {
        let b = self.barrier;
        let (epoch, rounds) = (self.epoch(), b.rounds);
        let mut round = b.round.load(Ordering::Relaxed);
        while round < rounds {
            if !b.sent.load(Ordering::Relaxed) {
                let neighbour = (b.my_pe + (1 << round)) % b.n_pes;
                if !self.flags.send(round, neighbour, epoch) {
                    return None;
                }
                b.sent.store(true, Ordering::Relaxed);
            }
            if !reached(self.flags.flag(round), epoch) {
                return None;
            }
            round += 1;
            b.round.store(round, Ordering::Relaxed);
            b.sent.store(false, Ordering::Relaxed);
        }
        b.under_way.store(false, Ordering::Relaxed);
        self.flags.finished(epoch);
        Some(())
    }
}

impl<F: BarrierFlags> Drop for BarrierTurn<'_, F> {
    #[inline]
    fn drop(&mut self) {
        self.barrier.taken.swap(false, Ordering::SeqCst);
        self.flags.turn_ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of all PEs; one of them is `pe`.
    struct Fake<'a> {
        all: &'a [Vec<AtomicU32>],
        pe: usize,
        /// Sends fail so often before they succeed.
        busy: AtomicU32,
    }

    impl BarrierFlags for Fake<'_> {
        fn flag(&self, round: u32) -> u32 {
            self.all[self.pe][round as usize].load(Ordering::Acquire)
        }
        fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool {
            if self.busy.load(Ordering::Relaxed) > 0 {
                self.busy.fetch_sub(1, Ordering::Relaxed);
                return false;
            }
            self.all[neighbour][round as usize].store(epoch, Ordering::Release);
            true
        }
        fn entered(&self, epoch: u32) {
            self.busy.store(epoch % 3, Ordering::Relaxed);
        }
        fn finished(&self, _: u32) {}
        fn turn_ended(&self) {}
    }

    fn flags(n_pes: usize, first_epoch: u32) -> Vec<Vec<AtomicU32>> {
        let rounds = Dissemination::rounds(n_pes) as usize;
        (0..n_pes).map(|_| (0..rounds).map(|_| AtomicU32::new(first_epoch)).collect()).collect()
    }

    #[test]
    fn there_are_as_many_rounds_as_it_takes() {
        let rounds = |n| Dissemination::rounds(n);
        assert_eq!([1, 2, 3, 4, 5, 8, 9, 64, 65].map(rounds), [0, 1, 2, 2, 3, 3, 4, 6, 7]);
    }

    #[test]
    fn a_turn_is_had_by_one_and_given_back_by_him_alone() {
        let all = flags(1, 0);
        let (fake, barrier) =
            (Fake { all: &all, pe: 0, busy: AtomicU32::new(0) }, Dissemination::new(0, 1, 0));
        let turn = barrier.try_take(&fake).unwrap();
        assert!(barrier.try_take(&fake).is_none());
        assert!(barrier.try_take(&fake).is_none(), "the failed attempt gave back the turn of another");
        drop(turn);
        assert!(barrier.try_take(&fake).is_some());
    }

    /// One thread plays all PEs in many orders, over the wrap: nobody leaves before all have entered, everybody leaves
    /// once all have.
    #[test]
    fn nobody_leaves_before_all_have_entered() {
        for n_pes in [1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 130] {
            let first = u32::MAX - 3;
            let all = flags(n_pes, first);
            let fakes: Vec<_> =
                (0..n_pes).map(|pe| Fake { all: &all, pe, busy: AtomicU32::new(0) }).collect();
            let barriers: Vec<_> = (0..n_pes).map(|pe| Dissemination::new(pe, n_pes, first)).collect();
            for epoch in 0..8_usize {
                // Another order each time, every PE once.
                let mut order: Vec<usize> = (0..n_pes).collect();
                order.sort_by_key(|pe| (pe * 7919 + epoch * 31) % 131);
                let last = order.pop().unwrap();
                for &pe in &order {
                    let turn = barriers[pe].try_take(&fakes[pe]).unwrap();
                    turn.enter();
                    assert_eq!(turn.advance(), None, "PE {pe} of {n_pes} left without PE {last}");
                }
                let mut waiting: Vec<usize> = order.into_iter().chain([last]).collect();
                for _ in 0..=4 * n_pes {
                    waiting.retain(|&pe| {
                        let turn = barriers[pe].try_take(&fakes[pe]).unwrap();
                        turn.enter();
                        assert!(turn.awaited() < n_pes);
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
