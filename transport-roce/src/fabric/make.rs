//! What a PE makes of its own before it knows of the others: registered memory and queue pairs.

use std::net::SocketAddr;
use std::sync::Arc;

use transport_core::heap::SymHeap;
use transport_core::memory::Region;

use super::{Fabric, Result};
use crate::connect::{Connector, End, Introduction, Offer, Unconnected};
use crate::engine::{Layout, Limits, MAX_LINKS};
use crate::error::RoceError;
use crate::nic::agree;
use crate::open::Nic;
use crate::settings::{ConnectMode, MAX_RD_ATOMIC};
use crate::verbs::{Access, CompletionQueue, MemoryRegion, Mtu, ProtectionDomain, QueueSizes};

/// Bytes that travel in the request itself, where the device takes so many.
const INLINE: u32 = 128;
/// With fewer requests under way a queue pair is of no use.
const FEWEST_REQUESTS: u32 = 16;
/// The largest message, whatever a device says: lengths of requests have 32 bits.
const LARGEST_MESSAGE: u64 = 1 << 30;

/// The same for devices without hardware: Soft-RoCE is told that a message has arrived only at its end, and gives up after so many
/// losses in one message, so that a large one would not survive a network that loses packets.
const LARGEST_SOFTWARE_MESSAGE: u64 = 64 << 10;

impl Fabric {
    /// All that this PE offers: registered memory, and queue pairs for those that are connected at the start.
    pub(super) fn make(&self, my_pe: usize, nic: Nic, peers: Vec<Introduction>) -> Result<Made> {
        let verbs = |source| RoceError::Verbs { my_pe, source };
        let (n_pes, per_peer) = (peers.len(), usize::from(self.settings.qps_per_peer.value));
        let nics: Vec<_> = peers.iter().enumerate().map(|(pe, peer)| peer.nic(pe)).collect();
        let mtus = agree(my_pe, &nics).map_err(|source| RoceError::Nic { my_pe, source })?;

        let len = SymHeap::region_len(n_pes, self.heap_size, Layout::bytes(n_pes));
        let memory = |source| RoceError::Memory { my_pe, len, source };
        let mapped = usize::try_from(len).map_err(std::io::Error::other).and_then(Region::map_for_nic);
        let region = mapped.map_err(memory)?;
        let pd = ProtectionDomain::new(&nic.context).map_err(verbs)?;
        let memory = MemoryRegion::register(&pd, region.clone(), Access::ALL).map_err(verbs)?;

        let links = n_pes * per_peer;
        let depth = self.depth(my_pe, &nic, links)?;
        let cq = CompletionQueue::new(&nic.context, depth * links as u32).map_err(verbs)?;
        let attributes = &nic.attributes;
        let reads = |most: u32| u8::try_from(most.min(MAX_RD_ATOMIC.into())).unwrap_or(MAX_RD_ATOMIC);
        let connector = Connector {
            pd,
            cq,
            choice: nic.choice,
            software: nic.software,
            settings: self.settings.clone(),
            sizes: QueueSizes { send_requests: depth, inline_bytes: INLINE },
            mtus: mtus.iter().map(|&bytes| Mtu::from_bytes(bytes).unwrap_or(Mtu::B256)).collect(),
            answers: reads(attributes.max_qp_rd_atom),
            begins: reads(attributes.max_qp_init_rd_atom),
            peers,
        };
        let first_use = self.settings.connect.value == ConnectMode::OnFirstUse;
        let at_start = |pe: usize| !first_use || is_barrier_partner(my_pe, pe, n_pes);
        let make = |link: usize| at_start(link / per_peer).then(|| connector.create()).transpose();
        let unconnected: Vec<_> =
            (0..links).map(make).collect::<std::result::Result<_, _>>().map_err(verbs)?;
        // Of one device all grant the same; a PE has one to itself at least.
        let inline = unconnected.iter().flatten().map(|made| made.qp.max_inline()).min().unwrap_or(0);
        let message = if nic.port.max_message == 0 { LARGEST_MESSAGE } else { nic.port.max_message.into() };
        let limits = Limits {
            depth: depth.into(),
            signal_every: self.settings.signal_every.value.min(depth / 2).into(),
            inline: inline.min(INLINE).into(),
            message: message.min(if connector.software { LARGEST_SOFTWARE_MESSAGE } else { LARGEST_MESSAGE }),
            per_peer,
        };
        let granted = unconnected.iter().flatten().map(|made| made.qp.max_requests()).min();
        let (heap, completions) = (memory.len(), connector.cq.depth());
        tracing::debug!(?limits, links, granted, completions, heap, "registered memory and queue pairs");
        Ok(Made { region, memory, connector, unconnected, limits })
    }

    /// Requests that each link can have under way, so that the completion queue has room for all even when all fail at once.
    fn depth(&self, my_pe: usize, nic: &Nic, links: usize) -> Result<u32> {
        let most = nic.attributes.max_cqe as usize / links.max(1);
        let most = u32::try_from(most).unwrap_or(u32::MAX).min(nic.attributes.max_qp_wr);
        if most < FEWEST_REQUESTS || links > MAX_LINKS {
            let (device, max_completions) = (nic.choice.device.clone(), nic.attributes.max_cqe);
            return Err(RoceError::TooManyLinks {
                my_pe,
                device,
                max_completions,
                links,
                needed: FEWEST_REQUESTS,
            });
        }
        let wanted = self.settings.queue_depth.value;
        if most < wanted {
            tracing::info!(
                "queues of {most} requests instead of {wanted}: {} has no room for more",
                nic.choice.device
            );
        }
        Ok(wanted.min(most))
    }
}

/// What a PE has made before it knows of the others.
pub(super) struct Made {
    pub(super) region: Region,
    pub(super) memory: Arc<MemoryRegion>,
    pub(super) connector: Connector,
    /// For each link, if it is connected at the start.
    pub(super) unconnected: Vec<Option<Unconnected>>,
    pub(super) limits: Limits,
}

impl Made {
    pub(super) fn offer(&self, listener: Option<SocketAddr>) -> Offer {
        let end = |made: &Option<Unconnected>| made.as_ref().map_or(End::default(), Unconnected::end);
        Offer {
            address: self.memory.address(),
            rkey: self.memory.rkey(),
            listener,
            ends: self.unconnected.iter().map(end).collect(),
        }
    }
}

/// Whether the barrier has both talk, or they are one: these are connected at the start in any case.
fn is_barrier_partner(a: usize, b: usize, n_pes: usize) -> bool {
    let distance = (b + n_pes - a) % n_pes;
    distance == 0 || distance.is_power_of_two() || (n_pes - distance).is_power_of_two()
}

#[cfg(test)]
mod tests {
    use transport_core::transport::Dissemination;

    use super::*;

    #[test]
    fn partners_of_the_barrier_are_so_for_both() {
        for n_pes in [1, 2, 3, 5, 8, 33, 64] {
            for a in 0..n_pes {
                for round in 0..Dissemination::rounds(n_pes) {
                    assert!(is_barrier_partner(a, (a + (1 << round)) % n_pes, n_pes));
                }
                for b in 0..n_pes {
                    assert_eq!(is_barrier_partner(a, b, n_pes), is_barrier_partner(b, a, n_pes));
                }
            }
        }
        assert!(!is_barrier_partner(0, 3, 64));
    }
}
