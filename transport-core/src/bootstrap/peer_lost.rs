//! The news that a PE is gone.

use std::fmt;

/// A PE that disconnected without leaving, or gave up. Displays as a line to log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerLost {
    /// Which PE.
    pub pe: usize,
    /// What is known of why.
    pub cause: String,
}

impl fmt::Display for PeerLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PE {} is lost: {}", self.pe, self.cause)
    }
}
