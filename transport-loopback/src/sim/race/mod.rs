//! The search for races of one-sided communication, on what a simulated job tells of itself.
//!
//! It goes by happens-before, with vector clocks: two accesses to the same bytes, at least one of which writes, are a race if
//! nothing orders them, whatever the values are and whichever came first in this schedule. An operation acts by itself from its
//! post on. It is after all that its PE had done by then. Others are after it if they know that it is complete:
//!
//! - its PE by `quiet`, which covers all that was posted before;
//! - who sees a signal or an atomic, by a wait, an acquiring load or an atomic of its own: after that, after its data, and after
//!   what a fence put before it, and after all that its PE knew when it posted it;
//! - who leaves a barrier: after all that any PE did before it entered;
//! - what is posted to the same PE after a fence: it lands after what was posted before (gets excepted).
//!
//! Signals, atomics, waits and acquiring loads of one word do not race with each other. What was learnt from a word ends with a
//! signal that sets it or a plain write: its value does not tell of those before.
//!
//! That an operation has landed says that its source was read: who knows of the landing may write to the source without a quiet.
//! An operation to its own PE is one like any other: it needs its quiet.

mod access;
mod advice;
mod barriers;
mod clock;
mod effects;
mod history;
mod intervals;
#[cfg(test)]
mod long;
mod report;
mod shadow;
mod words;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::event::{Event, Listener, Place};
pub use access::{Access, AccessKind};
use history::History;
pub use report::{Race, RaceKind};

/// Looks for races in a simulated job. Clones are of the same search: give one to the job, and ask the other.
#[derive(Debug, Clone, Default)]
pub struct RaceDetector {
    shared: Arc<Mutex<Search>>,
}

#[derive(Debug, Default)]
struct Search {
    history: History,
    /// Whether it goes on after a race.
    collecting: bool,
    races: Vec<Race>,
    /// The places of each, in order.
    told: BTreeSet<[Option<At>; 2]>,
}

/// A place that can be ordered: file, line, column.
type At = (&'static str, u32, u32);

impl RaceDetector {
    /// Ends the schedule at its first race, with the race for its text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on after a race, and [keeps](Self::races) all of all schedules, each pair of places once.
    #[must_use]
    pub fn collecting() -> Self {
        let search = Search { collecting: true, ..Search::default() };
        Self { shared: Arc::new(Mutex::new(search)) }
    }

    /// The races found so far, in the order in which they were found; each pair of places once.
    #[must_use]
    pub fn races(&self) -> Vec<Race> {
        self.search().races.clone()
    }

    fn search(&self) -> MutexGuard<'_, Search> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for RaceDetector {
    fn begin(&mut self, n_pes: usize) {
        self.search().history = History::new(n_pes);
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        let mut search = self.search();
        let races = search.history.event(event);
        let text = (!search.collecting).then(|| races.first().map(Race::to_string)).flatten();
        for race in races {
            let mut places = [race.first.place.map(at), race.second.place.map(at)];
            places.sort_unstable();
            if search.told.insert(places) {
                search.races.push(race);
            }
        }
        text.map_or(Ok(()), Err)
    }
}

fn at(place: Place) -> At {
    (place.file(), place.line(), place.column())
}
