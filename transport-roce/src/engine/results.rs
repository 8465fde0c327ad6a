//! Places for the answers of atomics.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Engine;
use super::layout::RESULTS;

/// The places, as they are used.
#[derive(Debug)]
pub(crate) struct Results(Mutex<[Place; RESULTS]>);

#[derive(Debug, Clone, Copy)]
enum Place {
    Free,
    /// A call waits for it.
    Held,
    /// Nobody waits for it any more, but the NIC still writes it, until the link has completed what is below the number.
    Left {
        link: usize,
        number: u64,
    },
}

impl Default for Results {
    fn default() -> Self {
        Self(Mutex::new([Place::Free; RESULTS]))
    }
}

impl Results {
    fn places(&self) -> MutexGuard<'_, [Place; RESULTS]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is held, until dropped.
pub(crate) struct Answer<'e> {
    engine: &'e Engine,
    place: usize,
    /// The request that writes it: link, and the number after it.
    written_by: Option<(usize, u64)>,
}

impl<'e> Answer<'e> {
    /// A place for one answer, if there is one.
    pub(crate) fn hold(engine: &'e Engine) -> Option<Self> {
        let mut places = engine.results.places();
        let usable = |place: &Place| match *place {
            Place::Free => true,
            Place::Held => false,
            Place::Left { link, number } => engine.links[link].is_done(number),
        };
        let place = places.iter().position(usable)?;
        places[place] = Place::Held;
        Some(Self { engine, place, written_by: None })
    }

    /// Where it is in the heap.
    pub(crate) fn offset(&self) -> u64 {
        self.engine.layout.result(self.place)
    }

    /// The request below `number` of `link` writes it.
    pub(crate) fn written_by(&mut self, link: usize, number: u64) {
        self.written_by = Some((link, number));
    }

    /// What was written, once it was.
    pub(crate) fn value(&self) -> Option<u64> {
        let (link, number) = self.written_by?;
        self.engine.links[link].is_done(number).then(|| self.engine.region().load(self.offset()))
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        self.engine.results.places()[self.place] = match self.written_by {
            Some((link, number)) if !self.engine.links[link].is_done(number) => Place::Left { link, number },
            _ => Place::Free,
        };
    }
}
