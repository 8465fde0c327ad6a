//! What a faulty PE knows of itself.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::fault::{Fault, Injected};
use super::held::HeldBack;
use super::policy::Fate;

#[derive(Debug, Default)]
pub(super) struct State {
    /// Begun so far; the number of the one that is under way.
    pub(super) operations: u64,
    pub(super) held: HeldBack,
    /// Completions with an error that nobody has looked at.
    pub(super) unseen: Vec<(usize, Arc<str>)>,
    /// A failure is due, and waits for an operation that can fail.
    pub(super) failure_is_due: bool,
    pub(super) dead: Option<Arc<str>>,
    pub(super) stall: Option<Stall>,
    pub(super) injected: Vec<Injected>,
    pub(super) timer: Option<JoinHandle<()>>,
    /// The timer ends.
    pub(super) stop: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stall {
    /// `None` is never.
    ends: Option<Instant>,
}

/// The operation under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) call: &'static str,
    pub(super) number: u64,
    pub(super) fate: Fate,
}

impl State {
    pub(super) fn note(&mut self, step: &Step, fault: Fault) {
        self.injected.push(Injected { operation: step.number, call: step.call, fault });
    }

    pub(super) fn stall(&mut self, lasts: Duration) {
        self.stall = Some(Stall { ends: Instant::now().checked_add(lasts) });
    }

    /// Forgets a stall that is over.
    pub(super) fn is_stalled(&mut self) -> bool {
        self.stall = self.stall.filter(|stall| stall.ends.is_none_or(|ends| Instant::now() < ends));
        self.stall.is_some()
    }

    /// When the timer must look again; `None` if there is nothing to do.
    pub(super) fn next_look(&self, linger: Duration) -> Option<Instant> {
        let now = Instant::now();
        let unseen = (!self.unseen.is_empty()).then_some(now + linger);
        let held = self.held.iter().map(|held| held.since + linger).min();
        let held = match self.stall {
            None => held,
            // A stall for good ends by the PE's own end.
            Some(stall) => held.and(stall.ends),
        };
        unseen.into_iter().chain(held).min()
    }
}
