//! Programs for a few PEs, written down as steps: an event list and a real job can be made of each.

use std::panic::Location;

use transport_core::{AtomicOp, Cmp, SignalOp};
use transport_loopback::sim::Place;

/// Bytes from the start of the buffer that all PEs share: from, to.
pub(crate) type Bytes = (u64, u64);

/// How many bytes that buffer has.
pub(crate) const BUFFER: u64 = 512;

/// What a PE does next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Do {
    Put {
        to: usize,
        src: Bytes,
        dst: Bytes,
    },
    /// A put of marked bytes, of whole words.
    PutMarked {
        to: usize,
        src: Bytes,
        dst: Bytes,
    },
    PutBytes {
        to: usize,
        dst: Bytes,
    },
    Get {
        from: usize,
        src: Bytes,
        dst: Bytes,
    },
    Signal {
        to: usize,
        data: Option<(Bytes, Bytes)>,
        word: u64,
        op: SignalOp,
    },
    Atomic {
        to: usize,
        word: u64,
        op: AtomicOp,
    },
    Wait {
        word: u64,
        cmp: Cmp,
        value: u64,
    },
    /// Reads a word with acquire order; if it has this value, reads the bytes.
    LoadThen {
        word: u64,
        value: u64,
        read: Bytes,
    },
    Fence,
    Quiet,
    Barrier,
    Read(Bytes),
    Write(Bytes, u8),
}

/// The steps of one PE, each with its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps(pub(crate) Vec<(Do, Place)>);

/// A PE that does nothing so far.
pub(crate) fn pe() -> Steps {
    Steps::default()
}

impl Steps {
    #[track_caller]
    fn and(mut self, step: Do) -> Self {
        self.0.push((step, Location::caller()));
        self
    }

    #[track_caller]
    pub(crate) fn put(self, to: usize, src: Bytes, dst: Bytes) -> Self {
        self.and(Do::Put { to, src, dst })
    }

    #[track_caller]
    pub(crate) fn put_marked(self, to: usize, src: Bytes, dst: Bytes) -> Self {
        self.and(Do::PutMarked { to, src, dst })
    }

    #[track_caller]
    pub(crate) fn put_bytes(self, to: usize, dst: Bytes) -> Self {
        self.and(Do::PutBytes { to, dst })
    }

    #[track_caller]
    pub(crate) fn get(self, from: usize, src: Bytes, dst: Bytes) -> Self {
        self.and(Do::Get { from, src, dst })
    }

    #[track_caller]
    pub(crate) fn put_signal(self, to: usize, src: Bytes, dst: Bytes, word: u64, op: SignalOp) -> Self {
        self.and(Do::Signal { to, data: Some((src, dst)), word, op })
    }

    #[track_caller]
    pub(crate) fn signal(self, to: usize, word: u64, op: SignalOp) -> Self {
        self.and(Do::Signal { to, data: None, word, op })
    }

    #[track_caller]
    pub(crate) fn atomic(self, to: usize, word: u64, op: AtomicOp) -> Self {
        self.and(Do::Atomic { to, word, op })
    }

    #[track_caller]
    pub(crate) fn wait(self, word: u64, value: u64) -> Self {
        self.and(Do::Wait { word, cmp: Cmp::Ge, value })
    }

    #[track_caller]
    pub(crate) fn load_then_read(self, word: u64, value: u64, read: Bytes) -> Self {
        self.and(Do::LoadThen { word, value, read })
    }

    #[track_caller]
    pub(crate) fn fence(self) -> Self {
        self.and(Do::Fence)
    }

    #[track_caller]
    pub(crate) fn quiet(self) -> Self {
        self.and(Do::Quiet)
    }

    #[track_caller]
    pub(crate) fn barrier(self) -> Self {
        self.and(Do::Barrier)
    }

    #[track_caller]
    pub(crate) fn read(self, bytes: Bytes) -> Self {
        self.and(Do::Read(bytes))
    }

    #[track_caller]
    pub(crate) fn write(self, bytes: Bytes) -> Self {
        self.and(Do::Write(bytes, 7))
    }

    /// Sets a word to 0 by a plain write.
    #[track_caller]
    pub(crate) fn reset(self, word: u64) -> Self {
        self.and(Do::Write((word, word + 8), 0))
    }
}
