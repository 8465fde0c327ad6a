//! Sets of operation numbers, as disjoint ranges.

use std::ops::Range;

/// Numbers in ranges that neither overlap nor touch, in rising order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Intervals(Vec<Range<u64>>);

impl Intervals {
    /// Adds all of `new`.
    pub(super) fn insert(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        // Those before `from` end before it with a gap; those at and after `to` begin after it with a gap.
        let from = self.0.partition_point(|range| range.end < new.start);
        let to = self.0.partition_point(|range| range.start <= new.end);
        let touched = self.0.get(from..to).unwrap_or_default();
        let start = touched.first().map_or(new.start, |first| first.start.min(new.start));
        let end = touched.last().map_or(new.end, |last| last.end.max(new.end));
        self.0.splice(from..to, std::iter::once(start..end));
    }

    /// Adds all of `other`.
    pub(super) fn join(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for range in &other.0 {
            self.insert(range.clone());
        }
    }

    /// Whether all of `range` is in it.
    pub(super) fn covers(&self, range: &Range<u64>) -> bool {
        let at = self.0.partition_point(|own| own.end < range.end);
        range.is_empty() || self.0.get(at).is_some_and(|own| own.start <= range.start)
    }

    /// Forgets the ranges that lie below `limit`.
    pub(super) fn forget_below(&mut self, limit: u64) {
        self.0.retain(|range| range.end > limit);
    }

    /// How many ranges it has.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
            prop_assert!(set.0.windows(2).all(|two| two[0].end < two[1].start), "{:?}", set);
            set.forget_below(20);
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
