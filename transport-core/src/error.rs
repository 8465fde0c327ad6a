//! What can go wrong, said so that the reader knows who, what, where and what to do next.

use std::sync::Arc;
use std::time::Duration;

use crate::pe_list::PeList;

/// The error of every call of this crate and of every backend.
///
/// It is `Clone`, since what has failed keeps saying so: a lost peer, a failed put and a stream in error
/// report the same cause again at each later call.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The target is not a PE of the job.
    #[error("{op} on PE {my_pe}: PE {pe} does not exist; this job has {n_pes} PEs, numbered from 0")]
    NoSuchPe {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// The PE it named.
        pe: usize,
        /// How many there are.
        n_pes: usize,
    },

    /// A range leaves the heap.
    #[error(
        "{op} on PE {my_pe}: the {operand} at heap offset {offset} ({len} bytes) ends outside of the heap of \
         {size} bytes; it belongs to another job. Nothing was done"
    )]
    OutOfRange {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// Which operand: `source`, `destination`, `signal`, ...
        operand: &'static str,
        /// Where it starts, bytes from the heap's start.
        offset: u64,
        /// Its bytes.
        len: u64,
        /// Bytes of the heap.
        size: u64,
    },

    /// A part that a slice does not have.
    #[error("{op}: {start}..{end} is no part of the {len} that there are")]
    BadSlice {
        /// The call.
        op: &'static str,
        /// First element asked for.
        start: u64,
        /// One past the last.
        end: u64,
        /// Elements of the slice.
        len: u64,
    },

    /// A slice cannot be seen as elements of another type.
    #[error(
        "SymSlice::cast: {bytes} bytes at heap offset {offset} are no whole, aligned elements of {size} bytes"
    )]
    BadCast {
        /// Heap offset of the slice.
        offset: u64,
        /// Its bytes.
        bytes: u64,
        /// Bytes of one element of the type asked for.
        size: u64,
    },

    /// Source and destination differ in length.
    #[error("{op} on PE {my_pe}: destination holds {dst} bytes, source {src}; they must be equal")]
    LengthMismatch {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// Bytes of the destination (for a gathering call: that it must hold).
        dst: u64,
        /// Bytes of the source.
        src: u64,
    },

    /// The slice is not of a live allocation of this heap.
    #[error(
        "{op} on PE {my_pe}: the {operand} at heap offset {offset} ({len} bytes) is no live allocation \
         of this job; it was freed, is a part of one, or belongs to another job. Nothing was done"
    )]
    NotLive {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// Which operand: `source`, `destination`, `signal`, ...
        operand: &'static str,
        /// Where it was, bytes from the heap's start.
        offset: u64,
        /// Its bytes.
        len: u64,
    },

    /// Source and destination of a put to self overlap without being equal.
    #[error(
        "{op} on PE {my_pe}: source at {src} and destination at {dst} overlap ({len} bytes) and both are \
         on this PE; the order of the bytes is not defined. Copy through a second buffer"
    )]
    Overlap {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// Heap offset of the source.
        src: u64,
        /// Heap offset of the destination.
        dst: u64,
        /// Bytes of either.
        len: u64,
    },

    /// A word for an atomic or a signal is not on its natural boundary.
    #[error("{op} on PE {my_pe}: heap offset {offset} is not a multiple of {align}, as this call needs")]
    Misaligned {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// Where it was, bytes from the heap's start.
        offset: u64,
        /// The boundary needed.
        align: u64,
    },

    /// An alignment that no allocation can have.
    #[error(
        "alloc on PE {my_pe}: alignment {align} is not a power of two of at most {max} bytes; \
         ask for one that is"
    )]
    BadAlignment {
        /// The PE that called.
        my_pe: usize,
        /// What was asked.
        align: u64,
        /// The largest that can be had.
        max: u64,
    },

    /// The symmetric heap has no room.
    #[error(
        "alloc on PE {my_pe}: {asked} bytes (aligned to {align}) do not fit: {free} of {size} bytes are free, \
         {largest} in one piece. Set SHMEM_HEAP_SIZE (or --heap) higher, on every PE alike"
    )]
    HeapFull {
        /// The PE that called.
        my_pe: usize,
        /// Bytes asked for, rounded as the allocator does.
        asked: u64,
        /// Alignment asked for.
        align: u64,
        /// Bytes free in all.
        free: u64,
        /// The largest free piece.
        largest: u64,
        /// The heap's size.
        size: u64,
    },

    /// More allocations than the table of live ones holds.
    #[error(
        "alloc on PE {my_pe}: {limit} allocations are live, as many as can be; free some, or make one larger"
    )]
    TooManyAllocations {
        /// The PE that called.
        my_pe: usize,
        /// How many can be live.
        limit: usize,
    },

    /// A collective call was made with different arguments on different PEs.
    #[error(
        "{op} on PE {my_pe}: not the same on every PE: {odd} called {theirs}, the others {ours}. \
         Collective calls need the same arguments in the same order everywhere; nothing was done"
    )]
    Asymmetric {
        /// The call on this PE.
        op: &'static str,
        /// The PE that reports.
        my_pe: usize,
        /// The PEs that differ.
        odd: PeList,
        /// What the first of them called.
        theirs: String,
        /// What the others called.
        ours: String,
    },

    /// A second collective heap call on this PE while one is under way.
    #[error(
        "{op} on PE {my_pe}: another collective heap call of this PE is under way; they must be made one \
         after the other, in the same order on every PE"
    )]
    CollectiveBusy {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
    },

    /// A collective of several steps failed, or was dropped, in the middle.
    #[error(
        "{op} on PE {my_pe}: an earlier {earlier} of this PE ended half way, so that it is out of step with the other PEs and \
         what follows would mix with theirs. End this job; to begin with, find out why that {earlier} failed"
    )]
    OutOfStep {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
        /// The collective that ended half way.
        earlier: &'static str,
    },

    /// The deadline passed.
    #[error(
        "{op} on PE {my_pe}: {missing} did not arrive within {after:?}. Is it slow, stopped, or in another \
         call? SHMEM_TIMEOUT (--timeout, seconds) sets the limit"
    )]
    Timeout {
        /// The call.
        op: &'static str,
        /// The PE that waited.
        my_pe: usize,
        /// How long it waited.
        after: Duration,
        /// Whom it waited for.
        missing: PeList,
    },

    /// The deadline passed while a word did not take the value that was waited for.
    #[error(
        "{op} on PE {my_pe}: the word at heap offset {offset} is {value:#x} after {after:?} and not {expected}. \
         Was the signal sent to this PE and this word? SHMEM_TIMEOUT (--timeout, seconds) sets the limit"
    )]
    SignalTimeout {
        /// The call.
        op: &'static str,
        /// The PE that waited.
        my_pe: usize,
        /// Where the word is.
        offset: u64,
        /// What it holds.
        value: u64,
        /// What was waited for, as `== 0x1`.
        expected: String,
        /// How long it waited.
        after: Duration,
    },

    /// A peer is gone; this PE can finish nothing that needs it.
    #[error("{op} on PE {my_pe}: PE {pe} is gone ({cause}); end this PE too and start the job again")]
    PeerLost {
        /// The call that was to use it.
        op: &'static str,
        /// The PE that reports.
        my_pe: usize,
        /// The PE that is gone.
        pe: usize,
        /// What is known of why.
        cause: Arc<str>,
    },

    /// This PE has left the job.
    #[error("{op} on PE {my_pe}: this PE has called finalize; nothing can be sent after it")]
    Finalized {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
    },

    /// A call that blocks was made by a thread that captures.
    #[error(
        "{op} on PE {my_pe}: this thread captures a graph, and {op} would block it. End the capture first, \
         record the call as a node, or begin the capture in relaxed mode"
    )]
    BlockingInCapture {
        /// The call.
        op: &'static str,
        /// The PE that called.
        my_pe: usize,
    },

    /// What a backend reports in its own words.
    #[error("{backend}: {source}")]
    Backend {
        /// The backend's name.
        backend: &'static str,
        /// Its error.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The error of a step of `op`, as that of `op`.
    pub(crate) fn within(self, op: &'static str) -> Self {
        match self {
            Self::Timeout { my_pe, after, missing, .. } => Self::Timeout { op, my_pe, after, missing },
            Self::PeerLost { my_pe, pe, cause, .. } => Self::PeerLost { op, my_pe, pe, cause },
            other => other,
        }
    }

    /// Wraps a backend's own error.
    pub fn backend(backend: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Backend { backend, source: Arc::new(source) }
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
