//! What is known about the verbs devices of this host: plain data that another module fills in.

use std::fmt;

use super::gid::Gid;

/// A verbs device and its ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceFacts {
    /// Its name, as `ibv_devices` shows it.
    pub name: String,
    /// Its ports.
    pub ports: Vec<PortFacts>,
}

/// A port of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PortFacts {
    /// Its number, from 1.
    pub number: u8,
    /// Its state as people write it: `ACTIVE`, `DOWN`.
    pub state: String,
    /// Whether that state is the one in which packets flow.
    pub active: bool,
    /// Whether its link layer is Ethernet; InfiniBand if not.
    pub ethernet: bool,
    /// The most bytes of a packet's payload, as it is set now.
    pub mtu_bytes: u32,
    /// The entries of its GID table that are in use. Their indices may have gaps.
    pub gids: Vec<GidFacts>,
}

/// An entry of a port's GID table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GidFacts {
    /// Its index in the table: not its position among those in use.
    pub index: u32,
    /// The GID.
    pub gid: Gid,
    /// How packets are written that carry it.
    pub kind: GidKind,
    /// The network device that it belongs to, if the kernel tells.
    pub netdev: Option<String>,
}

/// How packets are written that carry a GID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum GidKind {
    /// InfiniBand's own packets.
    InfiniBand,
    /// Straight over Ethernet: not routable.
    RoceV1,
    /// Over UDP and IP.
    RoceV2,
}

impl fmt::Display for GidKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InfiniBand => "InfiniBand",
            Self::RoceV1 => "RoCE v1",
            Self::RoceV2 => "RoCE v2",
        })
    }
}

/// Displays as `GID 1 (10.0.0.1, RoCE v2, eth1)`.
impl fmt::Display for GidFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GID {} ({}, {}", self.index, self.gid, self.kind)?;
        match &self.netdev {
            Some(netdev) => write!(f, ", {netdev})"),
            None => f.write_str(")"),
        }
    }
}
