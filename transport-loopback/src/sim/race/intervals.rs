//! Sets of operation numbers, as disjoint ranges.

use std::ops::Range;

/// Numbers in ranges that neither overlap nor touch, in rising order. Most sets are one range, which allocates nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Intervals {
    /// Empty if the set is.
    first: Range<u64>,
    more: Vec<Range<u64>>,
}

/// A set of one range.
impl From<Range<u64>> for Intervals {
    fn from(range: Range<u64>) -> Self {
        let first = if range.is_empty() { 0..0 } else { range };
        Self { first, more: Vec::new() }
    }
}

impl Intervals {
    /// Adds all of `new`.
    pub(super) fn insert(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        if self.first.is_empty() {
            self.first = new;
            return;
        }
        if new.end < self.first.start {
            self.more.insert(0, std::mem::replace(&mut self.first, new));
            return;
        }
        if self.first.end < new.start {
            return self.insert_behind(new);
        }
        self.first = self.first.start.min(new.start)..self.first.end.max(new.end);
        let swallowed = self.more.partition_point(|range| range.start <= self.first.end);
        if let Some(last) = self.more.drain(..swallowed).next_back() {
            self.first.end = self.first.end.max(last.end);
        }
    }

    /// Adds what neither overlaps nor touches the first.
    fn insert_behind(&mut self, new: Range<u64>) {
        // Those before `from` end before it with a gap; those at and after `to` begin after it with a gap.
        let from = self.more.partition_point(|range| range.end < new.start);
        let to = self.more.partition_point(|range| range.start <= new.end);
        let touched = self.more.get(from..to).unwrap_or_default();
        let start = touched.first().map_or(new.start, |first| first.start.min(new.start));
        let end = touched.last().map_or(new.end, |last| last.end.max(new.end));
        self.more.splice(from..to, std::iter::once(start..end));
    }

    /// Adds all of `other`.
    pub(super) fn join(&mut self, other: &Self) {
        self.insert(other.first.clone());
        for range in &other.more {
            self.insert(range.clone());
        }
    }

    /// Whether all of `range` is in it.
    pub(super) fn covers(&self, range: &Range<u64>) -> bool {
        if range.is_empty() || range.end <= self.first.end {
            return range.is_empty() || self.first.start <= range.start;
        }
        let at = self.more.partition_point(|own| own.end < range.end);
        self.more.get(at).is_some_and(|own| own.start <= range.start)
    }

    /// Forgets the ranges that lie below `limit`.
    pub(super) fn forget_below(&mut self, limit: u64) {
        if limit < self.first.end {
            return;
        }
        let below = self.more.partition_point(|range| range.end <= limit);
        let mut kept = self.more.drain(..).skip(below);
        self.first = kept.next().unwrap_or_default();
        self.more = kept.collect();
    }

    /// The number behind the last; 0 if the set is empty.
    pub(super) fn end(&self) -> u64 {
        self.more.last().map_or(self.first.end, |last| last.end)
    }

    /// How many ranges it has.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        usize::from(!self.is_empty()) + self.more.len()
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(ranges in prop::collection::vec((0_u64..40, 0_u64..8), 0..12), ask in (0_u64..40, 0_u64..8)) {
            let (mut model, mut set, mut joined) = (BTreeSet::new(), Intervals::default(), Intervals::default());
            for (start, len) in ranges {
                model.extend(start..start + len);
                set.insert(start..start + len);
                let mut one = Intervals::default();
                one.insert(start..start + len);
                joined.join(&one);
            }
            let ask = ask.0..ask.0 + ask.1;
            prop_assert_eq!(set.covers(&ask), ask.clone().all(|number| model.contains(&number)));
            prop_assert_eq!(&set, &joined);
            let all = [&[set.first.clone()], &set.more[..]].concat();
            prop_assert!(all.windows(2).all(|two| two[0].end < two[1].start), "{:?}", set);
            set.forget_below(20);
            prop_assert!(set.is_empty() || set.first.end > 20, "{:?}", set);
            let above = ask.start.max(20)..ask.end.max(20);
            prop_assert_eq!(set.covers(&above), above.clone().all(|number| model.contains(&number)));
        }
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut set = Intervals::default();
        (0..1000).for_each(|number| set.insert(number..number + 1));
        assert_eq!((set.len(), set.covers(&(0..1000)), set.covers(&(0..1001))), (1, true, false));
    }
}
