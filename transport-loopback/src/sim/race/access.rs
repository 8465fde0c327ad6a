//! One access to the heap of one PE, by whomever.

use std::ops::Range;

use super::clock::{Clock, Lane};
use crate::sim::event::{OpId, Place};

/// How bytes are accessed, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AccessKind {
    /// A PE reads its own heap.
    Read,
    /// A PE writes its own heap.
    Write,
    /// A PE waits for a signal in its own heap.
    Wait,
    /// A PE reads a word of its own heap with acquire order.
    Load,
    /// A put reads its source.
    PutSource,
    /// A put writes its target.
    PutTarget,
    /// A get reads its source.
    GetSource,
    /// A get writes its destination.
    GetTarget,
    /// A signal changes its word.
    Signal,
    /// An atomic changes its word.
    Atomic,
    /// An atomic reads its word.
    Fetch,
}

impl AccessKind {
    /// Whether it writes.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::PutTarget | Self::GetTarget | Self::Signal | Self::Atomic)
    }

    /// Whether it is of a whole word at once, so that it does not race with others of that kind.
    #[must_use]
    pub fn is_of_word(self) -> bool {
        matches!(self, Self::Wait | Self::Load | Self::Signal | Self::Atomic | Self::Fetch)
    }

    /// Whether a fence orders it, and a signal after that fence tells of it.
    pub(super) fn is_fenced(self) -> bool {
        matches!(self, Self::PutTarget | Self::Signal | Self::Atomic | Self::Fetch)
    }
}

/// One side of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Who accesses, or has posted what does.
    pub pe: usize,
    /// The operation; `None` if the PE does it by itself.
    pub op: Option<OpId>,
    /// How.
    pub kind: AccessKind,
    /// Whose heap.
    pub memory: usize,
    /// Bytes from the start of that heap.
    pub range: Range<u64>,
    /// The call; a wait for a signal has none.
    pub place: Option<Place>,
}

/// An access as the search keeps it.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) access: Access,
    /// The step of its PE at which it happened, or was posted.
    pub(super) step: u64,
    /// Of an operation: how it can become known.
    pub(super) lane: Option<Lane>,
    /// Of an operation in a lane: the one before it there.
    pub(super) before: Option<u64>,
    /// How many fences came before.
    pub(super) fence: u64,
}

impl Mark {
    /// Whether the two race, if nothing orders them.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let (a, b) = (&self.access, &other.access);
        let one_operation = a.op.is_some() && a.op == b.op;
        (a.kind.writes() || b.kind.writes())
            && !(a.kind.is_of_word() && b.kind.is_of_word())
            && !one_operation
    }

    /// Whether all that would race with `earlier`, which is ordered before this, would race with this too, so that `earlier` can
    /// be forgotten. A plain access races with more than one of a word does.
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        let (new, old) = (self.access.kind, earlier.access.kind);
        (new.writes() || !old.writes()) && (!new.is_of_word() || old.is_of_word())
    }

    /// Whether it is the next of its lane after `earlier`, of the same call and kind: the two can be kept as one.
    pub(super) fn continues(&self, earlier: &Self) -> bool {
        self.lane.is_some()
            && self.lane == earlier.lane
            && self.before == earlier.access.op.map(|op| op.number)
            && (self.access.kind, self.access.place) == (earlier.access.kind, earlier.access.place)
    }
}

/// What is ordered before an access: what its PE knew, and what the operation adds to that.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) clock: &'a Clock,
    pub(super) pe: usize,
    /// Of a landing: its target, and the operation of its PE that was the first after the last fence.
    pub(super) fence: Option<(usize, u64)>,
    /// Of a signal: its data.
    pub(super) after: Option<OpId>,
}

impl View<'_> {
    /// Whether `mark` is ordered before; an operation stands for those of its lane from `from` on.
    pub(super) fn knows(&self, mark: &Mark, from: u64) -> bool {
        let pe = mark.access.pe;
        let Some(op) = mark.access.op else {
            return pe == self.pe || self.clock.step(pe) >= mark.step;
        };
        let mut rest = from..op.number + 1;
        if self.after == Some(op) {
            rest.end = mark.before.map_or(from, |before| before + 1);
        }
        if let Some((to, first)) = self.fence
            && pe == self.pe
            && mark.lane.is_some_and(|lane| lane.to == to)
        {
            rest.start = rest.start.max(first);
        }
        self.clock.knows(pe, mark.lane, &rest)
    }
}
