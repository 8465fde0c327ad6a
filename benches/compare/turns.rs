//! The yardstick of a barrier of more processes than processors: they count in one word and yield, with nothing around it. Nothing
//! can meet in less turns, so it shows what the system's turns themselves cost.

use std::ffi::OsString;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::handoff::{Lines, PATIENCE, Part, for_about};

/// The first argument of this program in this role; the seconds and the file follow.
pub(crate) const ROLE: &str = "__turns";

/// How many have come, in all rounds together.
const ARRIVED: usize = 0;
/// How many rounds all are to do.
const ROUNDS: usize = 1;
/// In its place: that was all.
const END: u64 = u64::MAX;

/// Gives its turn away until `word` has at least this value, and answers it.
fn wait_for(lines: &Lines, word: usize, value: u64) -> Result<u64, String> {
    let begun = Instant::now();
    loop {
        // Between two looks at the clock.
        for _ in 0..1000 {
            let found = lines.word(word).load(Ordering::Acquire);
            if found >= value {
                return Ok(found);
            }
            std::thread::yield_now();
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("the other processes did nothing for {PATIENCE:?}"));
        }
    }
}

/// One of `n_pes`, that does as many rounds as it is told.
fn follow(lines: &Lines, n_pes: u64) -> Result<(), String> {
    let mut done = 0;
    loop {
        let rounds = wait_for(lines, ROUNDS, done + 1)?;
        if rounds == END {
            return Ok(());
        }
        while done < rounds {
            done += 1;
            lines.word(ARRIVED).fetch_add(1, Ordering::AcqRel);
            wait_for(lines, ARRIVED, done * n_pes)?;
        }
    }
}

/// The one that counts and measures: so many rounds more.
fn lead(lines: &Lines, n_pes: u64, done: &mut u64, rounds: u64) -> Result<Duration, String> {
    let start = Instant::now();
    lines.word(ROUNDS).store(*done + rounds, Ordering::Release);
    for _ in 0..rounds {
        *done += 1;
        lines.word(ARRIVED).fetch_add(1, Ordering::AcqRel);
        wait_for(lines, ARRIVED, *done * n_pes)?;
    }
    Ok(start.elapsed())
}

/// A round in us, and how many there were.
fn measure(lines: &Lines, n_pes: u64, seconds: Duration) -> Result<(f64, u64), String> {
    let mut done = 0;
    let (took, rounds) = for_about(seconds, |rounds| lead(lines, n_pes, &mut done, rounds))?;
    lines.word(ROUNDS).store(END, Ordering::Release);
    Ok((took.as_secs_f64() * 1e6 / rounds as f64, rounds))
}

/// The role itself.
///
/// # Errors
///
/// What went wrong.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> Result<(), String> {
    let part = Part::of(arguments)?;
    match part.pe {
        0 => part.tell("turns", 0, measure(&part.lines, part.n_pes, part.seconds)?),
        _ => follow(&part.lines, part.n_pes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::Shared;

    #[test]
    fn all_meet_in_every_round() {
        let shared = Shared::new().unwrap();
        let name = OsString::from(&shared.name);
        let lines = Lines::open(&name).unwrap();
        let others: Vec<_> = (1..3)
            .map(|_| {
                let name = name.clone();
                std::thread::spawn(move || follow(&Lines::open(&name).unwrap(), 3))
            })
            .collect();
        let (value, rounds) = measure(&lines, 3, Duration::from_millis(5)).unwrap();
        others.into_iter().for_each(|other| other.join().unwrap().unwrap());
        assert!(value > 0.0);
        let arrived = lines.word(ARRIVED).load(Ordering::Relaxed);
        assert!(arrived.is_multiple_of(3) && arrived >= 3 * rounds, "{arrived} in {rounds}");
    }
}
