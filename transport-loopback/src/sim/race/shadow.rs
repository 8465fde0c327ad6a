//! What has accessed each byte of one PE's heap, as far as it can still race.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::access::{Mark, View};
use super::clock::Clock;

/// So many operations of one PE are remembered for one byte. More than that are posted to one byte without a quiet only by
/// programs whose later operations race with the later ones as well.
const REMEMBERED: usize = 32;

/// An access, or a run of operations of one lane that follow each other: from number `from` to that of `mark`.
#[derive(Debug, Clone)]
struct Entry {
    mark: Arc<Mark>,
    from: u64,
}

impl Entry {
    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mark, &other.mark) && self.from == other.from
    }
}

/// Bytes up to `end` that have been accessed alike, the last access last.
#[derive(Debug, Clone)]
struct Segment {
    end: u64,
    entries: Vec<Entry>,
}

/// The shadow of one heap: segments by where they start. What is in none was never accessed, or nothing can race with it.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    segments: BTreeMap<u64, Segment>,
}

impl Shadow {
    /// Adds an access; `races` gets those that it races with, as often as there are segments.
    pub(super) fn add(&mut self, new: &Arc<Mark>, view: &View<'_>, races: &mut Vec<Arc<Mark>>) {
        let range = new.access.range.clone();
        if range.is_empty() {
            return;
        }
        match self.segments.range_mut(..range.end).next_back() {
            // Most accesses are of the same bytes as one before, or of bytes without any.
            Some((&start, segment)) if (start, segment.end) == (range.start, range.end) => {
                add_to(&mut segment.entries, new, view, races);
            }
            Some((_, segment)) if range.start < segment.end => self.add_across(range, new, view, races),
            _ => self.add_first(range, new, view, races),
        }
    }

    /// Adds an access to bytes that are in no segment.
    fn add_first(&mut self, range: Range<u64>, new: &Arc<Mark>, view: &View<'_>, races: &mut Vec<Arc<Mark>>) {
        let mut entries = Vec::with_capacity(1);
        add_to(&mut entries, new, view, races);
        self.segments.insert(range.start, Segment { end: range.end, entries });
    }

    /// Adds an access to bytes of parts of segments, or of several.
    fn add_across(
        &mut self,
        range: Range<u64>,
        new: &Arc<Mark>,
        view: &View<'_>,
        races: &mut Vec<Arc<Mark>>,
    ) {
        self.split(range.start);
        self.split(range.end);
        let mut gaps = Vec::new();
        let mut at = range.start;
        for (&start, segment) in self.segments.range_mut(range.clone()) {
            if at < start {
                gaps.push(at..start);
            }
            at = segment.end;
            add_to(&mut segment.entries, new, view, races);
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        for gap in gaps {
            self.add_first(gap, new, view, races);
        }
        self.unite(range);
    }

    /// Makes `at` a border between segments.
    fn split(&mut self, at: u64) {
        if let Some((&start, segment)) = self.segments.range_mut(..at).next_back()
            && start < at
            && at < segment.end
        {
            let right = segment.clone();
            segment.end = at;
            self.segments.insert(at, right);
        }
    }

    /// Unites neighbours that are alike, in `range`, all of which had the same access last. None at its borders can be: that
    /// access is not in what is outside.
    fn unite(&mut self, range: Range<u64>) {
        let starts: Vec<u64> = self.segments.range(range).map(|(&start, _)| start).collect();
        let mut left = None;
        for start in starts {
            let alike = |left: u64| {
                let (a, b) = (self.segments.get(&left)?, self.segments.get(&start)?);
                let same = a.entries.len() == b.entries.len()
                    && a.entries.iter().zip(&b.entries).all(|(a, b)| a.same(b));
                (a.end == start && same).then_some(b.end)
            };
            match left.and_then(|left| Some((left, alike(left)?))) {
                Some((into, end)) => {
                    self.segments.remove(&start);
                    if let Some(segment) = self.segments.get_mut(&into) {
                        segment.end = end;
                    }
                }
                None => left = Some(start),
            }
        }
    }

    /// Forgets what all PEs know: nothing that comes can race with it.
    pub(super) fn forget(&mut self, all_know: &Clock) {
        self.segments.retain(|_, segment| {
            segment.entries.retain(|entry| {
                let access = &entry.mark.access;
                match access.op {
                    Some(op) => op.number >= all_know.done(access.pe),
                    None => entry.mark.step > all_know.step(access.pe),
                }
            });
            !segment.entries.is_empty()
        });
    }

    /// The most that is kept of one byte.
    #[cfg(test)]
    pub(super) fn deepest(&self) -> usize {
        self.segments.values().map(|segment| segment.entries.len()).max().unwrap_or(0)
    }

    /// How many segments there are.
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }
}

fn add_to(entries: &mut Vec<Entry>, new: &Arc<Mark>, view: &View<'_>, races: &mut Vec<Arc<Mark>>) {
    let mut from = new.access.op.map_or(0, |op| op.number);
    let mut of_this_pe = 0;
    entries.retain(|old| {
        let known = view.knows(&old.mark, old.from);
        if !known && old.mark.conflicts(new) {
            races.push(Arc::clone(&old.mark));
        }
        let keep = if known { !new.supersedes(&old.mark) } else { !new.continues(&old.mark) };
        if !keep && !known {
            from = old.from;
        }
        of_this_pe +=
            usize::from(keep && old.mark.access.op.is_some() && old.mark.access.pe == new.access.pe);
        keep
    });
    if of_this_pe >= REMEMBERED {
        let is_own = |entry: &Entry| entry.mark.access.op.is_some() && entry.mark.access.pe == new.access.pe;
        if let Some(oldest) = entries.iter().position(is_own) {
            entries.remove(oldest);
        }
    }
    entries.push(Entry { mark: Arc::clone(new), from });
}

#[cfg(test)]
mod tests {
    use super::super::access::{Access, AccessKind};
    use super::*;

    fn touch(shadow: &mut Shadow, pe: usize, clock: &Clock, kind: AccessKind, range: Range<u64>) -> usize {
        let access = Access { pe, op: None, kind, memory: 0, range, place: None };
        let mark = Arc::new(Mark { access, step: 1, lane: None, before: None, fence: 0 });
        let mut races = Vec::new();
        shadow.add(&mark, &View { clock, pe, fence: None, after: None }, &mut races);
        races.len()
    }

    fn borders(shadow: &Shadow) -> Vec<(u64, u64)> {
        shadow.segments.iter().map(|(&start, segment)| (start, segment.end)).collect()
    }

    #[test]
    fn bytes_that_were_accessed_alike_are_one_segment() {
        let (mut shadow, clock) = (Shadow::default(), Clock::new(2));
        touch(&mut shadow, 0, &clock, AccessKind::Write, 10..20);
        touch(&mut shadow, 0, &clock, AccessKind::Read, 15..30);
        assert_eq!(borders(&shadow), [(10, 15), (15, 20), (20, 30)]);
        touch(&mut shadow, 0, &clock, AccessKind::Write, 12..28);
        assert_eq!(borders(&shadow), [(10, 12), (12, 28), (28, 30)]);
        touch(&mut shadow, 0, &clock, AccessKind::Write, 0..40);
        assert_eq!(borders(&shadow), [(0, 40)]);
        touch(&mut shadow, 0, &clock, AccessKind::Read, 40..40);
        assert_eq!(borders(&shadow), [(0, 40)], "no bytes, no access");
    }

    #[test]
    fn each_segment_tells_its_races() {
        let (mut shadow, clock) = (Shadow::default(), Clock::new(2));
        assert_eq!(touch(&mut shadow, 0, &clock, AccessKind::Write, 0..8), 0);
        assert_eq!(touch(&mut shadow, 1, &clock, AccessKind::Write, 8..16), 0, "beside it");
        assert_eq!(touch(&mut shadow, 1, &clock, AccessKind::Read, 4..12), 1);
        assert_eq!(
            touch(&mut shadow, 0, &clock, AccessKind::Write, 0..16),
            4,
            "1 in 4..8, 2 in 8..12, 1 in 12..16"
        );
    }

    #[test]
    fn what_all_know_is_forgotten_and_races_no_more() {
        let (mut shadow, mut clock) = (Shadow::default(), Clock::new(2));
        touch(&mut shadow, 0, &clock, AccessKind::Write, 0..8);
        shadow.forget(&clock);
        assert_eq!(shadow.len(), 1);
        clock.learn_step(0, 1);
        shadow.forget(&clock);
        assert_eq!(shadow.len(), 0);
    }
}
