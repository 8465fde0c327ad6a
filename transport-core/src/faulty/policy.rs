//! `FaultPolicy`: which faults, how often, on whom.

use std::time::Duration;

use super::dice::{About, Chance, Dice};

/// Which faults happen, at which operation or how likely, and on which PEs. Without any call of its methods, none does.
///
/// Operations are counted on each PE from 1; see [`Faulty`](super::Faulty).
#[derive(Debug, Clone)]
#[must_use]
pub struct FaultPolicy {
    pub(super) seed: u64,
    pub(super) linger: Duration,
    only: Vec<usize>,
    delay: Chance,
    duplicate: Chance,
    fail: Chance,
    fail_at: Vec<u64>,
    die: Chance,
    die_at: Vec<u64>,
    stall: Chance,
    stall_for: Duration,
    stall_at: Vec<(u64, Duration)>,
}

/// What happens to one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) dies: bool,
    pub(super) fails: bool,
    pub(super) stalls: Option<Duration>,
    pub(super) is_delayed: bool,
    pub(super) is_told_twice: bool,
}

impl FaultPolicy {
    /// How long a held operation is held at most, unless told otherwise.
    pub const DEFAULT_LINGER: Duration = Duration::from_millis(1);

    /// No faults yet; all that is left to chance follows from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            linger: Self::DEFAULT_LINGER,
            only: Vec::new(),
            delay: Chance::default(),
            duplicate: Chance::default(),
            fail: Chance::default(),
            fail_at: Vec::new(),
            die: Chance::default(),
            die_at: Vec::new(),
            stall: Chance::default(),
            stall_for: Duration::ZERO,
            stall_at: Vec::new(),
        }
    }

    /// Each put, get and signal is delayed with this probability, 0 to 1.
    pub fn delay(mut self, probability: f64) -> Self {
        self.delay = Chance::new(probability);
        self
    }

    /// A delayed operation goes after this at the latest, whether another call orders it or not.
    pub fn linger(mut self, longest: Duration) -> Self {
        self.linger = longest;
        self
    }

    /// Each completion of a get and each end of a quiet is told twice with this probability.
    pub fn duplicate(mut self, probability: f64) -> Self {
        self.duplicate = Chance::new(probability);
        self
    }

    /// Operation `k` never lands; or the next after it that goes to another PE, if it does not. Several calls add up.
    pub fn fail_operation(mut self, k: u64) -> Self {
        self.fail_at.push(k);
        self
    }

    /// Each operation fails with this probability.
    pub fn fail(mut self, probability: f64) -> Self {
        self.fail = Chance::new(probability);
        self
    }

    /// The PE dies at operation `k`, before that does anything.
    pub fn die_at(mut self, k: u64) -> Self {
        self.die_at.push(k);
        self
    }

    /// The PE dies at each operation with this probability.
    pub fn die(mut self, probability: f64) -> Self {
        self.die = Chance::new(probability);
        self
    }

    /// From operation `k` on nothing of the PE goes out, for so long; [`Duration::MAX`] is for good. Its calls that post
    /// return; its calls that wait do so until the stall is over, or to the deadline.
    pub fn stall_at(mut self, k: u64, lasts: Duration) -> Self {
        self.stall_at.push((k, lasts));
        self
    }

    /// The PE stalls at each operation with this probability, for so long.
    pub fn stall(mut self, probability: f64, lasts: Duration) -> Self {
        (self.stall, self.stall_for) = (Chance::new(probability), lasts);
        self
    }

    /// All of this happens on `pe` only. Several calls add up.
    pub fn only_on(mut self, pe: usize) -> Self {
        self.only.push(pe);
        self
    }

    /// What happens to operation `k` of `pe`.
    pub(super) fn fate(&self, dice: &Dice, pe: usize, k: u64) -> Fate {
        let here = self.only.is_empty() || self.only.contains(&pe);
        let happens = |chance, about| here && dice.happens(chance, about, k);
        let at = self.stall_at.iter().find(|(at, _)| here && *at == k).map(|(_, lasts)| *lasts);
        Fate {
            dies: here && self.die_at.contains(&k) || happens(self.die, About::Die),
            fails: here && self.fail_at.contains(&k) || happens(self.fail, About::Fail),
            stalls: at.or_else(|| happens(self.stall, About::Stall).then_some(self.stall_for)),
            is_delayed: happens(self.delay, About::Delay),
            is_told_twice: happens(self.duplicate, About::Duplicate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_happen_where_they_are_asked_for() {
        let policy =
            FaultPolicy::new(1).die_at(4).fail_operation(2).stall_at(3, Duration::MAX).delay(1.0).only_on(1);
        let fate = |pe, k| policy.fate(&Dice::new(1, pe), pe, k);
        for k in 1..10 {
            let none = fate(0, k);
            assert!(!none.dies && !none.fails && none.stalls.is_none() && !none.is_delayed, "{none:?}");
            let some = fate(1, k);
            assert_eq!((some.dies, some.fails, some.is_delayed), (k == 4, k == 2, true));
            assert_eq!(some.stalls, (k == 3).then_some(Duration::MAX));
        }
    }

    #[test]
    fn without_a_wish_there_is_no_fault() {
        let none = Fate { dies: false, fails: false, stalls: None, is_delayed: false, is_told_twice: false };
        assert!((0..1000).all(|k| FaultPolicy::new(k).fate(&Dice::new(k, 0), 0, k) == none));
    }
}
