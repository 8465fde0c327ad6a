//! `check`: one line in a test.

use std::fmt;
use std::future::Future;

use super::explore::Exploration;
use super::failure::Failure;
use super::pe::SimPe;
use super::race::RaceDetector;
use super::setup::Sim;

/// Schedules that are tried in order, before chance takes over.
const IN_ORDER: u64 = 500;
const BY_CHANCE: u64 = 1000;

/// Runs `body` on `n_pes` PEs in many schedules, and panics with the story of the first that fails, or in which two accesses to
/// the same bytes are not ordered ([`RaceDetector`]), even if nobody has seen wrong data yet.
///
/// If some hundred schedules are all that there are, all are run. Else as many random ones as `SHMEM_SIM_SCHEDULES` says (1000 by
/// default), by the seed `SHMEM_SIM_SEED` (a number, 1 by default), half of them by priorities ([`Exploration::Pct`]).
/// `SHMEM_SIM_REPLAY`, with the text that a failure has printed, runs that schedule alone.
///
/// ```
/// use transport_core::Transport;
/// use transport_core::collectives::{AllGatherAlgorithm::Auto, all_gather};
///
/// transport_loopback::sim::check(2, |pe| async move {
///     let (src, dst) = (pe.calloc::<u32>(1).await?, pe.calloc::<u32>(2).await?);
///     pe.begin().await;
///     pe.heap().write(src, &[10 + pe.my_pe() as u32])?;
///     all_gather(&pe, dst, src, Auto).await?;
///     assert_eq!(pe.heap().read_vec(dst)?, [10, 11]);
///     pe.finalize().await
/// });
/// ```
///
/// # Panics
///
/// With the [`Failure`]; if one of the variables is no number or no schedule.
pub fn check<F, Fut, E>(n_pes: usize, body: F)
where
    F: Fn(SimPe) -> Fut,
    Fut: Future<Output = Result<(), E>> + Send,
    E: fmt::Display,
{
    Sim::new(n_pes).check(body);
}

impl Sim {
    /// As [`check`], for a job that is set up otherwise.
    ///
    /// ```
    /// use transport_core::Transport;
    /// use transport_loopback::sim::Sim;
    ///
    /// Sim::new(2).first_epoch(u32::MAX).check(|pe| async move {
    ///     pe.barrier_all().await?;
    ///     pe.finalize().await
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// As `check`.
    #[expect(clippy::panic, reason = "a test fails by a panic")]
    pub fn check<F, Fut, E>(self, body: F)
    where
        F: Fn(SimPe) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send,
        E: fmt::Display,
    {
        let result = self.check_by(&|name| std::env::var(name).ok(), body);
        if let Err(story) = result {
            panic!("{story}");
        }
    }

    /// As `check`, with the variables that `variable` answers.
    fn check_by<F, Fut, E>(mut self, variable: &dyn Fn(&str) -> Option<String>, body: F) -> Result<(), String>
    where
        F: Fn(SimPe) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send,
        E: fmt::Display,
    {
        let number = |name: &str, usual: u64| match variable(name) {
            None => Ok(usual),
            Some(text) => text
                .trim()
                .parse()
                .map_err(|_| format!("{name}={text} is no number; set it to one, or unset it")),
        };
        let story = |failure: Box<Failure>| failure.to_string();
        if self.setup.races {
            self = self.listener(RaceDetector::new());
        }
        if let Some(text) = variable("SHMEM_SIM_REPLAY") {
            let schedule = text.parse().map_err(|error| format!("SHMEM_SIM_REPLAY: {error}"))?;
            return self.explore(Exploration::Replay(schedule), body).map(drop).map_err(story);
        }
        let schedules = number("SHMEM_SIM_SCHEDULES", BY_CHANCE)?;
        self.setup.seed = number("SHMEM_SIM_SEED", self.setup.seed)?;
        let most = IN_ORDER.min(schedules);
        if self.explore(Exploration::Exhaustive { most }, &body).map_err(story)?.complete {
            return Ok(());
        }
        let pct = schedules / 2;
        self.explore(Exploration::Random { schedules: schedules - pct }, &body).map_err(story)?;
        self.explore(Exploration::Pct { schedules: pct, depth: 3 }, &body).map(drop).map_err(story)
    }
}

#[cfg(test)]
mod tests {
    use transport_core::Transport;

    use super::*;

    #[test]
    fn a_race_is_found_though_the_data_are_right() {
        let body = |pe: SimPe| async move {
            let (from, to) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
            pe.put_nbi(to, from, 1 - pe.my_pe())?;
            pe.quiet().await?;
            // Zeros before and after.
            let _ = pe.heap().read_vec(to)?;
            pe.finalize().await
        };
        let story = Sim::new(2).check_by(&|_| None, body).unwrap_err();
        assert!(story.contains("barrier_all") && story.contains("check.rs:"), "{story}");
        assert_eq!(Sim::new(2).races(false).check_by(&|_| None, body), Ok(()));
    }

    fn check_with(variables: &[(&str, &str)], wrong: bool) -> Result<(), String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Sim::new(2).check_by(&variable, |pe| async move {
            assert!(!wrong || pe.my_pe() == 0, "wrong on purpose");
            pe.finalize().await
        })
    }

    #[test]
    fn variables_say_what_is_run() {
        assert_eq!(check_with(&[], false), Ok(()));
        assert_eq!(check_with(&[("SHMEM_SIM_SCHEDULES", "3"), ("SHMEM_SIM_SEED", "9")], false), Ok(()));
        assert!(
            check_with(&[("SHMEM_SIM_SEED", "nine")], false).unwrap_err().contains("SHMEM_SIM_SEED=nine")
        );
        assert!(check_with(&[("SHMEM_SIM_REPLAY", "??")], false).unwrap_err().contains("is no schedule"));
        let story = check_with(&[("SHMEM_SIM_SEED", "9")], true).unwrap_err();
        assert!(story.contains("PE 1 panicked: wrong on purpose"), "{story}");
        assert!(story.contains("SHMEM_SIM_REPLAY=a cargo test"), "{story}");
        let again = check_with(&[("SHMEM_SIM_REPLAY", "a")], true).unwrap_err();
        assert!(again.contains("wrong on purpose"), "{again}");
    }
}
