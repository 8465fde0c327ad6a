//! `Failure`: what went wrong, in which schedule, and how to see it again.

use std::fmt;

use super::schedule::Schedule;
use super::timeline::Timeline;

/// What went wrong in a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The future of a PE panicked.
    Panic {
        /// Whose.
        pe: usize,
        /// The panic's message, and where.
        message: String,
    },
    /// The future of a PE answered an error.
    Error {
        /// Whose.
        pe: usize,
        /// The error.
        message: String,
    },
    /// No PE can go on.
    Stuck {
        /// What each waits for.
        waits: Vec<String>,
    },
    /// A listener found something wrong.
    Listener {
        /// What it says.
        message: String,
    },
    /// It did not come to an end.
    Endless {
        /// After so many steps.
        steps: u64,
    },
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic { pe, message } => write!(f, "PE {pe} panicked: {message}"),
            Self::Error { pe, message } => write!(f, "PE {pe} failed: {message}"),
            Self::Stuck { waits } => write!(f, "nothing can go on: {}", waits.join("; ")),
            Self::Listener { message } => f.write_str(message),
            Self::Endless { steps } => write!(
                f,
                "no end after {steps} steps: is there a loop that looks at something that does not come? Sim::most_steps \
                 sets the limit"
            ),
        }
    }
}

/// A schedule that failed, made as short as it could be. Its `Display` is the whole story.
#[derive(Debug, Clone)]
pub struct Failure {
    pub(crate) seed: u64,
    pub(crate) schedule: Schedule,
    pub(crate) found: Schedule,
    pub(crate) kind: FailureKind,
    pub(crate) timeline: Timeline,
    pub(crate) schedules: u64,
}

impl Failure {
    /// The seed of the exploration.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The schedule: the shortest that was found to fail in the same way.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The schedule in which it was first seen, before it was made shorter.
    #[must_use]
    pub fn found(&self) -> &Schedule {
        &self.found
    }

    /// How many schedules it took, this one included.
    #[must_use]
    pub fn schedules(&self) -> u64 {
        self.schedules
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &FailureKind {
        &self.kind
    }

    /// What happened, line by line.
    #[must_use]
    pub fn timeline(&self) -> String {
        self.timeline.to_string()
    }

    /// The command that runs this schedule again, for a body that is tested by [`check`](super::check).
    #[must_use]
    pub fn command(&self) -> String {
        let package = std::env::var("CARGO_PKG_NAME").map(|name| format!(" -p {name}")).unwrap_or_default();
        let thread = std::thread::current();
        // The harness names a test's thread after the test.
        let test = match thread.name() {
            Some(name) if name != "main" => format!(" {name} -- --exact"),
            _ => String::new(),
        };
        format!("SHMEM_SIM_REPLAY={} cargo test{package}{test}", self.schedule)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, schedule, found, kind, timeline, schedules } = self;
        writeln!(f, "{kind}")?;
        writeln!(f, "found in schedule {schedules}, seed {seed}; {} of its choices", found.deviations())?;
        writeln!(f, "were not the usual ones, {} are needed. To see it again:", schedule.deviations())?;
        writeln!(f, "    {}", self.command())?;
        write!(f, "{timeline}")
    }
}

impl std::error::Error for Failure {}
