//! Which operations of a PE are complete.

use std::collections::VecDeque;
use std::ops::Range;

/// The first operation that is not complete, and which after it are. Of operations that complete in order it keeps nothing.
#[derive(Debug, Default)]
pub(crate) struct Window {
    first: u64,
    /// How many there are.
    posted: u64,
    /// Complete ones after the first that is not: in order, with gaps between them.
    later: VecDeque<Range<u64>>,
}

impl Window {
    /// All operations before this one are complete.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The next operation, which is complete already or not.
    pub(crate) fn push(&mut self, complete: bool) {
        let number = self.posted;
        self.posted += 1;
        if complete {
            self.complete(number);
        }
    }

    /// Operation `number` is complete.
    pub(crate) fn complete(&mut self, number: u64) {
        if number == self.first {
            self.first += 1;
            if let Some(end) = self.later.front().filter(|next| next.start == number + 1).map(|next| next.end)
            {
                self.first = end;
                self.later.pop_front();
            }
            return;
        }
        let at = self.later.partition_point(|range| range.end < number);
        match self.later.get_mut(at) {
            Some(range) if range.end == number => {
                range.end += 1;
                let end = range.end;
                if let Some(next) = self.later.get(at + 1).filter(|next| next.start == end).cloned() {
                    self.later[at].end = next.end;
                    self.later.remove(at + 1);
                }
            }
            Some(range) if range.start == number + 1 => range.start = number,
            _ => self.later.insert(at, number..number + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_not_complete_is_known() {
        let mut window = Window::default();
        for complete in [true, false, true, false, false] {
            window.push(complete);
        }
        let mut firsts = vec![window.first()];
        for number in [3, 1, 4] {
            window.complete(number);
            firsts.push(window.first());
        }
        assert_eq!(firsts, [1, 1, 4, 5]);
    }

    #[test]
    fn any_order_of_completion_comes_to_the_same_as_a_list() {
        let mut random = super::super::network::Random::new(3);
        for n in 1..40_u64 {
            let (mut window, mut list) = (Window::default(), vec![false; n as usize]);
            (0..n).for_each(|_| window.push(false));
            let mut left: Vec<u64> = (0..n).collect();
            while !left.is_empty() {
                let number = left.swap_remove(random.below(left.len() as u64) as usize);
                window.complete(number);
                list[number as usize] = true;
                let first = list.iter().position(|complete| !complete).unwrap_or(list.len());
                assert_eq!(window.first(), first as u64, "{list:?}");
            }
            assert!(window.later.is_empty());
        }
    }
}
