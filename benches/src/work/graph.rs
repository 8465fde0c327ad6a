//! Replays of captured graphs, on the caller's thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use transport_core::Transport;
use transport_core::graph::{CaptureMode, DeviceBuffer, InlineQueue, Stream};

use super::{Laps, Room, Work};
use crate::error::WorkError;
use crate::reference::Reference;

/// Nodes of the graph that does nothing.
const NODES: usize = 100;

/// The reference job's graph; its last result is checked.
pub(super) async fn replay<X: Transport, L: Laps>(
    shared: &Arc<X>,
    work: &Work,
    room: Room,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let pe = &**shared;
    let [ptr, b_ptr] = room.halves(work, pe.n_pes())?;
    let reference = Reference::capture(shared, ptr.cast()?, b_ptr.cast()?, work.algorithm)?;
    pe.barrier_all().await?;

    let start = Instant::now();
    laps.begin();
    for _ in 0..rounds {
        reference.graph().run(pe).await?;
        laps.lap();
    }
    let took = start.elapsed();

    pe.barrier_all().await?;
    reference.check(pe, work.kind.name(), rounds)?;
    Ok(took)
}

/// What a replay costs beside its work.
pub(super) async fn empty_nodes<X: Transport, L: Laps>(
    shared: &Arc<X>,
    rounds: u64,
    laps: &mut L,
) -> Result<Duration, WorkError> {
    let pe = &**shared;
    let stream = Stream::with_queue(Arc::clone(shared), InlineQueue::new(Arc::clone(shared)));
    let (to, from) = (DeviceBuffer::<u8>::zeroed(0)?, DeviceBuffer::<u8>::zeroed(0)?);
    stream.capture_begin(CaptureMode::Relaxed)?;
    for _ in 0..NODES {
        stream.memcpy_async(&to, &from)?;
    }
    let graph = stream.capture_end()?;
    pe.barrier_all().await?;

    let start = Instant::now();
    laps.begin();
    for _ in 0..rounds {
        graph.run(pe).await?;
        laps.lap();
    }
    let took = start.elapsed();

    pe.barrier_all().await?;
    Ok(took)
}
