//! Makes a schedule that fails shorter.

use std::cell::Cell;
use std::fmt;
use std::future::Future;

use super::action::Name;
use super::explore::Runner;
use super::failure::FailureKind;
use super::pe::SimPe;
use super::schedule::Schedule;

/// It ends after so many schedules,
const MOST_RUNS: u64 = 2000;
/// or so many steps of all of them.
const MOST_STEPS: u64 = 20_000_000;

/// The fewest deviations from the usual schedule that still fail in the same way, as far as leaving some out finds them (delta
/// debugging, Zeller and Hildebrandt 2002).
pub(super) fn shrink<F, Fut, E>(runner: &mut Runner<'_, F>, found: &Schedule, kind: &FailureKind) -> Schedule
where
    F: Fn(SimPe) -> Fut,
    Fut: Future<Output = Result<(), E>> + Send,
    E: fmt::Display,
{
    let mut best = found.clone();
    if matches!(kind, FailureKind::Endless { .. }) {
        return best;
    }
    let (runs, steps) = (Cell::new(0_u64), Cell::new(0_u64));
    let mut try_without = |best: &Schedule, range: std::ops::Range<usize>| -> Option<Schedule> {
        let kept = best.deviations.iter().enumerate().filter(|(at, _)| !range.contains(at));
        let deviations: Vec<(u64, Name)> = kept.map(|(_, &deviation)| deviation).collect();
        let candidate = Schedule { deviations, ..best.clone() };
        let (failed, deviations, took) = runner.fails(&candidate);
        runs.set(runs.get() + 1);
        steps.set(steps.get() + took);
        let shorter = deviations.len() < best.deviations.len();
        let same =
            failed.is_some_and(|failed| std::mem::discriminant(&failed) == std::mem::discriminant(kind));
        // What was passed over falls out.
        (same && shorter).then_some(Schedule { deviations, ..candidate })
    };
    let mut size = best.deviations.len().max(1);
    loop {
        let (mut at, before) = (0, best.deviations.len());
        while at < best.deviations.len() {
            match try_without(&best, at..at + size) {
                Some(shorter) => best = shorter,
                None => at += size,
            }
            if runs.get() >= MOST_RUNS || steps.get() >= MOST_STEPS {
                return best;
            }
        }
        let shorter = best.deviations.len() < before;
        match (size, shorter) {
            (1, false) => return best,
            (1, true) => {}
            _ => size = (size / 2).max(1),
        }
        if best.deviations.is_empty() {
            return best;
        }
    }
}
