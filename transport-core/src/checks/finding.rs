//! What a check found.

use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// As it should be, or merely worth knowing.
    Ok,
    /// A job may run, but something is odd, slow or in the way of something else.
    Warn,
    /// A job cannot run.
    Fail,
}

impl Level {
    /// `ok`, `warn` or `fail`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Which look it was, for machines: lower-case words with `-`, the same for ever.
    pub id: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found, a sentence or two for people.
    pub what: String,
    /// What to type to put it right, or to see more; `None` only where nothing is wrong.
    pub remedy: Option<String>,
}

/// Findings about one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Which subject, for machines: lower-case words with `-`, the same for ever.
    pub id: &'static str,
    /// The same for people.
    pub title: &'static str,
    /// In the order in which they were looked at.
    pub findings: Vec<Finding>,
}

impl Section {
    /// Without findings yet.
    #[must_use]
    pub fn new(id: &'static str, title: &'static str) -> Self {
        Self { id, title, findings: Vec::new() }
    }

    /// Adds that something is well.
    pub fn ok(&mut self, id: &'static str, what: impl Into<String>) {
        self.findings.push(Finding { id, level: Level::Ok, what: what.into(), remedy: None });
    }

    /// Adds something odd.
    pub fn warn(&mut self, id: &'static str, what: impl Into<String>, remedy: impl Into<String>) {
        let (what, remedy) = (what.into(), Some(remedy.into()));
        self.findings.push(Finding { id, level: Level::Warn, what, remedy });
    }

    /// Adds what no job can run with.
    pub fn fail(&mut self, id: &'static str, what: impl Into<String>, remedy: impl Into<String>) {
        let (what, remedy) = (what.into(), Some(remedy.into()));
        self.findings.push(Finding { id, level: Level::Fail, what, remedy });
    }

    /// What fails is only a warning: for what nobody asked for.
    #[must_use]
    pub fn at_most_warn(mut self) -> Self {
        self.findings.iter_mut().for_each(|finding| finding.level = finding.level.min(Level::Warn));
        self
    }

    /// The worst of its findings.
    #[must_use]
    pub fn level(&self) -> Level {
        self.findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok)
    }
}

/// The worst of all.
#[must_use]
pub fn worst(sections: &[Section]) -> Level {
    sections.iter().map(Section::level).max().unwrap_or(Level::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts_and_what_nobody_asked_for_is_no_failure() {
        let mut section = Section::new("devices", "RDMA devices");
        assert_eq!((section.level(), worst(&[])), (Level::Ok, Level::Ok));
        section.ok("device", "rxe_0");
        section.fail("port", "rxe_0 is DOWN", "ip link set rdma0 up");
        section.warn("mtu", "1024", "ip link set rdma0 mtu 4200");
        assert_eq!(worst(&[Section::new("a", "A"), section.clone()]), Level::Fail);
        let section = section.at_most_warn();
        assert_eq!(section.level(), Level::Warn);
        assert_eq!(section.findings[0].level, Level::Ok);
        assert_eq!(format!("{:5}|{:<5}", Level::Ok, Level::Fail), "ok   |fail ");
    }
}
