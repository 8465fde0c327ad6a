//! What came out, case by case.

use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use super::failure::Failure;

/// How one case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As the contract says, on every PE.
    Ok,
    /// Not so, on these PEs.
    Failed(Vec<Failure>),
    /// Not run, and why.
    Skipped(String),
}

/// One case of a [`Report`].
#[derive(Debug, Clone)]
pub struct Entry {
    /// The case.
    pub name: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took on this PE.
    pub time: Duration,
}

/// What a PE reports of a run of the suite. It displays as a line for each case (and for each failure), and a summary.
#[derive(Debug, Clone)]
pub struct Report {
    /// The backend's name.
    pub backend: &'static str,
    /// The PE that reports.
    pub my_pe: usize,
    /// PEs of the job.
    pub n_pes: usize,
    /// The seed of the run.
    pub seed: u64,
    /// The cases, as they were run.
    pub entries: Vec<Entry>,
    /// The job can be used no more, `finalize` included.
    pub ended: bool,
}

impl Report {
    /// Whether at least one case was selected and none failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.entries.is_empty() && self.failures().next().is_none()
    }

    /// All failures, case by case.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.entries.iter().flat_map(|entry| match &entry.outcome {
            Outcome::Failed(failures) => failures.as_slice(),
            Outcome::Ok | Outcome::Skipped(_) => &[],
        })
    }

    /// For a program's end: success if [`Report::passed`].
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if self.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut ok, mut failed, mut skipped) = (0, 0, 0);
        for Entry { name, outcome, time } in &self.entries {
            match outcome {
                Outcome::Ok => {
                    ok += 1;
                    writeln!(f, "{name:<40} ok ({time:.1?})")?;
                }
                Outcome::Skipped(why) => {
                    skipped += 1;
                    writeln!(f, "{name:<40} skipped: {why}")?;
                }
                Outcome::Failed(failures) => {
                    failed += 1;
                    writeln!(f, "{name:<40} FAILED ({time:.1?})")?;
                    for failure in failures {
                        writeln!(f, "    PE {}: {}", failure.pe, failure.mismatch)?;
                    }
                }
            }
        }
        let Self { backend, my_pe, n_pes, seed, .. } = self;
        write!(
            f,
            "{backend}, PE {my_pe} of {n_pes}, seed {seed}: {ok} ok, {failed} failed, {skipped} skipped"
        )
    }
}
