//! The scheduler for which time passes: what comes first by the clock comes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::sim::action::Action;
use crate::sim::scheduler::Scheduler;
use crate::sim::world::World;

/// The next is what has the least time. PEs go before messages of the same time, and else what was possible first.
pub(super) struct VirtualTime {
    /// Time, order, PE.
    polls: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Woken since the last step.
    woken: Vec<u32>,
    /// PEs that look at something again and again: that costs no time, so they go on when something else has happened.
    idle: Vec<u32>,
    count: u64,
    /// Polls in a row in which nothing happened.
    in_vain: u64,
    most_in_vain: u64,
}

impl VirtualTime {
    pub(super) fn new(most_in_vain: u64) -> Self {
        Self {
            polls: BinaryHeap::new(),
            woken: Vec::new(),
            idle: Vec::new(),
            count: 0,
            in_vain: 0,
            most_in_vain,
        }
    }

    fn push(&mut self, time: u64, pe: u32) {
        self.count += 1;
        self.polls.push(Reverse((time, self.count, pe)));
    }
}

impl Scheduler for VirtualTime {
    fn enabled(&mut self, action: Action, gave_turn: bool) {
        match action {
            Action::Poll(pe) if gave_turn => self.idle.push(pe),
            Action::Poll(pe) => self.woken.push(pe),
            // The world knows them by time.
            Action::Net { .. } => {}
        }
    }

    fn next(&mut self, world: &World) -> Option<Action> {
        let timed = world.timed.as_ref()?;
        for pe in std::mem::take(&mut self.woken) {
            self.push(timed.clock(pe as usize), pe);
        }
        let net = timed.next_time();
        let poll = self.polls.peek().map(|&Reverse((time, ..))| time);
        let time = match (poll, net) {
            (None, None) => timed.now(),
            (poll, net) => poll.unwrap_or(u64::MAX).min(net.unwrap_or(u64::MAX)),
        };
        timed.come_to(time);
        // Those go on at that time, after what happens then.
        let idle = std::mem::take(&mut self.idle);
        self.in_vain = if net.is_some() || idle.is_empty() { 0 } else { self.in_vain + 1 };
        for pe in idle {
            self.push(timed.clock(pe as usize), pe);
        }
        if self.in_vain > self.most_in_vain {
            return None;
        }
        match self.polls.peek() {
            Some(&Reverse((first, _, pe))) if net.is_none_or(|net| first < net || poll == Some(first)) => {
                self.polls.pop();
                Some(Action::Poll(pe))
            }
            _ => net.map(|_| Action::Net { slot: 0, piece: 0 }),
        }
    }
}
