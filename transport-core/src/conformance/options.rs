//! What of the suite is run, and how long.

/// Which cases are run and how much each does. All PEs of a job need the same.
///
/// ```
/// # use transport_core::conformance::Options;
/// let quick = Options::default().matching("put").rounds_percent(5);
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    pub(super) only: Vec<String>,
    pub(super) matching: Vec<String>,
    pub(super) rounds_percent: usize,
    pub(super) seed: u64,
    pub(super) threads: bool,
}

impl Default for Options {
    /// Every case, in full.
    fn default() -> Self {
        Self { only: Vec::new(), matching: Vec::new(), rounds_percent: 100, seed: 1, threads: true }
    }
}

impl Options {
    /// Runs the case of this name; several calls add up.
    #[must_use]
    pub fn only(mut self, name: impl Into<String>) -> Self {
        self.only.push(name.into());
        self
    }

    /// Runs the cases with this text in their names; several calls add up.
    #[must_use]
    pub fn matching(mut self, part: impl Into<String>) -> Self {
        self.matching.push(part.into());
        self
    }

    /// Scales the rounds of every case that repeats something; 100 is the default. At least one round is done.
    #[must_use]
    pub fn rounds_percent(mut self, percent: usize) -> Self {
        self.rounds_percent = percent;
        self
    }

    /// The seed of all that is random in the cases.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether cases may start threads, as a deterministic simulation cannot allow. They may by default.
    #[must_use]
    pub fn threads(mut self, allowed: bool) -> Self {
        self.threads = allowed;
        self
    }

    pub(super) fn selects(&self, name: &str) -> bool {
        (self.only.is_empty() && self.matching.is_empty())
            || self.only.iter().any(|only| only == name)
            || self.matching.iter().any(|part| name.contains(part.as_str()))
    }
}
