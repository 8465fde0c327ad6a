//! Who is told of what happens: the listeners, and the timeline of a failure.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::{Event, Listener, OpId};
use super::pairs::Mix;
use super::timeline::Timeline;
use super::waits::Waiting;
use super::world::World;

/// A listener that all schedules share.
pub(crate) type Shared = Arc<Mutex<dyn Listener>>;

/// Who is told. With nobody, nothing is kept and nothing is made up for it.
#[derive(Default)]
pub(crate) struct Tell {
    pub(crate) listeners: Vec<Shared>,
    pub(crate) timeline: Option<Timeline>,
    /// What a listener found wrong.
    pub(crate) found: Option<String>,
    changes: Changes,
}

/// Transfers up to so many bytes are kept word by word, longer ones as a whole.
const BY_WORD: u64 = 64;

type Map<K, V> = HashMap<K, Vec<V>, BuildHasherDefault<Mix>>;

/// By what the words of each PE were changed; each change with its number, to put them in order.
#[derive(Default)]
struct Changes {
    count: u64,
    words: Map<(u32, u64), (u64, OpId)>,
    long: Map<u32, (u64, Range<u64>, OpId)>,
}

impl Tell {
    /// Another schedule begins.
    pub(crate) fn begin(&mut self, n_pes: usize) {
        for listener in &self.listeners {
            listener.lock().unwrap_or_else(PoisonError::into_inner).begin(n_pes);
        }
    }

    /// What comes from now on belongs to this step.
    pub(crate) fn step(&mut self, step: u64) {
        if let Some(timeline) = &mut self.timeline {
            timeline.step = step;
        }
    }

    /// The set-up is over.
    pub(crate) fn forget(&mut self) {
        if let Some(timeline) = &mut self.timeline {
            timeline.forget();
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.listeners.is_empty() || self.timeline.is_some()
    }

    /// A line of the timeline that is no event.
    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(timeline) = &mut self.timeline {
            timeline.push(line());
        }
    }

    /// An operation changed bytes of `pe`.
    pub(super) fn changed(&mut self, pe: usize, range: &Range<u64>, id: OpId) {
        if !self.is_on() {
            return;
        }
        let Changes { count, words, long } = &mut self.changes;
        *count += 1;
        if range.end - range.start > BY_WORD {
            long.entry(pe as u32).or_default().push((*count, range.clone(), id));
        } else {
            for word in range.start / 8..range.end.div_ceil(8) {
                words.entry((pe as u32, word)).or_default().push((*count, id));
            }
        }
    }

    /// The operations that changed a word of `pe`, the last first.
    pub(super) fn seen(&self, pe: usize, word: u64) -> Vec<OpId> {
        let short = self.changes.words.get(&(pe as u32, word / 8)).map_or(&[][..], Vec::as_slice);
        let long = self.changes.long.get(&(pe as u32)).map_or(&[][..], Vec::as_slice);
        let mut all = short.to_vec();
        let touch = long.iter().filter(|(_, range, _)| word < range.end && range.start < word + 8);
        all.extend(touch.map(|&(count, _, id)| (count, id)));
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.dedup_by_key(|(_, id)| *id);
        all.into_iter().map(|(_, id)| id).collect()
    }
}

impl World {
    /// Tells all who listen, if anybody does.
    pub(crate) fn tell(&mut self, event: impl FnOnce() -> Event) {
        if !self.tell.is_on() || self.closed {
            return;
        }
        let event = event();
        if let Some(timeline) = &mut self.tell.timeline {
            timeline.event(&event);
        }
        for listener in &self.tell.listeners {
            let told = listener.lock().unwrap_or_else(PoisonError::into_inner).event(&event);
            if let Err(text) = told {
                self.tell.found.get_or_insert(text);
            }
        }
    }

    pub(super) fn tell_fetched(&mut self, id: Option<OpId>, range: Range<u64>) {
        if let Some(id) = id {
            self.tell(|| Event::Fetched { id, range });
        }
    }

    pub(super) fn tell_waits(&mut self, pe: usize, what: Waiting) {
        if self.tell.timeline.is_some() {
            let line = format!("PE {pe} waits {}", self.describe_wait(pe, what));
            self.tell.note(|| line);
        }
    }
}
