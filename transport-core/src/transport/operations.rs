//! The operations as a backend gets them: checked, in bytes, and made only here.

use crate::heap::HeapRange;

/// What a put or a get moves between this PE's heap and that of `pe`: a put from `local` to `remote`, a get from `remote` to
/// `local`. At least one byte; both ranges are in the heap and equally long. If `pe` is this PE, they do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    pub(super) local: HeapRange,
    pub(super) remote: HeapRange,
    pub(super) pe: usize,
}

impl Transfer {
    /// For collectives, whose places are checked as a whole. Nothing if there is nothing to move.
    #[inline]
    pub(crate) fn between(local: u64, remote: u64, len: u64, pe: usize) -> Option<Self> {
        let at = |offset| HeapRange::new(offset, len);
        (len > 0).then(|| Self { local: at(local), remote: at(remote), pe })
    }

    /// Of whole words: where each is on this PE, in bytes from the start of its heap, and which it is on the other.
    #[inline]
    pub fn words(&self) -> impl Iterator<Item = (u64, Word)> + use<> {
        let (local, remote, pe) = (self.local.offset(), self.remote.offset(), self.pe);
        (0..self.local.len() / 8).map(move |word| (local + 8 * word, Word::at(remote + 8 * word, pe)))
    }

    /// The range of this PE's heap.
    #[must_use]
    #[inline]
    pub fn local(&self) -> HeapRange {
        self.local
    }

    /// The range of the heap of [`Transfer::pe`].
    #[must_use]
    #[inline]
    pub fn remote(&self) -> HeapRange {
        self.remote
    }

    /// The other PE.
    #[must_use]
    #[inline]
    pub fn pe(&self) -> usize {
        self.pe
    }
}

/// A range of the heap of some PE, at least one byte: the target of a `put_bytes_nbi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remote {
    pub(super) range: HeapRange,
    pub(super) pe: usize,
}

impl Remote {
    /// Where, in the heap of [`Remote::pe`].
    #[must_use]
    #[inline]
    pub fn range(&self) -> HeapRange {
        self.range
    }

    /// Whose.
    #[must_use]
    #[inline]
    pub fn pe(&self) -> usize {
        self.pe
    }
}

/// A word of 64 bits of the heap of some PE, aligned to 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    pub(super) offset: u64,
    pub(super) pe: usize,
}

impl Word {
    /// For collectives: an aligned word of the heap's own area.
    #[inline]
    pub(crate) fn at(offset: u64, pe: usize) -> Self {
        Self { offset, pe }
    }

    /// Bytes from the start of the heap of [`Word::pe`].
    #[must_use]
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whose.
    #[must_use]
    #[inline]
    pub fn pe(&self) -> usize {
        self.pe
    }
}

/// How a signal changes its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOp {
    /// The word becomes this: a store of all 8 bytes at once.
    Set(u64),
    /// This is added, wrapping.
    Add(u64),
}

/// An atomic operation on a word of 64 bits. All of them answer the value from before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicOp {
    /// Reads only.
    Fetch,
    /// Becomes this.
    Swap(u64),
    /// Becomes `new` if it was `expected`.
    CompareSwap {
        /// What it must be.
        expected: u64,
        /// What it becomes then.
        new: u64,
    },
    /// Adds, wrapping.
    Add(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
}

/// What a signal word is compared by, in [`Transport::signal_wait_until`](super::Transport::signal_wait_until).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

impl Cmp {
    /// Whether `value` compares so to `to`.
    #[must_use]
    #[inline]
    pub fn holds(self, value: u64, to: u64) -> bool {
        self.with(to).holds(value)
    }

    /// It and what it compares to, for many looks.
    #[must_use]
    #[inline]
    pub fn with(self, to: u64) -> Condition {
        let (from, up_to, inside) = match self {
            Self::Eq => (to, to, true),
            Self::Ne => (to, to, false),
            Self::Ge => (to, u64::MAX, true),
            Self::Lt => (to, u64::MAX, false),
            Self::Le => (0, to, true),
            Self::Gt => (0, to, false),
        };
        Condition { from, span: up_to - from, inside }
    }

    /// As it is written, e.g. `>=`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Lt => "<",
            Self::Le => "<=",
        }
    }
}

/// What a word is waited for to be: inside of a range, or outside. So a look is the same few instructions for each [`Cmp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    from: u64,
    span: u64,
    inside: bool,
}

impl Condition {
    /// Whether `value` is so.
    #[must_use]
    #[inline]
    pub fn holds(self, value: u64) -> bool {
        (value.wrapping_sub(self.from) <= self.span) == self.inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_what_the_comparison_says() {
        let values = [0, 1, 2, 3, u64::from(u32::MAX), 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        for value in values {
            for to in values {
                let found =
                    [Cmp::Eq, Cmp::Ne, Cmp::Gt, Cmp::Ge, Cmp::Lt, Cmp::Le].map(|cmp| cmp.holds(value, to));
                let wanted = [value == to, value != to, value > to, value >= to, value < to, value <= to];
                assert_eq!(found, wanted, "{value} and {to}");
            }
        }
    }
}
