//! Schedules by chance.

use std::collections::BinaryHeap;

use super::action::Action;
use super::network::Random;
use super::scheduler::Scheduler;
use super::world::World;

/// Each time any of what can happen, all alike.
pub(crate) struct Uniform {
    random: Random,
    enabled: Vec<Action>,
}

impl Uniform {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), enabled: Vec::new() }
    }
}

impl Scheduler for Uniform {
    fn enabled(&mut self, action: Action, _: bool) {
        self.enabled.push(action);
    }

    fn next(&mut self, _: &World) -> Option<Action> {
        let at = self.random.below(self.enabled.len() as u64) as usize;
        (at < self.enabled.len()).then(|| self.enabled.swap_remove(at))
    }
}

/// Probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): the action of the highest priority goes on; priorities
/// are drawn at random, and at a few steps, drawn too, what goes on falls behind all others. A fault that needs `d` steps in a
/// certain order is found with a chance of at least `1 / (n * k^(d - 1))` a schedule, `n` actors, `k` steps.
pub(crate) struct Priorities {
    random: Random,
    enabled: BinaryHeap<(u64, Action)>,
    /// Of each PE, drawn when it is first seen.
    pes: Vec<Option<u64>>,
    /// The steps at which what goes on falls behind, the last first.
    changes: Vec<u64>,
    step: u64,
    /// The next priority of those that fell behind, ever lower.
    low: u64,
}

/// Drawn priorities are above those that are given to what falls behind.
const DRAWN: u64 = 1 << 63;

impl Priorities {
    /// For schedules of about `steps` steps.
    pub(crate) fn new(seed: u64, depth: u32, steps: u64) -> Self {
        let mut random = Random::new(seed);
        let mut changes: Vec<_> = (1..depth).map(|_| random.below(steps.max(1))).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Self { random, enabled: BinaryHeap::new(), pes: Vec::new(), changes, step: 0, low: DRAWN - 1 }
    }

    fn lowest(&mut self) -> u64 {
        self.low -= 1;
        self.low
    }
}

impl Scheduler for Priorities {
    fn enabled(&mut self, action: Action, gave_turn: bool) {
        let mut priority = self.random.next() | DRAWN;
        if let Action::Poll(pe) = action {
            let pe = pe as usize;
            if pe >= self.pes.len() {
                self.pes.resize(pe + 1, None);
            }
            let mine = *self.pes[pe].get_or_insert(priority);
            // Who looks again and again would else keep all others from going on.
            priority = if gave_turn { self.lowest() } else { mine };
            self.pes[pe] = Some(priority);
        }
        self.enabled.push((priority, action));
    }

    fn next(&mut self, _: &World) -> Option<Action> {
        while self.changes.last() == Some(&self.step) {
            self.changes.pop();
            let lowest = self.lowest();
            if let Some((_, action)) = self.enabled.pop() {
                if let Action::Poll(pe) = action {
                    self.pes[pe as usize] = Some(lowest);
                }
                self.enabled.push((lowest, action));
            }
        }
        self.step += 1;
        self.enabled.pop().map(|(_, action)| action)
    }
}
