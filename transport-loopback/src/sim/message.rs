//! What is under way in the network.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use transport_core::{AtomicOp, SignalOp};

use super::action::Name;
use super::event::OpId;
use super::network::{MOST_PIECES, ReadsSource};
use super::pairs::Way;

/// One message: an operation of a user, a flag of the barrier, or news of an end.
#[derive(Debug)]
pub(crate) struct Message {
    /// Who sent it.
    pub(crate) from: u32,
    /// The other PE.
    pub(crate) to: u32,
    /// Its number among all messages of `from`.
    pub(crate) number: u64,
    /// Its number among the operations of `from`, if it is one.
    pub(crate) op: Option<u64>,
    pub(crate) kind: Kind,
    pub(crate) pieces: [Piece; MOST_PIECES],
    pub(crate) n_pieces: u8,
    /// Pieces that are still to land.
    pub(crate) left: u8,
    /// Pieces of a get that are still to be read.
    pub(crate) unread: u8,
    pub(crate) reads: ReadsSource,
    /// The signal that waits until this has landed.
    pub(crate) then: Option<u32>,
    /// It waits for the data that comes before it.
    pub(crate) waits_for_data: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Put {
        local: u64,
        remote: u64,
    },
    Bytes {
        data: Bytes,
        remote: u64,
    },
    Get {
        local: u64,
        remote: u64,
    },
    Signal {
        word: u64,
        op: SignalOp,
    },
    /// Adds these bytes of a word to another.
    Marked {
        local: u64,
        word: u64,
        bytes: u64,
    },
    Atomic {
        word: u64,
        op: AtomicOp,
    },
    Flag {
        round: u32,
        epoch: u32,
    },
    Lost {
        reason: Arc<str>,
    },
}

/// Bytes `start..end` of a transfer.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The source has been read, into `data`.
    pub(crate) read: bool,
    pub(crate) data: Vec<u8>,
}

impl Message {
    pub(crate) fn new(from: u32, to: u32, number: u64, op: Option<u64>, kind: Kind) -> Self {
        Self {
            from,
            to,
            number,
            op,
            kind,
            pieces: Default::default(),
            n_pieces: 1,
            left: 1,
            unread: 0,
            reads: ReadsSource::AtPost,
            then: None,
            waits_for_data: false,
        }
    }

    pub(crate) fn id(&self) -> Option<OpId> {
        self.op.map(|number| OpId { pe: self.from as usize, number })
    }

    pub(crate) fn name(&self, piece: u8) -> Name {
        Name::Net { pe: self.from, number: self.number, piece }
    }

    /// Cuts it into pieces, each up to one of `ends`.
    pub(crate) fn cut(&mut self, ends: &[u64]) {
        let mut start = 0;
        for (piece, &end) in self.pieces.iter_mut().zip(ends) {
            (piece.start, piece.end) = (start, end);
            start = end;
        }
        self.n_pieces = ends.len() as u8;
        self.left = self.n_pieces;
        self.unread = if matches!(self.kind, Kind::Get { .. }) { self.n_pieces } else { 0 };
    }

    /// Where a piece is read: PE, bytes of its heap. Nothing for what carries no data.
    pub(crate) fn source(&self, piece: u8) -> (usize, Range<u64>) {
        let at = self.pieces.get(usize::from(piece)).map_or(0..0, |piece| piece.start..piece.end);
        match self.kind {
            Kind::Put { local, .. } => (self.from as usize, local + at.start..local + at.end),
            Kind::Marked { local, .. } => (self.from as usize, local..local + 8),
            Kind::Get { remote, .. } => (self.to as usize, remote + at.start..remote + at.end),
            _ => (self.from as usize, 0..0),
        }
    }

    /// Where a piece is written, or the word.
    pub(crate) fn destination(&self, piece: u8) -> (usize, Range<u64>) {
        let at = self.pieces.get(usize::from(piece)).map_or(0..0, |piece| piece.start..piece.end);
        match self.kind {
            Kind::Put { remote, .. } | Kind::Bytes { remote, .. } => {
                (self.to as usize, remote + at.start..remote + at.end)
            }
            Kind::Get { local, .. } => (self.from as usize, local + at.start..local + at.end),
            Kind::Signal { word, .. } | Kind::Marked { word, .. } | Kind::Atomic { word, .. } => {
                (self.to as usize, word..word + 8)
            }
            Kind::Flag { .. } | Kind::Lost { .. } => (self.to as usize, 0..0),
        }
    }

    /// Whether the next step of a piece only reads its source.
    pub(crate) fn only_reads(&self, piece: u8) -> bool {
        let unread = self.pieces.get(usize::from(piece)).is_some_and(|piece| !piece.read);
        let has_source = matches!(self.kind, Kind::Put { .. } | Kind::Marked { .. } | Kind::Get { .. });
        self.reads == ReadsSource::Apart && unread && has_source
    }

    /// On which way it keeps an order with others; none for what may come at any time.
    pub(crate) fn way(&self, ordered: bool) -> Option<Way> {
        match self.kind {
            Kind::Lost { .. } => None,
            Kind::Get { .. } if !ordered => None,
            // What one wrote to a flag must not be overwritten by what it wrote before.
            Kind::Flag { .. } => Some((self.from, self.to, !ordered)),
            _ => Some((self.from, self.to, false)),
        }
    }
}
