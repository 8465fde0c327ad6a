//! Who chooses what happens next.

use std::collections::{HashMap, VecDeque};

use super::action::{Action, Name};
use super::world::World;

/// Is told what can happen, and says what does.
///
/// What can happen once stays possible until it is done: nothing in the job takes it back. So an action that became possible is
/// told once, and stops being so when [`next`](Self::next) answers it.
pub(crate) trait Scheduler {
    /// `action` can happen from now on. `gave_turn`: it is a PE that goes on after it gave others a turn.
    fn enabled(&mut self, action: Action, gave_turn: bool);
    /// What happens next; `None` ends the schedule. Asked only when something can happen.
    fn next(&mut self, world: &World) -> Option<Action>;
}

/// First come, first served: the schedule that all others deviate from.
#[derive(Debug, Default)]
pub(crate) struct Fifo {
    queue: VecDeque<(u64, Action)>,
    /// What waits in the queue, and since when. What is in the queue but not here was taken out of turn.
    waiting: HashMap<Action, u64>,
    count: u64,
}

impl Fifo {
    pub(crate) fn push(&mut self, action: Action) {
        self.count += 1;
        self.queue.push_back((self.count, action));
        self.waiting.insert(action, self.count);
    }

    /// The first.
    pub(crate) fn first(&mut self) -> Option<Action> {
        while let Some(&(count, action)) = self.queue.front() {
            if self.waiting.get(&action) == Some(&count) {
                return Some(action);
            }
            self.queue.pop_front();
        }
        None
    }

    /// Takes one out, in its turn or not. False if it does not wait.
    pub(crate) fn take(&mut self, action: Action) -> bool {
        self.waiting.remove(&action).is_some()
    }

    /// The one of this name.
    fn find(&self, world: &World, name: Name) -> Option<Action> {
        let found = self
            .queue
            .iter()
            .find(|(count, action)| self.waiting.get(action) == Some(count) && world.name(*action) == name);
        found.map(|&(_, action)| action)
    }
}

impl Scheduler for Fifo {
    fn enabled(&mut self, action: Action, _: bool) {
        self.push(action);
    }

    fn next(&mut self, _: &World) -> Option<Action> {
        let action = self.first()?;
        self.take(action);
        Some(action)
    }
}

/// First come, first served, but for some steps.
pub(crate) struct Replay<'a> {
    fifo: Fifo,
    /// By step, in order.
    deviations: &'a [(u64, Name)],
    step: u64,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(deviations: &'a [(u64, Name)]) -> Self {
        Self { fifo: Fifo::default(), deviations, step: 0 }
    }
}

impl Scheduler for Replay<'_> {
    fn enabled(&mut self, action: Action, _: bool) {
        self.fifo.push(action);
    }

    fn next(&mut self, world: &World) -> Option<Action> {
        let mut chosen = None;
        while let Some((&(step, name), rest)) = self.deviations.split_first()
            && step <= self.step
        {
            self.deviations = rest;
            if step == self.step {
                // What cannot happen is passed over: an earlier deviation that it needed was left out.
                chosen = self.fifo.find(world, name);
            }
        }
        self.step += 1;
        let action = chosen.or_else(|| self.fifo.first())?;
        self.fifo.take(action);
        Some(action)
    }
}

/// Notes where another scheduler deviates from first come, first served.
pub(crate) struct Recorder<'a> {
    inner: &'a mut dyn Scheduler,
    fifo: Fifo,
    step: u64,
    pub(crate) deviations: Vec<(u64, Name)>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(inner: &'a mut dyn Scheduler) -> Self {
        Self { inner, fifo: Fifo::default(), step: 0, deviations: Vec::new() }
    }
}

impl Scheduler for Recorder<'_> {
    fn enabled(&mut self, action: Action, gave_turn: bool) {
        self.fifo.push(action);
        self.inner.enabled(action, gave_turn);
    }

    fn next(&mut self, world: &World) -> Option<Action> {
        let action = self.inner.next(world)?;
        if self.fifo.first() != Some(action) {
            self.deviations.push((self.step, world.name(action)));
        }
        self.fifo.take(action);
        self.step += 1;
        Some(action)
    }
}
