//! All that was found.

use transport_core::checks::{Finding, Level, Section};

/// All that was found.
#[derive(Debug)]
pub(crate) struct Report {
    /// The backend that was asked for.
    pub(crate) backend: Option<&'static str>,
    /// In the order in which it was looked at.
    pub(crate) sections: Vec<Section>,
}

impl Report {
    /// How many findings are of this level.
    pub(crate) fn count(&self, level: Level) -> usize {
        self.findings().filter(|finding| finding.level == level).count()
    }

    /// How many findings are failures.
    pub(crate) fn fails(&self) -> usize {
        self.count(Level::Fail)
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.sections.iter().flat_map(|section| &section.findings)
    }
}
