//! An operation that can be kept.

use bytes::Bytes;

use crate::error::Result;
use crate::transport::{Remote, SignalOp, Transfer, Transport, Word};

#[derive(Debug, Clone)]
pub(super) enum Operation {
    Put(Transfer),
    PutBytes(Remote, Bytes),
    Get(Transfer),
    Signal(Option<Transfer>, Word, SignalOp),
}

impl Operation {
    /// The PE that it needs.
    pub(super) fn pe(&self) -> usize {
        match self {
            Self::Put(transfer) | Self::Get(transfer) => transfer.pe(),
            Self::PutBytes(remote, _) => remote.pe(),
            Self::Signal(_, word, _) => word.pe(),
        }
    }

    /// The call that users make.
    pub(super) fn call(&self) -> &'static str {
        match self {
            Self::Put(_) => "put_nbi",
            Self::PutBytes(..) => "put_bytes_nbi",
            Self::Get(_) => "get_nbi",
            Self::Signal(..) => "put_signal_nbi",
        }
    }

    /// Done twice before its quiet, nobody can tell.
    pub(super) fn is_repeatable(&self) -> bool {
        matches!(self, Self::Get(_))
    }

    pub(super) fn post<T: Transport>(self, transport: &T) -> Result<()> {
        match self {
            Self::Put(put) => transport.post_put(put),
            Self::PutBytes(remote, data) => transport.post_put_bytes(remote, data),
            Self::Get(get) => transport.post_get(get),
            Self::Signal(put, word, op) => transport.post_put_signal(put, word, op),
        }
    }
}
