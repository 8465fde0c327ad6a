//! What happens in a simulated job, told as it happens: for the timeline of a failure, and for the search for races.

use std::ops::Range;
use std::panic::Location;

use transport_core::{AtomicOp, Cmp, SignalOp};

/// A place in the source.
pub type Place = &'static Location<'static>;

/// An operation that a PE has posted, counted per PE from 0 in the order of posting: atomics and signals too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId {
    /// Who posted it.
    pub pe: usize,
    /// Its number.
    pub number: u64,
}

/// What an operation does. Ranges are bytes from the start of the heap; each has at least one byte.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpKind {
    /// Reads `local` of its own PE some time before it is complete, writes `remote` of `to`.
    Put {
        /// The target.
        to: usize,
        /// Where it reads.
        local: Range<u64>,
        /// Where it writes.
        remote: Range<u64>,
    },
    /// Writes bytes that were copied when it was posted.
    PutBytes {
        /// The target.
        to: usize,
        /// Where it writes.
        remote: Range<u64>,
    },
    /// Reads `remote` of `from`, writes `local` of its own PE.
    Get {
        /// Where from.
        from: usize,
        /// Where it writes.
        local: Range<u64>,
        /// Where it reads.
        remote: Range<u64>,
    },
    /// Changes the word of 8 bytes at `word` of `to`, after the operation `after` has landed there.
    Signal {
        /// The target.
        to: usize,
        /// The word.
        word: u64,
        /// How.
        op: SignalOp,
        /// Its data.
        after: Option<OpId>,
    },
    /// Reads the word of 8 bytes at `local` of its own PE some time before it is complete, and adds what `bytes` masks of it to the
    /// word at `word` of `to`, in one step: a part of a put of bytes that tell by themselves that they have come.
    PutMarked {
        /// The target.
        to: usize,
        /// The word that it reads.
        local: u64,
        /// The word that it changes.
        word: u64,
        /// A mask of whole bytes.
        bytes: u64,
    },
    /// Changes the word of 8 bytes at `word` of `to` in one step, and answers.
    Atomic {
        /// The target.
        to: usize,
        /// The word.
        word: u64,
        /// How.
        op: AtomicOp,
    },
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// An operation was posted. `fence` is how many fences its PE had made: to one target, what has a greater number lands after
    /// all that has a lesser one.
    Posted {
        /// Which.
        id: OpId,
        /// What it does.
        kind: OpKind,
        /// How many fences came before it.
        fence: u64,
        /// The call.
        place: Place,
    },
    /// Bytes `range` of its source were read, at the PE where the source is.
    Fetched {
        /// Which operation.
        id: OpId,
        /// Bytes, from the start of the heap.
        range: Range<u64>,
    },
    /// Bytes `range` of its destination were written, or its word was changed, at the PE where that is.
    Landed {
        /// Which operation.
        id: OpId,
        /// Bytes, from the start of the heap.
        range: Range<u64>,
    },
    /// It is complete, as far as its PE's `quiet` is concerned.
    Completed {
        /// Which operation.
        id: OpId,
    },
    /// A `quiet` (that of a barrier too) has returned: all operations of `pe` with numbers below `before` are complete.
    Quiet {
        /// Whose.
        pe: usize,
        /// The first operation that it does not cover.
        before: u64,
    },
    /// A barrier was entered, its quiet done.
    BarrierEntered {
        /// By whom.
        pe: usize,
        /// Its number.
        epoch: u32,
    },
    /// A barrier was left.
    BarrierLeft {
        /// By whom.
        pe: usize,
        /// Its number.
        epoch: u32,
    },
    /// A wait for a signal has returned: it saw what `seen` (all that changed the word so far, the last first) had written.
    SignalSeen {
        /// Who waited.
        pe: usize,
        /// The word.
        word: u64,
        /// What was waited for.
        cmp: Cmp,
        /// What was found.
        value: u64,
        /// The operations that changed the word, the last first.
        seen: Vec<OpId>,
    },
    /// An atomic has answered its PE.
    AtomicAnswered {
        /// Which operation.
        id: OpId,
        /// The word before.
        value: u64,
    },
    /// The PE read bytes of its own heap by itself.
    Read {
        /// Who.
        pe: usize,
        /// Bytes, from the start of the heap.
        range: Range<u64>,
        /// The call.
        place: Place,
    },
    /// The PE wrote bytes of its own heap by itself.
    Written {
        /// Who.
        pe: usize,
        /// Bytes, from the start of the heap.
        range: Range<u64>,
        /// The call.
        place: Place,
    },
    /// The PE read a word of its own heap with acquire order; `seen` as for [`SignalSeen`](Self::SignalSeen).
    Loaded {
        /// Who.
        pe: usize,
        /// The word.
        word: u64,
        /// The operations that changed the word, the last first.
        seen: Vec<OpId>,
        /// The call.
        place: Place,
    },
    /// The PE is done with its part of the job.
    Ended {
        /// Who.
        pe: usize,
    },
}

/// Who listens. Events come in the order in which they happen.
pub trait Listener: Send {
    /// The job begins anew, with so many PEs: another schedule.
    fn begin(&mut self, n_pes: usize);
    /// Something happened. An error ends the schedule as a failure, with that text.
    ///
    /// # Errors
    ///
    /// What is wrong, for people.
    fn event(&mut self, event: &Event) -> Result<(), String>;
}
