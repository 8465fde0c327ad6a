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
    // What is around the rounds takes longer than they do where data is large: writing it, and looking at what has come. So what
    // counts is by how much more rounds take longer than one; the first of all pays for memory that nobody has touched yet.
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
        watch.time(work, rounds)?;
        let more = (now() - start).saturating_sub(one);
        let fit = next_rounds(rounds - 1, more, time);
        // A quarter of it says enough.
        if more >= time / 4 {
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
        /// What is around all rounds of a call.
        around: Duration,
        now: Rc<Cell<Instant>>,
    }

    impl Fake {
        fn new(round: u64, around: u64) -> Self {
            let [round, around] = [round, around].map(Duration::from_millis);
            Self { round, around, now: Rc::new(Cell::new(Instant::now())) }
        }
    }

    impl Watch for Fake {
        fn time(&mut self, _: Work, rounds: u64) -> Result<Duration, WorkError> {
            let took = self.round * u32::try_from(rounds).unwrap();
            self.now.set(self.now.get() + took + self.around);
            Ok(took)
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
        let rounds = |round, around| {
            let mut fake = Fake::new(round, around);
            let now = Rc::clone(&fake.now);
            calibrate(&mut fake, work, time, &|| now.get()).unwrap()
        };
        assert_eq!(rounds(1, 0), 60);
        assert_eq!(rounds(70, 0), 1);
        assert_eq!(rounds(16, 1000), 3);
        // What is around them is none of them.
        assert_eq!(rounds(2, 1000), 30);
    }

    #[test]
    fn given_rounds_are_taken_as_they_are() {
        let goal = Goal::Rounds(3);
        let measure = Measure { works: Vec::new(), goal, repeat: 2, typical: false, json: false };
        let measured = measure.measure(&mut Fake::new(10, 0), "barrier".parse().unwrap()).unwrap();
        assert_eq!((measured.rounds, measured.values.len()), (3, 2));
        assert!((measured.values[0] - 10_000.0).abs() < 1e-3);
    }
}
