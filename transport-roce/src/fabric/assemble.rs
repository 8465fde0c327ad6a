//! The engine, of what this PE has made and what the others offer.

use std::sync::Arc;

use bytes::Bytes;
use transport_core::Endpoint;
use transport_core::bootstrap::Bootstrap;
use transport_core::heap::SymHeap;
use transport_core::transport::{Dissemination, Medium};

use super::make::Made;
use super::{Fabric, Result};
use crate::connect::{Offer, Unconnected, Wanted};
use crate::engine::{Engine, Layout, Parts, Peer};
use crate::error::RoceError;
use crate::nic::Gid;

impl Fabric {
    /// What the others offer, and the engine over it.
    pub(super) fn engine(
        &self,
        bootstrap: &Bootstrap,
        made: &Made,
        said: &[Bytes],
    ) -> Result<(Vec<Offer>, Arc<Engine>)> {
        let (my_pe, n_pes, limits) = (bootstrap.my_pe(), said.len(), made.limits);
        let garbled = |pe| RoceError::Garbled { my_pe, pe, what: "description of its memory" };
        let read = |(pe, said): (usize, &Bytes)| {
            Offer::decode(said, n_pes * limits.per_peer).ok_or_else(|| garbled(pe))
        };
        let offers: Vec<Offer> = said.iter().enumerate().map(read).collect::<Result<_>>()?;
        let seed = made.connector.peers[0].token as u32;
        let backend = Layout::bytes(n_pes);
        let heap = SymHeap::new(made.region.clone(), my_pe, n_pes, backend, seed);
        // Its own place for flags is in every heap that was made with it.
        let area =
            heap.backend_area(n_pes, backend).map_err(|source| RoceError::FirstBarrier { my_pe, source })?;
        let place = |pe: usize| {
            let peer = &made.connector.peers[pe];
            format!("PE {pe} ({}, {} port {}, host {})", Gid(peer.gid), peer.device, peer.port, peer.host)
        };
        let peer = |(pe, offer): (usize, &Offer)| Peer {
            address: offer.address,
            rkey: offer.rkey,
            place: place(pe),
        };
        let layout = Layout::new(area.offset(), n_pes);
        if self.first_epoch != 0 {
            // Before anybody can write there.
            for round in 0..Dissemination::rounds(n_pes) {
                made.region
                    .word32(layout.flag(round))
                    .store(self.first_epoch, std::sync::atomic::Ordering::Relaxed);
            }
        }
        // All know the same of all, so they come to the same.
        let software = made.connector.peers.iter().any(|peer| peer.software);
        let medium = if software { Medium::SoftwareNic } else { Medium::Nic };
        let endpoint = Endpoint::new(my_pe, n_pes, heap, self.timeout);
        let engine = Engine::new(Parts {
            endpoint: endpoint.over(medium).all_gather_by(bootstrap.all_gather()),
            memory: Arc::clone(&made.memory),
            peers: offers.iter().enumerate().map(peer).collect(),
            cq: Arc::clone(&made.connector.cq),
            layout,
            limits,
            place: place(my_pe),
            port: made.connector.choice.port,
            gid: (made.connector.choice.gid.index, made.connector.choice.gid.gid),
            backend: self.kind.backend,
            patience: self.settings.patience(made.connector.software),
            first_number: self.first_number,
        });
        let engine = engine.map_err(|source| RoceError::System { my_pe, step: "make an event", source })?;
        Ok((offers, Arc::new(engine)))
    }
}

/// What is connected at the start: this PE's ends, each with the one that the peer has for it.
pub(super) fn wanted(
    my_pe: usize,
    own: Vec<Option<Unconnected>>,
    offers: &[Offer],
    per_peer: usize,
) -> Vec<Wanted> {
    let other = |link: usize| offers[link / per_peer].ends[my_pe * per_peer + link % per_peer];
    let wanted = own.into_iter().enumerate().filter_map(|(link, own)| {
        // To itself, each link is its own other end.
        Some(Wanted { link, own: own?, other: other(link) })
    });
    wanted.collect()
}
