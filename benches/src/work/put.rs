//! Puts and gets of PE 0, to and from PE 1. Other PEs wait.

use std::time::{Duration, Instant};

use transport_core::{SymSlice, Transport};

use super::{Kind, Laps, Room, Work, pattern};
use crate::error::WorkError;

/// Calls of [`Kind::Put`] between two quiets: many beside the reading of the clock, few beside a NIC's queue.
const BURST: u64 = 64;

/// Puts, completed as the kind says.
pub(super) async fn put<X: Transport, L: Laps>(
    pe: &X,
    work: &Work,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let [src, dst] = room.halves(work, pe.n_pes())?;
    // Not those that are looked for.
    pattern::write(pe, src, 1)?;
    pe.heap().fill(dst, 0)?;
    pe.barrier_all().await?;

    if pe.my_pe() == 0 {
        // Not counted: it brings into this PE's caches what others have just written.
        pe.put_nbi(dst, src, 1)?;
        pe.quiet().await?;
        pattern::write(pe, src, 0)?;
    }
    let took = match (pe.my_pe(), work.kind) {
        (0, Kind::Stream) => stream(pe, dst, src, rounds).await?,
        (0, Kind::Put) => bursts(pe, dst, src, rounds).await?,
        (0, _) => one_by_one(pe, dst, src, rounds, laps).await?,
        _ => Duration::ZERO,
    };

    pe.barrier_all().await?;
    if pe.my_pe() == 1 {
        pattern::check(pe, dst, 0, work.kind.name(), rounds)?;
    }
    Ok(took)
}

/// All at once; the time until all are complete. So its rounds have no times of their own.
async fn stream<X: Transport>(
    pe: &X,
    dst: SymSlice<u8>,
    src: SymSlice<u8>,
    rounds: u64,
) -> Result<Duration, WorkError> {
    let start = Instant::now();
    for _ in 0..rounds {
        pe.put_nbi(dst, src, 1)?;
    }
    pe.quiet().await?;
    Ok(start.elapsed())
}

/// Each complete before the next.
async fn one_by_one<X: Transport, L: Laps>(
    pe: &X,
    dst: SymSlice<u8>,
    src: SymSlice<u8>,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let start = Instant::now();
    laps.begin();
    for _ in 0..rounds {
        pe.put_nbi(dst, src, 1)?;
        pe.quiet().await?;
        laps.lap();
    }
    Ok(start.elapsed())
}

/// The time of the calls alone.
async fn bursts<X: Transport>(
    pe: &X,
    dst: SymSlice<u8>,
    src: SymSlice<u8>,
    rounds: u64,
) -> Result<Duration, WorkError> {
    let (mut took, mut left) = (Duration::ZERO, rounds);
    while left > 0 {
        let burst = left.min(BURST);
        let start = Instant::now();
        for _ in 0..burst {
            pe.put_nbi(dst, src, 1)?;
        }
        took += start.elapsed();
        pe.quiet().await?;
        left -= burst;
    }
    Ok(took)
}

/// Gets, each complete before the next.
pub(super) async fn get<X: Transport, L: Laps>(
    pe: &X,
    work: &Work,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let [src, dst] = room.halves(work, pe.n_pes())?;
    pattern::write(pe, src, pe.my_pe())?;
    pe.heap().fill(dst, 0)?;
    pe.barrier_all().await?;

    if pe.my_pe() == 0 {
        // Not counted, as above.
        pe.get_nbi(dst, src, 1)?;
        pe.quiet().await?;
        pe.heap().fill(dst, 0)?;
    }
    let start = Instant::now();
    laps.begin();
    if pe.my_pe() == 0 {
        for _ in 0..rounds {
            pe.get_nbi(dst, src, 1)?;
            pe.quiet().await?;
            laps.lap();
        }
    }
    let took = start.elapsed();

    pe.barrier_all().await?;
    if pe.my_pe() == 0 {
        pattern::check(pe, dst, 1, work.kind.name(), rounds)?;
    }
    Ok(took)
}
