//! The scheduler for which time passes: what comes first by the clock comes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::processors::{Processors, Start};
use super::timed::Timed;
use crate::sim::action::Action;
use crate::sim::scheduler::Scheduler;
use crate::sim::world::World;

/// The next is what has the least time. PEs go before messages of the same time, and else what was possible first.
pub(super) struct VirtualTime {
    /// Time, order, PE.
    polls: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Woken since the last step.
    woken: Vec<u32>,
    /// PEs that look at something again and again: that costs no time, so they go on when a message has.
    idle: Vec<u32>,
    count: u64,
    /// Times that all looked without a message under way.
    in_vain: u64,
    most_in_vain: u64,
    /// Those that PEs share, if they do.
    processors: Option<Processors>,
    /// The PE that was polled last, if that is not noted yet.
    polled: Option<u32>,
    begun: bool,
}

impl VirtualTime {
    pub(super) fn new(most_in_vain: u64, processors: Option<Processors>) -> Self {
        Self {
            polls: BinaryHeap::new(),
            woken: Vec::new(),
            idle: Vec::new(),
            count: 0,
            in_vain: 0,
            most_in_vain,
            processors,
            polled: None,
            begun: false,
        }
    }

    fn push(&mut self, time: u64, pe: u32) {
        self.count += 1;
        self.polls.push(Reverse((time, self.count, pe)));
    }

    /// What has happened since the last step.
    fn note(&mut self, timed: &Timed) {
        if let Some(processors) = &mut self.processors {
            if timed.has_begun() && !std::mem::replace(&mut self.begun, true) {
                processors.clear();
            } else if let Some(pe) = self.polled {
                processors.works_until(pe, timed.clock(pe as usize));
            }
            self.polled = None;
        }
        for pe in std::mem::take(&mut self.woken) {
            self.in_vain = 0;
            self.push(timed.clock(pe as usize), pe);
        }
    }

    /// Those that only look have another turn.
    fn look_again(&mut self, timed: &Timed) {
        for pe in std::mem::take(&mut self.idle) {
            self.push(timed.clock(pe as usize), pe);
        }
    }

    /// A PE is ready; it is polled if it has a processor.
    fn ready(&mut self, pe: u32, now: u64) -> Option<Action> {
        let Some(processors) = &mut self.processors else { return Some(Action::Poll(pe)) };
        match processors.take(pe, now) {
            Start::Now => {
                self.polled = Some(pe);
                return Some(Action::Poll(pe));
            }
            Start::At(time) => self.push(time, pe),
            Start::Waits => {}
        }
        None
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
        const NEVER: u64 = u64::MAX;
        let timed = world.timed.as_ref()?;
        self.note(timed);
        loop {
            let net = timed.next_time();
            // A PE that can go on just when its work ends keeps its processor, so that is looked at last.
            let end = self.processors.as_ref().and_then(Processors::next_end);
            let other = net.unwrap_or(NEVER).min(end.unwrap_or(NEVER));
            if let Some(&Reverse((time, _, pe))) = self.polls.peek()
                && time <= other
            {
                self.polls.pop();
                timed.come_to(time);
                if let Some(action) = self.ready(pe, time) {
                    return Some(action);
                }
            } else if let Some(time) = net.filter(|&time| time == other) {
                timed.come_to(time);
                self.in_vain = 0;
                self.look_again(timed);
                return Some(Action::Net { slot: 0, piece: 0 });
            } else if let Some(time) = end {
                timed.come_to(time);
                if let Some((time, pe)) = self.processors.as_mut().and_then(Processors::end) {
                    self.push(time, pe);
                }
            } else if !self.idle.is_empty() && self.in_vain < self.most_in_vain {
                self.in_vain += 1;
                self.look_again(timed);
            } else {
                return None;
            }
        }
    }
}
