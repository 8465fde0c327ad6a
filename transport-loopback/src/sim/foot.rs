//! What an action touches, and so which actions may change places.

use std::ops::Range;

use super::action::Action;
use super::message::Kind;
use super::world::World;

/// What an action touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foot {
    /// A PE goes on: all that is that PE's.
    Poll(usize),
    /// A PE goes on after it gave others a turn: when it may depends on them all.
    Turn,
    /// A step of the network.
    Net {
        /// Bytes of a PE that it reads.
        reads: Option<(usize, Range<u64>)>,
        /// Bytes of a PE that it writes.
        writes: Option<(usize, Range<u64>)>,
        /// The PE whose operation is complete by it.
        completes: Option<usize>,
        /// The PE to which it brings a flag of a barrier.
        flag: Option<usize>,
        /// The PE to which it brings news of an end.
        news: Option<usize>,
    },
}

impl World {
    /// What `action`, which can happen now, would touch.
    pub(crate) fn foot(&self, action: Action) -> Foot {
        let (slot, piece) = match action {
            Action::Poll(pe) => return Foot::Poll(pe as usize),
            Action::Net { slot, piece } => (slot, piece),
        };
        let Some(message) = self.message(slot) else { return Foot::Turn };
        let to = message.to as usize;
        let (mut reads, mut writes, mut completes, mut flag, mut news) = (None, None, None, None, None);
        match message.kind {
            Kind::Flag { .. } => flag = Some(to),
            Kind::Lost { .. } => news = Some(to),
            Kind::Signal { .. } | Kind::Atomic { .. } | Kind::Bytes { .. } => {
                writes = Some(message.destination(piece));
            }
            Kind::Put { .. } | Kind::Marked { .. } | Kind::Get { .. } => {
                let unread = message.pieces.get(usize::from(piece)).is_some_and(|piece| !piece.read);
                reads = unread.then(|| message.source(piece));
                writes = (!message.only_reads(piece)).then(|| message.destination(piece));
            }
        }
        if message.left == 1 && writes.is_some() {
            completes = message.op.map(|_| message.from as usize);
        }
        // A word that is waited for is looked at as a whole.
        if let Some((pe, range)) = &mut writes
            && self.is_awaited(*pe, range)
        {
            *range = range.start / 8 * 8..range.end.next_multiple_of(8);
        }
        Foot::Net { reads, writes, completes, flag, news }
    }
}

impl Foot {
    /// Whether both come to the same in either order, and neither keeps the other from happening.
    pub(crate) fn is_independent_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Turn, _) | (_, Self::Turn) => false,
            (Self::Poll(a), Self::Poll(b)) => a != b,
            (Self::Poll(pe), net) | (net, Self::Poll(pe)) => !net.touches(*pe),
            (
                Self::Net { reads, writes, news, .. },
                Self::Net { reads: other_reads, writes: other_writes, news: other_news, .. },
            ) => {
                !overlap(writes, other_writes)
                    && !overlap(writes, other_reads)
                    && !overlap(reads, other_writes)
                    && (news.is_none() || news != other_news)
            }
        }
    }

    fn touches(&self, pe: usize) -> bool {
        let Self::Net { reads, writes, completes, flag, news } = self else { return true };
        let of = |bytes: &Option<(usize, Range<u64>)>| bytes.as_ref().is_some_and(|(owner, _)| *owner == pe);
        of(reads) || of(writes) || [completes, flag, news].into_iter().any(|touched| *touched == Some(pe))
    }
}

fn overlap(a: &Option<(usize, Range<u64>)>, b: &Option<(usize, Range<u64>)>) -> bool {
    match (a, b) {
        (Some((pe, a)), Some((other, b))) => pe == other && a.start < b.end && b.start < a.end,
        _ => false,
    }
}
