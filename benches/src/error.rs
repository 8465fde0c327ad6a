//! What can go wrong with a work.

use transport_core::Error;
use transport_core::graph::GraphError;

/// Why a work failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A call of the transport.
    #[error(transparent)]
    Transport(#[from] Error),

    /// The capture or a replay of a graph.
    #[error(transparent)]
    Graph(#[from] GraphError),

    /// Data did not arrive as it was sent.
    #[error(
        "PE {my_pe}: {work} moved wrong data: byte {at} of {len} is {found}, expected {expected} (after {rounds} rounds)"
    )]
    WrongData {
        /// The PE that looked.
        my_pe: usize,
        /// The work's name.
        work: &'static str,
        /// The first wrong byte.
        at: usize,
        /// How many bytes were looked at.
        len: usize,
        /// What it is.
        found: u8,
        /// What it should be.
        expected: u8,
        /// How often the work was done.
        rounds: u64,
    },

    /// A work that needs a partner has none.
    #[error("PE {my_pe}: {work} needs at least 2 PEs, but this job has {n_pes}")]
    NoPartner {
        /// The PE that said so.
        my_pe: usize,
        /// The work's name.
        work: &'static str,
        /// PEs of the job.
        n_pes: usize,
    },

    /// Words that mean no command.
    #[error(
        "PE {my_pe}: PE 0 sent a command that is not known here ({words:?}); start the same build on every PE"
    )]
    BadCommand {
        /// The PE that was told.
        my_pe: usize,
        /// What it was told.
        words: [u64; 4],
    },
}
