//! The reference job: `add -> allGather -> allGather -> add`, captured once, replayed, on both queues and without any.

use std::sync::Arc;

use transport_core::Transport;
use transport_core::collectives::AllGatherAlgorithm;
use transport_core::graph::{CaptureMode, DeviceBuffer, InlineQueue, Stream, kernels};
use transport_core::wait::block_on;

use crate::program::{Trouble, expect};

const LEN: usize = 3;

pub(crate) fn reference_job<X: Transport>(pe: &Arc<X>) -> Result<(), Trouble> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let mine = block_on(pe.calloc::<u64>(LEN))?;
    let (first, second) = (block_on(pe.calloc::<u64>(n * LEN))?, block_on(pe.calloc::<u64>(n * n * LEN))?);
    let (a, b) = (DeviceBuffer::<u64>::zeroed(LEN)?, DeviceBuffer::from_slice(&[me as u64 + 1; LEN])?);
    let sums = DeviceBuffer::<u64>::zeroed(n * n * LEN)?;

    // Half of the PEs on a thread of the stream's own.
    let stream = match me % 2 {
        0 => Stream::with_queue(Arc::clone(pe), InlineQueue::new(Arc::clone(pe))),
        _ => Stream::create(Arc::clone(pe))?,
    };
    stream.capture_begin(CaptureMode::ThreadLocal)?;
    stream.launch_kernel(kernels::vector_add(mine, &a, &b))?;
    stream.all_gather(first, mine, AllGatherAlgorithm::Auto)?;
    stream.all_gather(second, first, AllGatherAlgorithm::Textbook)?;
    stream.launch_kernel(kernels::vector_add(&sums, second, second))?;
    let graph = stream.capture_end()?;
    for replay in 1..=3_u64 {
        a.fill(100 * replay);
        if replay == 2 {
            block_on(graph.run(&**pe))?;
        } else {
            graph.launch(&stream)?;
            stream.synchronize()?;
        }
        // Everybody's sum, once for each PE.
        let of = |i: usize| 2 * (100 * replay + (i / LEN % n) as u64 + 1);
        expect("the reference job", sums.read_vec(), (0..n * n * LEN).map(of).collect())?;
    }
    Ok(())
}
