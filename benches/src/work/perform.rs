//! Doing a work.

use std::sync::Arc;
use std::time::Duration;

use transport_core::Transport;

use super::{Kind, Laps, Room, Work, collective, graph, ping_pong, put};
use crate::error::WorkError;

impl Work {
    /// Does it `rounds` times, together with the other PEs, looks whether the data arrived, and answers how long the rounds
    /// took here.
    ///
    /// Every work goes in the same steps: buffers are set; a barrier; the rounds, which are timed and allocate nothing; a
    /// barrier, in which those wait that have nothing to do; a look at the data. `laps` is told of each round, where rounds
    /// are apart from each other.
    pub(crate) async fn perform<X: Transport, L: Laps>(
        &self,
        shared: &Arc<X>,
        room: Room,
        rounds: u64,
        laps: &mut L,
    ) -> Result<Duration, WorkError> {
        let pe = &**shared;
        if self.kind.needs_partner() && pe.n_pes() < 2 {
            let (my_pe, n_pes) = (pe.my_pe(), pe.n_pes());
            return Err(WorkError::NoPartner { my_pe, work: self.kind.name(), n_pes });
        }
        match self.kind {
            Kind::PingPong => ping_pong::plain(pe, self, room, rounds, laps).await,
            Kind::SignalPingPong => ping_pong::signal(pe, self, room, rounds, laps).await,
            Kind::Stream | Kind::PutQuiet | Kind::Put => put::put(pe, self, room, rounds, laps).await,
            Kind::Get => put::get(pe, self, room, rounds, laps).await,
            Kind::Barrier => collective::barrier(pe, room, rounds, laps).await,
            Kind::AllGather => collective::all_gather(pe, self, room, rounds, laps).await,
            Kind::Replay => graph::replay(shared, self, room, rounds, laps).await,
            Kind::EmptyNodes => graph::empty_nodes(shared, rounds, laps).await,
        }
    }
}
