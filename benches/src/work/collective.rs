//! What all PEs do alike.

use std::time::{Duration, Instant};

use transport_core::Transport;
use transport_core::collectives::{AllGather, AllGatherAlgorithm};

use super::{Kind, Laps, Room, Work, pattern};
use crate::error::WorkError;

/// Barriers. The last one is seen to complete a put to the right-hand neighbour.
pub(super) async fn barrier<X: Transport, L: Laps>(
    pe: &X,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let (my_pe, n_pes) = (pe.my_pe(), pe.n_pes());
    pe.heap().fill(room.signal, 0)?;
    let (src, dst) = (room.data.slice(..8)?.cast::<u64>()?, room.data.slice(8..16)?.cast::<u64>()?);
    pe.heap().write(src, &[rounds])?;
    pe.heap().write(dst, &[0])?;
    pe.barrier_all().await?;

    let start = Instant::now();
    laps.begin();
    for _ in 0..rounds {
        pe.barrier_all().await?;
        laps.lap();
    }
    let took = start.elapsed();

    pe.put_nbi(dst, src, (my_pe + 1) % n_pes)?;
    pe.barrier_all().await?;
    pattern::check_word(pe, pe.heap().load(dst)?, rounds, Kind::Barrier.name(), rounds)?;
    Ok(took)
}

impl Work {
    /// How its AllGathers are done in such a job, if it has any.
    pub(crate) fn gathers_by<X: Transport>(
        &self,
        pe: &X,
        room: Room,
    ) -> Result<Option<AllGatherAlgorithm>, WorkError> {
        let Some(asked) = self.algorithm() else { return Ok(None) };
        let [all, _] = room.halves(self, pe.n_pes())?;
        Ok(Some(AllGather::in_place(pe, all, asked)?.algorithm()))
    }
}

/// AllGathers in place.
pub(super) async fn all_gather<X: Transport, L: Laps>(
    pe: &X,
    work: &Work,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let (my_pe, n_pes) = (pe.my_pe(), pe.n_pes());
    let [all, _] = room.halves(work, n_pes)?;
    pe.heap().fill(all, 0)?;
    let mine = all.part(my_pe, n_pes)?;
    let gather = AllGather::in_place(pe, all, work.algorithm)?;
    pe.barrier_all().await?;

    // Not counted: the caches hold what was there before. Other bytes, so that those that are looked for are not there before.
    pattern::write(pe, mine, my_pe + 1)?;
    gather.run(pe).await?;
    pattern::write(pe, mine, my_pe)?;
    let start = Instant::now();
    laps.begin();
    for _ in 0..rounds {
        gather.run(pe).await?;
        laps.lap();
    }
    let took = start.elapsed();

    pe.barrier_all().await?;
    for theirs in 0..n_pes {
        pattern::check(pe, all.part(theirs, n_pes)?, theirs, work.kind.name(), rounds)?;
    }
    Ok(took)
}
