//! What must not overtake what, on the way from one PE to another.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// A way from one PE to another: `(from, to, flags of the barrier)`.
pub(crate) type Way = (u32, u32, bool);

/// The ways on which something is.
#[derive(Debug, Default)]
pub(crate) struct Ways(HashMap<Way, VecDeque<Group>, BuildHasherDefault<Mix>>);

/// Messages that may overtake each other, but not those before or after.
#[derive(Debug)]
struct Group {
    key: u64,
    /// Of them, so many have not landed.
    open: u32,
    /// These wait until all groups before have landed.
    blocked: Vec<u32>,
}

impl Ways {
    /// Message `slot` goes that way; whether it may land now. Equal keys one after the other have no order.
    pub(crate) fn enter(&mut self, way: Way, key: u64, slot: u32, waits_for_data: bool) -> bool {
        let groups = self.0.entry(way).or_default();
        if groups.back().is_none_or(|group| group.key != key) {
            groups.push_back(Group { key, open: 0, blocked: Vec::new() });
        }
        let first = groups.len() == 1;
        if let Some(group) = groups.back_mut() {
            group.open += 1;
            // What waits for data of its own group is let go by that data.
            if !first && !waits_for_data {
                group.blocked.push(slot);
            }
        }
        first
    }

    /// A message of the first group has landed. The messages that may land now.
    pub(crate) fn leave(&mut self, way: Way) -> Vec<u32> {
        let Some(groups) = self.0.get_mut(&way) else { return Vec::new() };
        let Some(first) = groups.front_mut() else { return Vec::new() };
        first.open -= 1;
        if first.open > 0 {
            return Vec::new();
        }
        groups.pop_front();
        groups.front_mut().map(|group| std::mem::take(&mut group.blocked)).unwrap_or_default()
    }
}

/// Hashes PE numbers. The keys are few and nobody's attack.
#[derive(Debug, Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(23) ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_goes_when_those_before_have_landed() {
        let mut ways = Ways::default();
        let way = (0, 1, false);
        assert!(ways.enter(way, 0, 10, false) && ways.enter(way, 0, 11, false));
        assert!(
            !ways.enter(way, 1, 12, false) && !ways.enter(way, 1, 13, true) && !ways.enter(way, 2, 14, false)
        );
        assert!(ways.enter((1, 0, false), 7, 20, false), "another way");
        assert_eq!(ways.leave(way), []);
        assert_eq!(ways.leave(way), [12], "13 waits for its data");
        assert_eq!(ways.leave(way), []);
        assert_eq!(ways.leave(way), [14]);
        assert_eq!(ways.leave(way), []);
        assert!(ways.enter(way, 2, 15, false));
    }
}
