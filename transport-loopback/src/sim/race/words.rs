//! What one learns from a word that signals and atomics change: whoever reads it is ordered after whoever changed it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::clock::{Clock, Lane};
use crate::sim::event::OpId;

/// How an operation changes its word, as far as order goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It stores: its value tells nothing of those before it.
    Store,
    /// It reads and writes: its value tells of those before it too.
    Update,
    /// It only reads.
    Nothing,
}

/// What one knows who knows that a signal or an atomic has landed.
#[derive(Debug)]
pub(super) struct Landing {
    pub(super) lane: Lane,
    /// It, and all before it since the last of its lane.
    pub(super) numbers: Range<u64>,
    /// The first operation after the last fence of its PE.
    pub(super) fence_start: u64,
    /// Its data.
    pub(super) data: Option<Range<u64>>,
}

impl Landing {
    /// Adds it to `clock`: itself, its data, and what a fence has ordered before it.
    pub(super) fn teach(&self, clock: &mut Clock) {
        let data = Lane { words: false, ..self.lane };
        clock.learn(self.lane, self.numbers.clone());
        clock.learn(self.lane, 0..self.fence_start);
        clock.learn(data, 0..self.fence_start);
        if let Some(numbers) = &self.data {
            clock.learn(data, numbers.clone());
        }
    }
}

/// A signal or an atomic under way.
#[derive(Debug)]
pub(super) struct Pending {
    /// Whose heap, and where in it.
    pub(super) word: (usize, u64),
    pub(super) change: Change,
    /// Whether it answers its PE.
    pub(super) answers: bool,
    /// What its PE knew when it was posted.
    pub(super) clock: Arc<Clock>,
    /// The step of its PE at which it was posted.
    pub(super) step: u64,
    pub(super) landing: Landing,
    /// What was to be learnt from the word, if it answers; known when it has landed.
    pub(super) found: Option<Arc<Clock>>,
}

/// The words of all heaps, and the signals and atomics under way to them.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// What one learns who reads the word, by whose heap and where.
    known: BTreeMap<(usize, u64), Arc<Clock>>,
    pending: BTreeMap<OpId, Pending>,
}

impl Words {
    /// An operation was posted.
    pub(super) fn posted(&mut self, id: OpId, pending: Pending) {
        self.pending.insert(id, pending);
    }

    /// An operation has changed its word, or read it, if it is one of these.
    pub(super) fn landed(&mut self, id: OpId) {
        let Some(pending) = self.pending.get_mut(&id) else { return };
        pending.found = self.known.get(&pending.word).map(Arc::clone);
        if pending.change != Change::Nothing {
            let mut clock = Clock::clone(&pending.clock);
            clock.learn_step(id.pe, pending.step);
            pending.landing.teach(&mut clock);
            if pending.change == Change::Update
                && let Some(before) = &pending.found
            {
                clock.join(before);
            }
            self.known.insert(pending.word, Arc::new(clock));
        }
        if !pending.answers {
            self.pending.remove(&id);
        }
    }

    /// An atomic has answered its PE.
    pub(super) fn answered(&mut self, id: OpId) -> Option<Pending> {
        self.pending.remove(&id)
    }

    /// How many are under way.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> usize {
        self.pending.len()
    }

    /// Plain bytes were written over words of `memory`: from their values nothing can be learnt any more.
    pub(super) fn overwritten(&mut self, memory: usize, range: &Range<u64>) {
        let from = range.start.saturating_sub(7);
        let words: Vec<_> =
            self.known.range((memory, from)..(memory, range.end)).map(|(key, _)| *key).collect();
        for word in words {
            self.known.remove(&word);
        }
    }

    /// What one learns who reads the word.
    pub(super) fn known(&self, memory: usize, word: u64) -> Option<&Arc<Clock>> {
        self.known.get(&(memory, word))
    }
}
