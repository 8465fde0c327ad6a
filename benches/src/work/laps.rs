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
///
/// By the processor's own counter where it has one, as `ib_write_lat` does: where the system's clock is dear, as in an emulated
/// machine, a look at it in each round would be a good part of what is measured.
#[derive(Debug)]
pub(crate) struct LapTimes {
    /// When the rounds began, by both.
    began: (Instant, u64),
    last: u64,
    /// Ticks. All of it is there from the beginning, so that no round pays for it.
    laps: Box<[u64]>,
    done: usize,
}

impl LapTimes {
    const MOST: u64 = 1_000_000;

    pub(crate) fn new(rounds: u64) -> Self {
        // Not 0, which would be made of pages that are not there yet.
        let laps = vec![u64::MAX; rounds.min(Self::MOST) as usize].into();
        Self { began: (Instant::now(), ticks()), last: ticks(), laps, done: 0 }
    }

    /// The median; nothing if the work's rounds are not apart from each other.
    pub(crate) fn median(mut self) -> Option<Duration> {
        let (all, all_ticks) = (self.began.0.elapsed(), ticks().wrapping_sub(self.began.1));
        let laps = &mut self.laps[..self.done];
        let middle = laps.len() / 2;
        let median = (!laps.is_empty()).then(|| *laps.select_nth_unstable(middle).1)?;
        Some(all.mul_f64(median as f64 / all_ticks.max(1) as f64))
    }
}

impl Laps for LapTimes {
    fn begin(&mut self) {
        self.began = (Instant::now(), ticks());
        self.last = self.began.1;
    }

    #[inline]
    fn lap(&mut self) {
        let now = ticks();
        if let Some(lap) = self.laps.get_mut(self.done) {
            *lap = now.wrapping_sub(self.last);
            self.done += 1;
        }
        self.last = now;
    }
}

/// A count that goes up evenly.
#[inline]
fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it reads a counter that every processor of this kind has, and changes nothing.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    {
        static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        BEGAN.elapsed().as_nanos() as u64
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
        for millis in [1, 100, 20, 1] {
            // The fourth is more than there is room for.
            std::thread::sleep(Duration::from_millis(millis));
            times.lap();
        }
        let median = times.median().unwrap();
        assert!((Duration::from_millis(15)..Duration::from_millis(90)).contains(&median), "{median:?}");
    }
}
