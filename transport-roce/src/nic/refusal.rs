//! Why an entry of a GID table is not used.

use super::facts::{GidFacts, GidKind};
use crate::settings::GidAllow;

/// The largest index that a queue pair can be given: verbs have 8 bits for it.
const MAX_INDEX: u32 = 255;

/// Why an entry of a GID table is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Unset, loopback or multicast.
    NoAddress,
    /// At an index that a queue pair cannot be given.
    BeyondIndices,
    /// Of another kind of network.
    InfiniBand,
    /// RoCE v1, which is not allowed.
    V1,
    /// Link-local, which is not allowed.
    LinkLocal,
}

impl Refusal {
    /// Why `entry` is not to be used, if so.
    pub(super) fn of(entry: &GidFacts, allow: GidAllow) -> Option<Self> {
        if !entry.gid.is_usable() {
            return Some(Self::NoAddress);
        }
        if entry.index > MAX_INDEX {
            return Some(Self::BeyondIndices);
        }
        match entry.kind {
            GidKind::InfiniBand => return Some(Self::InfiniBand),
            GidKind::RoceV1 if !allow.v1 => return Some(Self::V1),
            GidKind::RoceV1 | GidKind::RoceV2 => {}
        }
        (entry.gid.is_link_local() && !allow.link_local).then_some(Self::LinkLocal)
    }

    /// What is wrong with the entry.
    pub(super) const fn fault(self) -> &'static str {
        match self {
            Self::NoAddress => "is no address that a peer could answer to",
            Self::BeyondIndices => "is beyond 255, the last index that a queue pair can use",
            Self::InfiniBand => "is InfiniBand's, but this backend speaks RoCE",
            Self::V1 => "is of RoCE v1, which routers do not forward and other NICs may not speak",
            Self::LinkLocal => "is link-local, which routers do not forward",
        }
    }

    /// What to do about it.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            Self::NoAddress | Self::BeyondIndices | Self::InfiniBand => {
                "name another entry, or unset the index so that the best one is found"
            }
            Self::V1 => "name another entry, or add v1 to SHMEM_GID_ALLOW if all peers are on one link",
            Self::LinkLocal => {
                "name another entry, or add link-local to SHMEM_GID_ALLOW if all peers are on one link"
            }
        }
    }
}
