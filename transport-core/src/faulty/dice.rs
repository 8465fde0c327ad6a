//! Chance that depends on the seed, the PE and the number of the operation, and on nothing that happened before.

/// What is asked for: each has its own chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Delay = 1,
    DelayFor,
    Order,
    Fail,
    FailWhom,
    Die,
    LandsAtDeath,
    Stall,
    Duplicate,
    ReleaseAtWait,
}

/// A probability, as a part of all 64-bit numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(probability: f64) -> Self {
        // A cast saturates, and takes "not a number" for 0.
        Self((probability * u64::MAX as f64) as u64)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Dice {
    seed: u64,
}

impl Dice {
    pub(super) fn new(seed: u64, pe: usize) -> Self {
        Self { seed: mix(mix(seed) ^ pe as u64) }
    }

    pub(super) fn number(&self, about: About, operation: u64) -> u64 {
        mix(mix(self.seed ^ operation) ^ about as u64)
    }

    /// A number below `limit`.
    pub(super) fn below(&self, about: About, operation: u64, limit: u64) -> u64 {
        self.number(about, operation) % limit.max(1)
    }

    pub(super) fn happens(&self, chance: Chance, about: About, operation: u64) -> bool {
        chance.0 == u64::MAX || self.number(about, operation) < chance.0
    }
}

/// The step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_as_asked() {
        let dice = Dice::new(3, 1);
        let count = |p| (0..10_000).filter(|&k| dice.happens(Chance::new(p), About::Delay, k)).count();
        assert_eq!(
            (count(0.0), count(1.0), count(-3.0), count(7.0), count(f64::NAN)),
            (0, 10_000, 0, 10_000, 0)
        );
        assert!((2300..2700).contains(&count(0.25)), "{}", count(0.25));
    }

    #[test]
    fn seed_pe_number_and_question_all_matter() {
        let number = |seed, pe, about, k| Dice::new(seed, pe).number(about, k);
        let one = number(1, 1, About::Die, 1);
        assert_eq!(one, number(1, 1, About::Die, 1));
        for other in [
            number(2, 1, About::Die, 1),
            number(1, 2, About::Die, 1),
            number(1, 1, About::Fail, 1),
            number(1, 1, About::Die, 2),
        ] {
            assert_ne!(one, other);
        }
    }
}
