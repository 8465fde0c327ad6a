//! The barrier's flags, which travel as messages of the network.

use std::sync::Arc;

use transport_core::transport::{BarrierFlags, BarrierTurn, reached};

use super::event::Event;
use super::pe::Job;
use super::world::{BarrierNeed, World};

/// The flags of the job, as PE `pe` uses them.
pub(super) struct SimFlags {
    pub(super) job: Arc<Job>,
    pub(super) pe: usize,
}

impl World {
    /// Whether the quiet of the barrier is done; tells it once.
    fn barrier_is_quiet(&mut self, pe: usize) -> bool {
        let state = &mut self.pes[pe];
        let (before, epoch) = (state.barrier.before, state.barrier.entered);
        if !state.barrier.is_quiet && state.complete.first() >= before {
            state.barrier.is_quiet = true;
            self.tell(|| Event::Quiet { pe, before });
            self.tell(|| Event::BarrierEntered { pe, epoch });
        }
        self.pes[pe].barrier.is_quiet
    }
}

impl BarrierFlags for SimFlags {
    fn flag(&self, round: u32) -> u32 {
        let mut world = self.job.world();
        let barrier = &mut world.pes[self.pe].barrier;
        let epoch = barrier.entered;
        // Only kept if this is where the barrier must wait.
        barrier.needs = BarrierNeed::Flag { round, epoch };
        let flag = barrier.flags.get(round as usize).copied().unwrap_or(epoch);
        if reached(flag, epoch) {
            world.received(self.pe);
        }
        flag
    }

    fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool {
        let mut world = self.job.world();
        if !world.barrier_is_quiet(self.pe) {
            let before = world.pes[self.pe].barrier.before;
            world.pes[self.pe].barrier.needs = BarrierNeed::Quiet { before };
            return false;
        }
        world.post_flag(self.pe, neighbour, round, epoch);
        true
    }

    fn entered(&self, epoch: u32) {
        let mut world = self.job.world();
        let state = &mut world.pes[self.pe];
        state.barrier.entered = epoch;
        state.barrier.before = state.posted;
        state.barrier.is_quiet = false;
        world.barrier_is_quiet(self.pe);
    }

    fn finished(&self, epoch: u32) {
        let mut world = self.job.world();
        world.pes[self.pe].barrier.finished = epoch;
        world.tell(|| Event::BarrierLeft { pe: self.pe, epoch });
    }

    fn turn_ended(&self) {
        self.job.world().wake_turn(self.pe);
    }
}

impl SimFlags {
    /// What the barrier needs to go on, after a look that did not finish it.
    pub(super) fn needs(&self) -> BarrierNeed {
        self.job.world().pes[self.pe].barrier.needs
    }

    /// Whether `pe` has sent all its flags of the barrier under way, so that it finishes even if `pe` is gone.
    pub(super) fn is_done(&self, turn: &BarrierTurn<'_, Self>, pe: usize) -> bool {
        let world = self.job.world();
        world.pes.get(pe).is_some_and(|state| reached(state.barrier.finished, turn.epoch()))
    }

    /// The PEs that have not entered; if all have, the one whose flag is awaited.
    pub(super) fn missing(&self, turn: &BarrierTurn<'_, Self>) -> Vec<usize> {
        self.job.world().missing(self.pe, turn.epoch(), turn.awaited())
    }
}
