//! Barriers: all that entered one is before all that leaves it.

use std::collections::BTreeMap;

use super::clock::Clock;

/// What all that entered a barrier knew.
#[derive(Debug)]
struct Barrier {
    clock: Clock,
    left: usize,
}

/// The barriers under way, by number.
#[derive(Debug, Default)]
pub(super) struct Barriers {
    open: BTreeMap<u32, Barrier>,
}

impl Barriers {
    /// A PE that knows `clock`, its own steps and operations included, has entered.
    pub(super) fn entered(&mut self, epoch: u32, clock: Clock) {
        match self.open.get_mut(&epoch) {
            Some(barrier) => barrier.clock.join(&clock),
            None => drop(self.open.insert(epoch, Barrier { clock, left: 0 })),
        }
    }

    /// One of `n_pes` has left, and learns what those that have entered knew.
    pub(super) fn left(&mut self, epoch: u32, n_pes: usize, clock: &mut Clock) {
        let Some(barrier) = self.open.get_mut(&epoch) else { return };
        clock.join(&barrier.clock);
        barrier.left += 1;
        if barrier.left >= n_pes {
            self.open.remove(&epoch);
        }
    }
}
