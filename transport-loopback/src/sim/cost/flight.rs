//! What is under way in virtual time, and what happens to it.

use crate::sim::message::{Kind, Message};
use crate::sim::network::ReadsSource;

/// A message on its way.
pub(super) struct Flight {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) op: Option<u64>,
    pub(super) kind: Kind,
    pub(super) len: u64,
    /// It is the answer, which goes from `to` to `from`.
    pub(super) answers: bool,
}

/// Whether the target's NIC answers, with data or a word.
pub(super) fn is_answered(kind: &Kind) -> bool {
    matches!(kind, Kind::Get { .. } | Kind::Atomic { .. })
}

impl Flight {
    /// Who sends it and who gets it: of an answer, the other way round.
    pub(super) fn ends(&self) -> (usize, usize) {
        let (from, to) = (self.from as usize, self.to as usize);
        if self.answers { (to, from) } else { (from, to) }
    }

    /// Data that goes along.
    pub(super) fn bytes(&self) -> u64 {
        match self.kind {
            Kind::Get { .. } if !self.answers => 0,
            _ => self.len,
        }
    }

    /// As the network lands it.
    pub(super) fn message(self) -> Message {
        let mut message = Message::new(self.from, self.to, 0, self.op, self.kind);
        message.reads = ReadsSource::AtLanding;
        if self.len > 0 {
            message.cut(&[self.len]);
        }
        message
    }
}

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// In picoseconds.
    pub(super) time: u64,
    /// What came to be known first goes first.
    pub(super) order: u64,
    pub(super) what: Happens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happens {
    /// The next message of this PE leaves.
    Depart(u32),
    /// The first byte of the message in this slot is there.
    Arrive(u32),
    /// Its last byte is.
    Land(u32),
    /// Its sender hears of that.
    Complete(u32),
}
