//! What can be wrong with a configuration: the value, where it came from, and what to do.

use std::ffi::OsString;

use super::byte_size::{ByteSize, ByteSizeError};
use super::interface::InterfaceError;
use super::rendezvous::AddressError;
use super::seconds::SecondsError;
use super::setting::Source;

/// Why no [`JobConfig`](super::JobConfig) could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Neither arguments nor a launcher said which PE this is.
    #[error(
        "which PE is this? There is no {missing} among the arguments, and no launcher set one in the environment. \
         Start the program with shmrun, mpirun, srun or torchrun, or set SHMEM_PE and SHMEM_N_PES. \
         Looked for: {looked_for}"
    )]
    NoIdentity {
        /// What is missing: `pe_id` or `n_pes`.
        missing: &'static str,
        /// The variables that were looked for, in order.
        looked_for: String,
    },

    /// A launcher's variable is there, its partner is not.
    #[error("{present} is {value:?} but {missing} is not set; set both or neither (shmrun sets both)")]
    IncompleteIdentity {
        /// The variable that is set.
        present: String,
        /// Its value.
        value: String,
        /// The variable that is not.
        missing: String,
    },

    /// PMIx tells the rank in the environment, but the size only through its library.
    #[error(
        "PMIX_RANK is {rank:?}, but PMIx does not tell the number of PEs by environment; \
         set SHMEM_PE and SHMEM_N_PES (or PMIX_SIZE), or give both as arguments"
    )]
    PmixSizeUnknown {
        /// The rank it told.
        rank: String,
    },

    /// Not a whole number.
    #[error("{what} is {value:?} ({origin}), which is not a whole number from 0 up; correct it")]
    NotANumber {
        /// What it is to be.
        what: &'static str,
        /// What was given.
        value: String,
        /// Where it came from.
        origin: Source,
    },

    /// Not UTF-8 where text is needed.
    #[error("{what} is {value:?} ({origin}), which is not UTF-8 text; correct it")]
    NotText {
        /// What it is to be.
        what: &'static str,
        /// What was given.
        value: OsString,
        /// Where it came from.
        origin: Source,
    },

    /// A job of no PEs, or of more than can be.
    #[error("n_pes is {n_pes} ({origin}); a job has 1 to {max} PEs")]
    BadNPes {
        /// What was given.
        n_pes: usize,
        /// Where it came from.
        origin: Source,
        /// The most there can be.
        max: usize,
    },

    /// A PE number that the job does not have.
    #[error(
        "{what} is {pe} ({pe_origin}) but {of} is {n_pes} ({n_pes_origin}); PEs are numbered from 0, \
         so here it must be below {n_pes}"
    )]
    PeOutOfRange {
        /// `pe_id` or `local pe_id`.
        what: &'static str,
        /// The number.
        pe: usize,
        /// Where it came from.
        pe_origin: Source,
        /// `n_pes` or `local n_pes`.
        of: &'static str,
        /// How many there are.
        n_pes: usize,
        /// Where that came from.
        n_pes_origin: Source,
    },

    /// No address for the PEs to meet at.
    #[error(
        "where do the PEs meet? Give PE 0's address as an argument or in SHMEM_UID_SESSION_ID on every PE, \
         e.g. tcp://192.168.0.1:8899, or start with shmrun"
    )]
    NoRendezvous,

    /// The address cannot be read.
    #[error("rendezvous ({origin}): {error}")]
    Rendezvous {
        /// Where it came from.
        origin: Source,
        /// What is wrong with it.
        error: AddressError,
    },

    /// torchrun's port has no successor.
    #[error(
        "MASTER_PORT is {value:?}; the rendezvous would be at the port after it, which must be a number from 1 to \
         65535. Set SHMEM_UID_SESSION_ID to another address"
    )]
    MasterPort {
        /// Its value.
        value: String,
    },

    /// The interface cannot be read.
    #[error("interface ({origin}): {error}")]
    Interface {
        /// Where it came from.
        origin: Source,
        /// What is wrong with it.
        error: InterfaceError,
    },

    /// Not a level.
    #[error("log level is {value:?} ({origin}); it is one of off, fatal, error, warn, info, debug, trace")]
    LogLevel {
        /// What was given.
        value: String,
        /// Where it came from.
        origin: Source,
    },

    /// Not a size.
    #[error("heap size ({origin}): {error}")]
    HeapSize {
        /// Where it came from.
        origin: Source,
        /// What is wrong with it.
        error: ByteSizeError,
    },

    /// A size that no heap can have.
    #[error("heap size is {size} ({origin}); it must be from {min} to {max}, on every PE alike")]
    HeapSizeOutOfRange {
        /// What was given.
        size: ByteSize,
        /// Where it came from.
        origin: Source,
        /// The least.
        min: ByteSize,
        /// The most.
        max: ByteSize,
    },

    /// Not an algorithm.
    #[error("AllGather ({origin}): {error}")]
    AllGather {
        /// Where it came from.
        origin: Source,
        /// What was given, and which there are.
        error: String,
    },

    /// Not a deadline.
    #[error("timeout ({origin}): {error}")]
    Timeout {
        /// Where it came from.
        origin: Source,
        /// What is wrong with it.
        error: SecondsError,
    },

    /// A secret that keeps nobody out.
    #[error(
        "the secret is empty ({origin}); give the same text on every PE, or unset it on all to need none"
    )]
    EmptySecret {
        /// Where it came from.
        origin: Source,
    },

    /// Too long for the rendezvous' first message.
    #[error("{what} has {len} bytes ({origin}); at most {max} are possible: shorten it")]
    TooLong {
        /// `job id` or `backend`.
        what: &'static str,
        /// Its bytes.
        len: usize,
        /// Where it came from.
        origin: Source,
        /// The most bytes.
        max: usize,
    },
}
