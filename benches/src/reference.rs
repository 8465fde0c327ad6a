//! The reference job's graph: add -> copy -> AllGather -> AllGather -> add.

use std::sync::Arc;

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::graph::{CaptureMode, DeviceBuffer, Graph, GraphError, InlineQueue, Stream, kernels};
use transport_core::{SymSlice, Transport};

use crate::error::WorkError;

/// The graph, and what it comes to.
pub(crate) struct Reference {
    graph: Graph,
    /// The sum of both gathered buffers.
    c: DeviceBuffer<i32>,
}

impl Reference {
    /// Captures it over two symmetric buffers of equal length, each a part for every PE, whose own parts it sets. Each
    /// replay adds to the own part of `ptr`, so that the result says how often it ran.
    pub(crate) fn capture<X: Transport>(
        transport: &Arc<X>,
        ptr: SymSlice<i32>,
        b_ptr: SymSlice<i32>,
        algorithm: AllGatherAlgorithm,
    ) -> Result<Self, GraphError> {
        let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
        let (add, temp) = (DeviceBuffer::zeroed(ptr.len())?, DeviceBuffer::zeroed(ptr.len())?);
        let c = DeviceBuffer::zeroed(ptr.len())?;
        let (each, value) = (ptr.len() / n_pes, first_value(my_pe));
        for buffer in [ptr, b_ptr] {
            transport.heap().fill(buffer, 0)?;
            transport.heap().fill(buffer.part(my_pe, n_pes)?, value)?;
        }
        add.slice(my_pe * each..(my_pe + 1) * each)?.fill(value);

        let stream = Stream::with_queue(Arc::clone(transport), InlineQueue::new(Arc::clone(transport)));
        stream.capture_begin(CaptureMode::Relaxed)?;
        stream.launch_kernel(kernels::vector_add(&temp, ptr, &add))?;
        stream.memcpy_async(ptr, &temp)?;
        stream.all_gather_in_place(ptr, algorithm)?;
        stream.all_gather_in_place(b_ptr, algorithm)?;
        stream.launch_kernel(kernels::vector_add(&c, ptr, b_ptr))?;
        Ok(Self { graph: stream.capture_end()?, c })
    }

    /// To be replayed.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Looks at the result of the last of so many replays.
    pub(crate) fn check<X: Transport>(
        &self,
        transport: &X,
        work: &'static str,
        rounds: u64,
    ) -> Result<(), WorkError> {
        let found = self.c.read_vec();
        let each = (found.len() / transport.n_pes()).max(1);
        for (i, found) in found.iter().enumerate() {
            // One from `b_ptr`, one from the start of `ptr`, one for each round.
            let expected = first_value(i / each).wrapping_mul((rounds as i32).wrapping_add(2));
            let pairs = found.to_ne_bytes().into_iter().zip(expected.to_ne_bytes()).enumerate();
            for (byte, (found, expected)) in pairs {
                if found != expected {
                    let (my_pe, at, len) = (transport.my_pe(), 4 * i + byte, 4 * self.c.len());
                    return Err(WorkError::WrongData { my_pe, work, at, len, found, expected, rounds });
                }
            }
        }
        Ok(())
    }
}

/// What a PE's part holds at first.
fn first_value(pe: usize) -> i32 {
    (pe as i32).wrapping_add(10)
}
