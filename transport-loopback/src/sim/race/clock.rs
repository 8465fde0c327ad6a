//! What an actor of the job knows to have happened before it.

use std::ops::Range;

use super::intervals::Intervals;

/// The operations of one PE to one other that can become known one by one: its data (puts), or its words (signals, atomics).
/// Gets are in no lane: only their own PE's quiet tells of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane {
    /// Who posts.
    pub(super) from: usize,
    /// The target.
    pub(super) to: usize,
    /// Signals and atomics, rather than puts.
    pub(super) words: bool,
}

/// Of one PE.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Known {
    /// Its own steps, up to this one.
    step: u64,
    /// All its operations with lesser numbers are complete.
    done: u64,
}

/// A vector clock with two components a PE: its steps, and its operations known to be complete. Beside them, what is known one
/// by one; a range of numbers there tells of the operations of that lane in it, whatever else has a number in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pes: Vec<Known>,
    /// By lane. Clocks are copied with each signal that lands and joined with each that is seen: a list is both quickly.
    lanes: Vec<(Lane, Intervals)>,
}

impl Clock {
    /// Knows nothing of `n_pes` PEs.
    pub(super) fn new(n_pes: usize) -> Self {
        Self { pes: vec![Known::default(); n_pes], lanes: Vec::new() }
    }

    /// The last step of `pe` that is known.
    pub(super) fn step(&self, pe: usize) -> u64 {
        self.pes.get(pe).map_or(0, |known| known.step)
    }

    /// All operations of `pe` with lesser numbers are known to be complete.
    pub(super) fn done(&self, pe: usize) -> u64 {
        self.pes.get(pe).map_or(0, |known| known.done)
    }

    /// Whether those operations of `pe` whose numbers are in `numbers` are complete; of `lane`, if they are in one.
    pub(super) fn knows(&self, pe: usize, lane: Option<Lane>, numbers: &Range<u64>) -> bool {
        let rest = numbers.start.max(self.done(pe))..numbers.end;
        rest.is_empty() || lane.and_then(|lane| self.lane(lane)).is_some_and(|known| known.covers(&rest))
    }

    /// What is known one by one of a lane.
    fn lane(&self, lane: Lane) -> Option<&Intervals> {
        let at = self.lanes.binary_search_by_key(&lane, |(lane, _)| *lane).ok()?;
        self.lanes.get(at).map(|(_, known)| known)
    }

    /// Learns of the steps of `pe` up to `step`.
    pub(super) fn learn_step(&mut self, pe: usize, step: u64) {
        if let Some(known) = self.pes.get_mut(pe) {
            known.step = known.step.max(step);
        }
    }

    /// Learns that all operations of `pe` below `done` are complete.
    pub(super) fn learn_done(&mut self, pe: usize, done: u64) {
        if let Some(known) = self.pes.get_mut(pe)
            && known.done < done
        {
            known.done = done;
            self.tidy();
        }
    }

    /// Learns that those of a lane in `numbers` are complete.
    pub(super) fn learn(&mut self, lane: Lane, numbers: Range<u64>) {
        if numbers.end > self.done(lane.from) {
            match self.lanes.binary_search_by_key(&lane, |(lane, _)| *lane) {
                Ok(at) => self.lanes[at].1.insert(numbers),
                Err(at) => self.lanes.insert(at, (lane, numbers.into())),
            }
        }
    }

    /// Learns all that `other` knows.
    pub(super) fn join(&mut self, other: &Self) {
        let mut more_done = false;
        for (mine, theirs) in self.pes.iter_mut().zip(&other.pes) {
            mine.step = mine.step.max(theirs.step);
            more_done |= mine.done < theirs.done;
            mine.done = mine.done.max(theirs.done);
        }
        if more_done {
            self.tidy();
        }
        let mut at = 0;
        for (lane, known) in &other.lanes {
            let done = self.done(lane.from);
            at += self.lanes[at..].iter().take_while(|(mine, _)| mine < lane).count();
            match self.lanes.get_mut(at) {
                Some((mine, ranges)) if mine == lane => {
                    ranges.join(known);
                    ranges.forget_below(done);
                }
                _ if known.end() > done => {
                    let mut known = known.clone();
                    known.forget_below(done);
                    self.lanes.insert(at, (*lane, known));
                }
                _ => {}
            }
        }
    }

    /// Forgets one by one what it knows of as a whole.
    fn tidy(&mut self) {
        let pes = &self.pes;
        self.lanes.retain_mut(|(lane, known)| {
            known.forget_below(pes.get(lane.from).map_or(0, |pe| pe.done));
            !known.is_empty()
        });
    }

    /// Keeps only what `other` knows too, of what is known as a whole; of its own steps a PE always knows.
    pub(super) fn meet(&mut self, other: &Self, other_pe: usize) {
        for (pe, (mine, theirs)) in self.pes.iter_mut().zip(&other.pes).enumerate() {
            if pe != other_pe {
                mine.step = mine.step.min(theirs.step);
            }
            mine.done = mine.done.min(theirs.done);
        }
    }

    /// How many ranges it keeps.
    #[cfg(test)]
    pub(super) fn ranges(&self) -> usize {
        self.lanes.iter().map(|(_, known)| known.len()).sum()
    }

    /// Knows all as a whole, to be [met](Self::meet) with others.
    pub(super) fn all_knowing(n_pes: usize) -> Self {
        Self { pes: vec![Known { step: u64::MAX, done: u64::MAX }; n_pes], lanes: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANE: Lane = Lane { from: 0, to: 1, words: true };

    #[test]
    fn an_operation_is_known_as_a_whole_or_one_by_one() {
        let mut clock = Clock::new(2);
        clock.learn(LANE, 4..7);
        assert!(clock.knows(0, Some(LANE), &(5..7)));
        assert!(!clock.knows(0, Some(LANE), &(3..5)));
        assert!(!clock.knows(0, None, &(5..6)), "a get is known by quiet only");
        assert!(!clock.knows(0, Some(Lane { words: false, ..LANE }), &(5..6)));
        clock.learn_done(0, 5);
        assert!(clock.knows(0, Some(LANE), &(0..7)), "half by quiet, half one by one");
        assert!(clock.knows(0, None, &(4..5)));
    }

    #[test]
    fn what_a_quiet_covers_is_forgotten_one_by_one() {
        let mut clock = Clock::new(2);
        (0..100).for_each(|i| clock.learn(LANE, 2 * i..2 * i + 1));
        let mut other = Clock::new(2);
        other.learn_done(0, 200);
        clock.join(&other);
        assert!(clock.lanes.is_empty());
        clock.learn(LANE, 150..160);
        assert!(clock.lanes.is_empty());
    }

    #[test]
    fn what_all_know_is_what_each_knows() {
        let (mut a, mut b) = (Clock::new(3), Clock::new(3));
        a.learn_step(2, 5);
        a.learn_done(2, 9);
        b.learn_step(2, 7);
        b.learn_done(2, 3);
        b.learn_step(0, 4);
        let mut all = Clock::all_knowing(3);
        all.meet(&a, 0);
        all.meet(&b, 1);
        assert_eq!((all.step(2), all.done(2), all.step(0)), (5, 3, 4), "PE 0 knows its own steps");
    }
}
