//! What PEs wait for. Nobody looks again and again: what makes it true wakes the wait.

use std::ops::Range;
use std::task::Waker;
use std::time::Duration;

use transport_core::Cmp;
use transport_core::transport::reached;

use super::world::{BarrierNeed, World};

/// A wait under way.
pub(crate) struct Wait {
    pub(crate) id: u64,
    pub(crate) what: Waiting,
    pub(crate) waker: Waker,
    pub(crate) deadline: Duration,
    /// Its deadline has passed.
    pub(crate) expired: bool,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// That all PEs come to `begin`.
    Begin,
    /// That all operations before this one are complete.
    Quiet { before: u64 },
    /// That another caller of this PE is done with the barrier.
    Turn,
    /// That the barrier can go on.
    Barrier(BarrierNeed),
    /// That this word compares so.
    Signal { word: u64, cmp: Cmp, value: u64 },
    /// The answer of this operation.
    Atomic { number: u64 },
}

impl World {
    /// Begins a wait, or goes on with it.
    pub(crate) fn wait(
        &mut self,
        pe: usize,
        id: Option<u64>,
        what: Waiting,
        waker: &Waker,
        limit: Duration,
    ) -> u64 {
        if let Some(wait) = self.pes[pe].waits.iter_mut().find(|wait| Some(wait.id) == id) {
            wait.what = what;
            wait.waker.clone_from(waker);
            return wait.id;
        }
        let id = self.next_wait();
        let deadline = self.now.saturating_add(limit);
        self.pes[pe].waits.push(Wait { id, what, waker: waker.clone(), deadline, expired: false });
        self.tell_waits(pe, what);
        id
    }

    /// Ends a wait.
    pub(crate) fn unwait(&mut self, pe: usize, id: u64) -> Option<Wait> {
        let state = &mut self.pes[pe];
        let at = state.waits.iter().position(|wait| wait.id == id)?;
        let wait = state.waits.remove(at);
        if let Waiting::Atomic { number } = wait.what {
            // Dropped before it took its answer: nobody will.
            state.answers.retain(|(of, _)| *of != number);
        }
        Some(wait)
    }

    pub(crate) fn is_expired(&self, pe: usize, id: u64) -> bool {
        self.pes[pe].waits.iter().any(|wait| wait.id == id && wait.expired)
    }

    /// Wakes those waits of `pe` for which `holds`.
    fn wake(&self, pe: usize, holds: impl Fn(Waiting) -> bool) {
        for wait in &self.pes[pe].waits {
            if holds(wait.what) {
                wait.waker.wake_by_ref();
            }
        }
    }

    pub(crate) fn wake_all(&self, pe: usize) {
        self.wake(pe, |_| true);
    }

    pub(crate) fn wake_turn(&self, pe: usize) {
        self.wake(pe, |what| what == Waiting::Turn);
    }

    /// An operation of `pe` is complete.
    pub(crate) fn wake_complete(&self, pe: usize, number: u64) {
        let first = self.pes[pe].complete.first();
        self.wake(pe, |what| match what {
            Waiting::Quiet { before } | Waiting::Barrier(BarrierNeed::Quiet { before }) => first >= before,
            Waiting::Atomic { number: awaited } => awaited == number,
            _ => false,
        });
    }

    /// A flag of `pe` has come.
    pub(crate) fn wake_flag(&self, pe: usize, came: u32) {
        let flag = self.pes[pe].barrier.flags.get(came as usize).copied().unwrap_or_default();
        self.wake(pe, |what| match what {
            Waiting::Barrier(BarrierNeed::Flag { round, epoch }) => round == came && reached(flag, epoch),
            _ => false,
        });
    }

    /// Bytes of `pe` have changed.
    pub(crate) fn wake_word(&self, pe: usize, range: &Range<u64>) {
        let memory = &self.pes[pe].memory;
        self.wake(pe, |what| match what {
            Waiting::Signal { word, cmp, value } => {
                word < range.end && range.start < word + 8 && cmp.holds(memory.load(word), value)
            }
            _ => false,
        });
    }

    /// Whether a signal is awaited at a word that `range` touches.
    pub(crate) fn is_awaited(&self, pe: usize, range: &Range<u64>) -> bool {
        self.pes[pe].waits.iter().any(|wait| match wait.what {
            Waiting::Signal { word, .. } => word < range.end && range.start < word + 8,
            _ => false,
        })
    }

    /// All PEs are at `begin` and nothing is under way: lets them go. False if they are not.
    pub(crate) fn begin(&mut self) -> bool {
        let at_begin = |pe: &super::world::Pe| pe.waits.iter().any(|wait| wait.what == Waiting::Begin);
        if self.begun || !self.pes.iter().all(at_begin) {
            return false;
        }
        self.begun = true;
        for pe in 0..self.pes.len() {
            self.wake(pe, |what| what == Waiting::Begin);
        }
        true
    }

    /// Nothing can happen but that time passes: ends the wait with the first deadline. False if there is none.
    pub(crate) fn expire(&mut self) -> bool {
        let waits = self.pes.iter().enumerate().flat_map(|(pe, state)| {
            let open = state.waits.iter().filter(|wait| !wait.expired && wait.what != Waiting::Begin);
            open.map(move |wait| (wait.deadline, pe, wait.id))
        });
        let Some((deadline, pe, id)) = waits.min() else { return false };
        self.now = self.now.max(deadline);
        if let Some(wait) = self.pes[pe].waits.iter_mut().find(|wait| wait.id == id) {
            wait.expired = true;
            wait.waker.wake_by_ref();
        }
        true
    }

    /// The PEs that a barrier of `pe` waits for: those that have not entered, or the one whose flag is awaited.
    pub(crate) fn missing(&self, pe: usize, epoch: u32, awaited: usize) -> Vec<usize> {
        let absent = |state: &super::world::Pe| !reached(state.barrier.entered, epoch);
        let missing: Vec<_> =
            (0..self.pes.len()).filter(|&other| other != pe && absent(&self.pes[other])).collect();
        if missing.is_empty() { vec![awaited] } else { missing }
    }

    /// Why `pe` does not go on, for people.
    pub(crate) fn describe(&self, pe: usize) -> String {
        let state = &self.pes[pe];
        if state.ended {
            return format!("PE {pe} has ended");
        }
        let all: Vec<_> = state.waits.iter().map(|wait| self.describe_wait(pe, wait.what)).collect();
        if all.is_empty() {
            return format!("PE {pe} waits for something that is not of this job");
        }
        format!("PE {pe} waits {}", all.join(", and "))
    }

    pub(crate) fn describe_wait(&self, pe: usize, what: Waiting) -> String {
        let n_pes = self.pes.len();
        let open = |before: u64| before.saturating_sub(self.pes[pe].complete.first());
        match what {
            Waiting::Begin => {
                let absent = |&other: &usize| !self.pes[other].waits.iter().any(|w| w.what == Waiting::Begin);
                let absent: transport_core::PeList =
                    (0..n_pes).filter(|&other| other != pe).filter(absent).collect();
                format!("in begin for {absent}")
            }
            Waiting::Quiet { before } => format!("in quiet, with {} of its operations open", open(before)),
            Waiting::Turn => "in barrier_all for another caller of the same PE".into(),
            Waiting::Barrier(BarrierNeed::Quiet { before }) => {
                format!("in barrier_all, with {} of its operations open", open(before))
            }
            Waiting::Barrier(BarrierNeed::Flag { round, epoch }) => {
                let awaited = (pe + n_pes - (1_usize << round) % n_pes) % n_pes;
                let missing: transport_core::PeList = self.missing(pe, epoch, awaited).into_iter().collect();
                format!("in barrier_all for {missing}")
            }
            Waiting::Signal { word, cmp, value } => {
                let (symbol, found) = (cmp.symbol(), self.pes[pe].memory.load(word));
                format!("in signal_wait_until for the word at +{word} {symbol} {value}; it is {found}")
            }
            Waiting::Atomic { number } => format!("for the answer of its atomic #{number}"),
        }
    }
}
