//! What an operation accesses, and what it means for the order of others.

use std::ops::Range;

use transport_core::{AtomicOp, SignalOp};

use super::access::AccessKind;
use super::words::Change;
use crate::sim::event::OpKind;

/// The accesses of an operation of `pe`: whose heap, how, which bytes.
pub(super) fn accesses(pe: usize, kind: &OpKind) -> [Option<(usize, AccessKind, Range<u64>)>; 2] {
    match kind {
        // To itself, onto itself: it changes nothing.
        OpKind::Put { to, local, remote } | OpKind::Get { from: to, local, remote }
            if *to == pe && local == remote =>
        {
            [None, None]
        }
        OpKind::Put { to, local, remote } => [
            Some((pe, AccessKind::PutSource, local.clone())),
            Some((*to, AccessKind::PutTarget, remote.clone())),
        ],
        OpKind::PutMarked { to, local, word, .. } => [
            Some((pe, AccessKind::PutSource, bytes_of(*local))),
            Some((*to, AccessKind::Signal, bytes_of(*word))),
        ],
        OpKind::PutBytes { to, remote } => [Some((*to, AccessKind::PutTarget, remote.clone())), None],
        OpKind::Get { from, local, remote } => [
            Some((*from, AccessKind::GetSource, remote.clone())),
            Some((pe, AccessKind::GetTarget, local.clone())),
        ],
        OpKind::Signal { to, word, .. } => [Some((*to, AccessKind::Signal, bytes_of(*word))), None],
        OpKind::Atomic { to, word, op: AtomicOp::Fetch } => {
            [Some((*to, AccessKind::Fetch, bytes_of(*word))), None]
        }
        OpKind::Atomic { to, word, .. } => [Some((*to, AccessKind::Atomic, bytes_of(*word))), None],
    }
}

/// Of a signal or an atomic: its word, and how it changes it.
pub(super) fn change(kind: &OpKind) -> Option<(u64, Change)> {
    match kind {
        OpKind::Put { .. } | OpKind::PutBytes { .. } | OpKind::Get { .. } => None,
        OpKind::Signal { word, op: SignalOp::Set(_), .. } => Some((*word, Change::Store)),
        OpKind::Signal { word, op: SignalOp::Add(_), .. } => Some((*word, Change::Update)),
        OpKind::PutMarked { word, .. } => Some((*word, Change::Update)),
        OpKind::Atomic { word, op: AtomicOp::Fetch, .. } => Some((*word, Change::Nothing)),
        OpKind::Atomic { word, .. } => Some((*word, Change::Update)),
    }
}

/// The bytes of the word at `offset`.
pub(super) fn bytes_of(offset: u64) -> Range<u64> {
    offset..offset.saturating_add(8)
}
