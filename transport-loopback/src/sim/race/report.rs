//! A race, told as a colleague would: who, where, and what is missing.

use std::fmt;
use std::ops::Range;

use super::access::{Access, AccessKind};
use super::advice;

/// What is missing between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RaceKind {
    /// Both are of one PE, and it has not waited for the first to be complete.
    MissingQuiet,
    /// Both are of one PE and go to the same PE, without a fence between.
    MissingFence,
    /// They are of two PEs, and nothing goes from one to the other.
    MissingBarrier,
    /// They are of two PEs. The second has heard of the first since, but of what did not wait for the operation to be complete.
    WrongOrder,
}

/// Two accesses to the same bytes, at least one of which writes, that nothing orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Race {
    /// What is missing.
    pub kind: RaceKind,
    /// The one that came first in this schedule.
    pub first: Access,
    /// The other.
    pub second: Access,
    pub(super) hint: Hint,
}

/// What is known of the first access by the time of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hint {
    /// The second's PE has heard of the first's since that posted it.
    pub(super) heard_since: bool,
    /// The first's PE has waited for it to be complete.
    pub(super) quiet_since: bool,
    /// The first's PE has made a fence since.
    pub(super) fence_since: bool,
    /// Both are of one PE, to one PE, and a fence can order them.
    pub(super) same_target: bool,
}

impl Race {
    pub(super) fn new(first: Access, second: Access, hint: Hint) -> Self {
        let fence_helps = hint.same_target && first.kind.is_fenced() && second.kind.is_fenced();
        let kind = match (first.pe == second.pe, first.op.is_some()) {
            (true, _) if fence_helps => RaceKind::MissingFence,
            (true, _) => RaceKind::MissingQuiet,
            (false, true) if hint.heard_since => RaceKind::WrongOrder,
            (false, _) => RaceKind::MissingBarrier,
        };
        Self { kind, first, second, hint }
    }

    /// The bytes that both access, from the start of the heap.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        let (a, b) = (&self.first.range, &self.second.range);
        a.start.max(b.start)..a.end.min(b.end)
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Doing(&self.second).fmt(f)?;
        f.write_str(" while ")?;
        MayStill(&self.first, &self.second).fmt(f)?;
        f.write_str(": nothing orders them. ")?;
        f.write_str(&advice::of(self))
    }
}

/// Who it is, e.g. `put #3 of PE 0 (demo.rs:33)`; the PE by itself is `PE 0`.
pub(super) struct Who<'a>(pub(super) &'a Access);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(access) = self;
        let Some(op) = access.op else { return write!(f, "PE {}", access.pe) };
        let name = match access.kind {
            AccessKind::PutSource | AccessKind::PutTarget => "put",
            AccessKind::GetSource | AccessKind::GetTarget => "get",
            AccessKind::Signal => "signal",
            _ => "atomic",
        };
        write!(f, "{name} #{} of PE {}", op.number, op.pe)?;
        match access.place {
            Some(place) => write!(f, " ({}:{})", place.file(), place.line()),
            None => Ok(()),
        }
    }
}

/// The second access, e.g. `PE 1 reads heap +4096..+4160 at demo.rs:40`.
struct Doing<'a>(&'a Access);

impl fmt::Display for Doing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(access) = self;
        let verb = match access.kind {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Wait => "waits for a signal in",
            AccessKind::Load => "loads the word in",
            AccessKind::PutSource => "reads its source,",
            AccessKind::PutTarget => "lands on",
            AccessKind::GetSource => "reads",
            AccessKind::GetTarget => "arrives in",
            AccessKind::Signal | AccessKind::Atomic => "changes the word in",
            AccessKind::Fetch => "reads the word in",
        };
        let (start, end) = (access.range.start, access.range.end);
        write!(f, "{} {verb} heap +{start}..+{end}", Who(access))?;
        if access.op.is_some() {
            write!(f, " of PE {}", access.memory)?;
        } else if let Some(place) = access.place {
            write!(f, " at {}:{}", place.file(), place.line())?;
        }
        Ok(())
    }
}

/// The first access, which may not be over, e.g. `put #3 of PE 0 (demo.rs:33) may still be landing there`.
struct MayStill<'a>(&'a Access, &'a Access);

impl fmt::Display for MayStill<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(access, other) = self;
        let doing = match access.kind {
            AccessKind::Read => "reading",
            AccessKind::Write => "writing",
            AccessKind::Wait => "waiting for a signal",
            AccessKind::Load => "loading the word",
            AccessKind::PutSource => "reading its source",
            AccessKind::PutTarget => "landing",
            AccessKind::GetSource => "reading",
            AccessKind::GetTarget => "arriving",
            AccessKind::Signal | AccessKind::Atomic => "changing the word",
            AccessKind::Fetch => "reading the word",
        };
        write!(f, "{} may still be {doing} ", Who(access))?;
        if access.range == other.range {
            f.write_str("there")?;
        } else {
            write!(f, "in +{}..+{}", access.range.start, access.range.end)?;
        }
        match access.place {
            Some(place) if access.op.is_none() => write!(f, " ({}:{})", place.file(), place.line()),
            _ => Ok(()),
        }
    }
}
