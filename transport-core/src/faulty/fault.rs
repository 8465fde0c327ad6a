//! What was done to a PE.

use std::fmt;
use std::time::Duration;

/// A kind of fault.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The operation was given to the inner transport later, by its own fate: those that wait for the end of a stall are not listed.
    Delayed,
    /// The operation never landed.
    Failed {
        /// The PE that it was for.
        pe: usize,
    },
    /// The PE died.
    Died,
    /// Nothing of the PE went out for so long.
    Stalled {
        /// How long; [`Duration::MAX`] is for good.
        lasts: Duration,
    },
    /// A completion was told twice.
    ToldTwice,
}

/// A fault, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// The number of the operation, from 1.
    pub operation: u64,
    /// The call.
    pub call: &'static str,
    /// What was done.
    pub fault: Fault,
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, call, fault } = self;
        match fault {
            Fault::Delayed => write!(f, "{call}, operation {operation}, was delayed"),
            Fault::Failed { pe } => write!(f, "{call}, operation {operation}, to PE {pe} failed"),
            Fault::Died => write!(f, "died at operation {operation}, {call}"),
            Fault::Stalled { lasts: Duration::MAX } => {
                write!(f, "stalled for good at operation {operation}, {call}")
            }
            Fault::Stalled { lasts } => write!(f, "stalled for {lasts:?} at operation {operation}, {call}"),
            Fault::ToldTwice => write!(f, "{call}, operation {operation}, was told of twice"),
        }
    }
}
