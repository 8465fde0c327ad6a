//! There and back between PE 0 and PE 1; other PEs wait.

use std::time::{Duration, Instant};

use transport_core::{Cmp, SignalOp, SymSlice, Transport};

use super::{Kind, Laps, Room, Work, pattern};
use crate::error::WorkError;

/// By plain puts, as `ib_write_lat` does it: the last 8 bytes of the data count the rounds, and the partner waits for them.
///
/// That takes for granted that the last bytes of a put do not arrive before the others, which holds for the NICs that such
/// programs are used on, and that a put whose answer has come is done with its source. What arrived is looked at in the end.
pub(super) async fn plain<X: Transport, L: Laps>(
    pe: &X,
    work: &Work,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let my_pe = pe.my_pe();
    let [src, dst] = room.halves(work, pe.n_pes())?;
    let split =
        |all: SymSlice<u8>| Ok::<_, WorkError>((all.slice(..all.len() - 8)?, all.slice(all.len() - 8..)?));
    let ((data, count), (to_data, to_count)) = (split(src)?, split(dst)?);
    let (count, to_count) = (count.cast::<u64>()?, to_count.cast::<u64>()?);
    pattern::write(pe, data, my_pe)?;
    pe.heap().fill(dst, 0)?;
    pe.barrier_all().await?;

    let start = Instant::now();
    laps.begin();
    match my_pe {
        0 => {
            for round in 1..=rounds {
                pe.heap().write(count, &[round])?;
                pe.put_nbi(dst, src, 1)?;
                pe.signal_wait_until(to_count, Cmp::Eq, round).await?;
                laps.lap();
            }
        }
        1 => {
            for round in 1..=rounds {
                pe.signal_wait_until(to_count, Cmp::Eq, round).await?;
                pe.heap().write(count, &[round])?;
                pe.put_nbi(dst, src, 0)?;
            }
        }
        _ => {}
    }
    let took = start.elapsed();

    pe.barrier_all().await?;
    if my_pe < 2 {
        pattern::check(pe, to_data, 1 - my_pe, Kind::PingPong.name(), rounds)?;
        pattern::check_word(pe, pe.heap().load(to_count)?, rounds, Kind::PingPong.name(), rounds)?;
    }
    Ok(took)
}

/// By puts with signal, which take nothing for granted.
pub(super) async fn signal<X: Transport, L: Laps>(
    pe: &X,
    work: &Work,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let (my_pe, signal) = (pe.my_pe(), room.signal);
    let [src, dst] = room.halves(work, pe.n_pes())?;
    pattern::write(pe, src, my_pe)?;
    pe.heap().fill(dst, 0)?;
    pe.heap().fill(signal, 0)?;
    pe.barrier_all().await?;

    let start = Instant::now();
    laps.begin();
    match my_pe {
        0 => {
            for round in 1..=rounds {
                pe.put_signal_nbi(dst, src, signal, SignalOp::Set(round), 1)?;
                pe.signal_wait_until(signal, Cmp::Eq, round).await?;
                laps.lap();
            }
        }
        1 => {
            for round in 1..=rounds {
                pe.signal_wait_until(signal, Cmp::Eq, round).await?;
                pe.put_signal_nbi(dst, src, signal, SignalOp::Set(round), 0)?;
            }
        }
        _ => {}
    }
    let took = start.elapsed();

    pe.barrier_all().await?;
    if my_pe < 2 {
        pattern::check(pe, dst, 1 - my_pe, Kind::SignalPingPong.name(), rounds)?;
    }
    Ok(took)
}
