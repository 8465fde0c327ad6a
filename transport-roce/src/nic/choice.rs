//! What was chosen.

use std::fmt;

use super::facts::{DeviceFacts, GidFacts, PortFacts};

/// The NIC, port and GID that this PE uses. Displays as the reason, one line for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The device's name.
    pub device: String,
    /// Its port.
    pub port: u8,
    /// The port's MTU, bytes.
    pub mtu_bytes: u32,
    /// The GID; its `index` is the one to give to a queue pair.
    pub gid: GidFacts,
    /// What was chosen and why:
    /// `rxe_0 port 1, GID 1 (10.0.0.1, RoCE v2, eth1): holds this PE's address towards the rendezvous`.
    pub reason: String,
}

impl Choice {
    pub(super) fn new(device: &DeviceFacts, port: &PortFacts, gid: &GidFacts, why: &str) -> Self {
        Self {
            device: device.name.clone(),
            port: port.number,
            mtu_bytes: port.mtu_bytes,
            gid: gid.clone(),
            reason: format!("{} port {}, {gid}: {why}", device.name, port.number),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
