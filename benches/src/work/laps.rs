//! The time of each round.

use std::time::{Duration, Instant};

/// Is told of each round as it ends. Of no cost if nobody wants to know: `()`.
pub(crate) trait Laps: Send {
    /// The rounds begin.
    fn begin(&mut self) {}

    /// One has ended.
    fn lap(&mut self) {}
}

impl Laps for () {}

/// Keeps the time of each round, of the first million.
#[derive(Debug)]
pub(crate) struct LapTimes {
    last: Instant,
    /// Nanoseconds. All of it is there from the beginning, so that no round pays for it.
    laps: Box<[u32]>,
    done: usize,
}

impl LapTimes {
    const MOST: u64 = 1_000_000;

    pub(crate) fn new(rounds: u64) -> Self {
        // Not 0, which would be made of pages that are not there yet.
        let laps = vec![u32::MAX; rounds.min(Self::MOST) as usize].into();
        Self { last: Instant::now(), laps, done: 0 }
    }

    /// The median; nothing if the work's rounds are not apart from each other.
    pub(crate) fn median(mut self) -> Option<Duration> {
        let laps = &mut self.laps[..self.done];
        let middle = laps.len() / 2;
        (!laps.is_empty()).then(|| Duration::from_nanos((*laps.select_nth_unstable(middle).1).into()))
    }
}

impl Laps for LapTimes {
    fn begin(&mut self) {
        self.last = Instant::now();
    }

    #[inline]
    fn lap(&mut self) {
        let now = Instant::now();
        if let Some(lap) = self.laps.get_mut(self.done) {
            *lap = u32::try_from(now.duration_since(self.last).as_nanos()).unwrap_or(u32::MAX);
            self.done += 1;
        }
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_rounds() {
        assert_eq!(LapTimes::new(3).median(), None);
        let mut times = LapTimes::new(3);
        times.begin();
        for millis in [1, 30, 5, 500] {
            // The fourth is more than there is room for.
            times.last = Instant::now().checked_sub(Duration::from_millis(millis)).unwrap();
            times.lap();
        }
        let median = times.median().unwrap();
        assert!((Duration::from_millis(5)..Duration::from_millis(30)).contains(&median), "{median:?}");
    }
}
