//! Makes queue pairs and connects them to their other ends.

use std::sync::Arc;

use super::wire::{End, Introduction};
use crate::nic::Choice;
use crate::settings::{MIN_RNR_TIMER, RoceSettings};
use crate::verbs::{
    CompletionQueue, Mtu, ProtectionDomain, QueuePair, QueueSizes, Route, SendTimers, VerbsError,
};

/// Routers on the way that a packet survives.
const HOP_LIMIT: u8 = 64;

/// All that is needed for a connection to any peer.
#[derive(Debug)]
pub(crate) struct Connector {
    pub(crate) pd: Arc<ProtectionDomain>,
    pub(crate) cq: Arc<CompletionQueue>,
    pub(crate) choice: Choice,
    pub(crate) settings: RoceSettings,
    pub(crate) sizes: QueueSizes,
    pub(crate) peers: Vec<Introduction>,
    /// Towards each peer.
    pub(crate) mtus: Vec<Mtu>,
    /// The device is the kernel's own work.
    pub(crate) software: bool,
    /// Reads and atomics that this PE answers, and begins, at a time.
    pub(crate) answers: u8,
    pub(crate) begins: u8,
}

/// A queue pair that is not connected, and the number of its first packet.
#[derive(Debug)]
pub(crate) struct Unconnected {
    pub(crate) qp: QueuePair,
    pub(crate) psn: u32,
}

impl Unconnected {
    /// What the other end must know.
    pub(crate) fn end(&self) -> End {
        End { qp: self.qp.number(), psn: self.psn }
    }
}

impl Connector {
    /// A queue pair for any peer.
    pub(crate) fn create(&self) -> Result<Unconnected, VerbsError> {
        let qp = QueuePair::create(&self.pd, &self.cq, self.sizes)?;
        qp.to_init(self.choice.port)?;
        // Packets of an earlier connection that are still on their way must not fit this one.
        Ok(Unconnected { qp, psn: random() as u32 & 0x00FF_FFFF })
    }

    /// Connects it to `other` of `pe`. The other end need not be connected yet, but nothing may be sent before it is.
    pub(crate) fn connect(&self, own: Unconnected, pe: usize, other: End) -> Result<QueuePair, VerbsError> {
        let (peer, settings) = (&self.peers[pe], &self.settings);
        own.qp.to_ready_to_receive(&Route {
            port: self.choice.port,
            // A table has at most 256 entries that can be named here; the choice is among them.
            sgid_index: u8::try_from(self.choice.gid.index).unwrap_or(u8::MAX),
            dgid: peer.gid,
            remote_qp: other.qp,
            remote_psn: other.psn,
            mtu: self.mtus[pe],
            max_dest_rd_atomic: self.answers,
            min_rnr_timer: MIN_RNR_TIMER,
            traffic_class: settings.traffic_class.value,
            service_level: settings.service_level.value,
            hop_limit: HOP_LIMIT,
        })?;
        own.qp.to_ready_to_send(&SendTimers {
            psn: own.psn,
            timeout: settings.timeout.value,
            retry_count: settings.retries(self.software),
            rnr_retry: settings.rnr_retry.value,
            max_rd_atomic: self.begins.min(peer.reads),
        })?;
        Ok(own.qp)
    }
}

/// A number that nobody can guess, or at least nobody else has.
pub(crate) fn random() -> u64 {
    getrandom::u64().unwrap_or_else(|_| {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        clock.map_or(0, |now| now.as_nanos() as u64) ^ u64::from(std::process::id()) << 40
    })
}
