//! When the connections to the peers are made.

use std::fmt;

/// When a PE connects to its peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ConnectMode {
    /// To all of them while the job starts: a peer that cannot be reached is found at once.
    #[default]
    AtStart,
    /// To each when something is first sent to it: large jobs in which few pairs talk start faster.
    OnFirstUse,
}

impl ConnectMode {
    /// The mode that `text` names, as [`Display`](fmt::Display) writes it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::AtStart, Self::OnFirstUse].into_iter().find(|mode| mode.name() == text)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::AtStart => "start",
            Self::OnFirstUse => "first-use",
        }
    }
}

impl fmt::Display for ConnectMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
