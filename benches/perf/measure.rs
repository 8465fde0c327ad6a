//! How often a work is done, and what comes out.

use std::time::{Duration, Instant};

use benches::{Watch, Work, WorkError};

use crate::report::Measured;

/// How much is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// So many rounds.
    Rounds(u64),
    /// As many as take about so long.
    Time(Duration),
}

/// What was asked for, checked.
#[derive(Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) works: Vec<Work>,
    /// Of one repeat.
    pub(crate) goal: Goal,
    pub(crate) repeat: u32,
    /// The median of rounds instead of their mean.
    pub(crate) typical: bool,
    pub(crate) json: bool,
}

impl Measure {
    /// PE 0: measures one work.
    pub(crate) fn measure(&self, watch: &mut dyn Watch, work: Work) -> Result<Measured, WorkError> {
        let rounds = match self.goal {
            Goal::Rounds(rounds) => rounds,
            Goal::Time(time) => calibrate(watch, work, time, &Instant::now)?,
        };
        let mut values = Vec::with_capacity(self.repeat as usize);
        for _ in 0..self.repeat {
            values.push(if self.typical {
                work.value(watch.typical(work, rounds)?, 1)
            } else {
                work.value(watch.time(work, rounds)?, rounds)
            });
        }
        Ok(Measured { work, backend: watch.backend(), n_pes: watch.n_pes(), rounds, values })
    }
}

/// How many rounds take about `time` by the clock of PE 0. Also warms up.
fn calibrate(
    watch: &mut dyn Watch,
    work: Work,
    time: Duration,
    now: &dyn Fn() -> Instant,
) -> Result<u64, WorkError> {
    // What is around the rounds takes longer than they do where data is large: writing it, and looking at what has come. So the
    // rounds' own time counts. In some works that leaves out what completes them, so the clock's counts too, but only where it
    // cannot be the noise of what is around. The first of all pays for memory that nobody has touched yet.
    watch.time(work, 1)?;
    let start = now();
    let own = watch.time(work, 1)?;
    let one = now() - start;
    if own >= time / 4 {
        return Ok(next_rounds(1, own, time));
    }
    let mut rounds = 2;
    loop {
        let start = now();
        let own = watch.time(work, rounds)?;
        let more = Some((now() - start).saturating_sub(one)).filter(|more| *more > one);
        let fit = next_rounds(rounds, own, time);
        let fit = more.map_or(fit, |more| fit.min(next_rounds(rounds - 1, more, time)));
        // A quarter of it says enough.
        if own.max(more.unwrap_or_default()) >= time / 4 {
            return Ok(fit);
        }
        // Short runs say little of long ones, so not too far at once.
        rounds = (fit / 2).clamp(rounds.saturating_mul(2), rounds.saturating_mul(32));
    }
}

/// How many rounds take `time`, if `rounds` took `took`.
fn next_rounds(rounds: u64, took: Duration, time: Duration) -> u64 {
    let one = took.as_secs_f64().max(1e-9) / rounds as f64;
    // A float too large becomes the largest integer.
    ((time.as_secs_f64() / one) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use transport_core::collectives::AllGatherAlgorithm;

    use super::*;

    /// Its time is its own.
    struct Fake {
        round: Duration,
        /// What is around all rounds of a call, from call to call.
        around: Box<dyn Iterator<Item = Duration>>,
        /// How much of each round it tells as its own time.
        tells: f64,
        now: Rc<Cell<Instant>>,
    }

    impl Fake {
        fn new(round: u64, around: &'static [u64]) -> Self {
            let around = Box::new(around.iter().cycle().copied().map(Duration::from_millis));
            let round = Duration::from_millis(round);
            Self { round, around, tells: 1.0, now: Rc::new(Cell::new(Instant::now())) }
        }
    }

    impl Watch for Fake {
        fn time(&mut self, _: Work, rounds: u64) -> Result<Duration, WorkError> {
            let took = self.round * u32::try_from(rounds).unwrap();
            self.now.set(self.now.get() + took + self.around.next().unwrap_or_default());
            Ok(took.mul_f64(self.tells))
        }

        fn typical(&mut self, work: Work, rounds: u64) -> Result<Duration, WorkError> {
            self.time(work, rounds).map(|took| took / u32::try_from(rounds).unwrap())
        }

        fn gathers_by(&self, work: Work) -> Result<Option<AllGatherAlgorithm>, WorkError> {
            Ok(work.algorithm())
        }

        fn backend(&self) -> &'static str {
            "fake"
        }

        fn n_pes(&self) -> usize {
            2
        }
    }

    #[test]
    fn rounds_fit_the_time() {
        let work: Work = "barrier".parse().unwrap();
        let time = Duration::from_millis(60);
        let fit = |mut fake: Fake| {
            let now = Rc::clone(&fake.now);
            calibrate(&mut fake, work, time, &|| now.get()).unwrap()
        };
        let rounds = |round, around| fit(Fake::new(round, around));
        assert_eq!(rounds(1, &[0]), 60);
        assert_eq!(rounds(70, &[0]), 1);
        assert_eq!(rounds(16, &[1000]), 3);
        // What is around them is none of them, though it is not always the same.
        assert_eq!(rounds(2, &[1000]), 30);
        assert_eq!(rounds(2, &[1000, 900, 1100, 950]), 30);
        // What they leave out of their own time is theirs.
        assert_eq!(fit(Fake { tells: 0.001, ..Fake::new(2, &[0]) }), 30);
    }

    #[test]
    fn given_rounds_are_taken_as_they_are() {
        let goal = Goal::Rounds(3);
        let measure = Measure { works: Vec::new(), goal, repeat: 2, typical: false, json: false };
        let measured = measure.measure(&mut Fake::new(10, &[0]), "barrier".parse().unwrap()).unwrap();
        assert_eq!((measured.rounds, measured.values.len()), (3, 2));
        assert!((measured.values[0] - 10_000.0).abs() < 1e-3);
    }
}
