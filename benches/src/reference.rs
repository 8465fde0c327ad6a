//! The reference job's graph: add -> copy -> AllGather -> AllGather -> add.

use std::sync::Arc;

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::graph::{CaptureMode, DeviceBuffer, Graph, GraphError, InlineQueue, Stream, kernels};
use transport_core::{SymSlice, Transport};

/// Captures it over two symmetric buffers of equal length, each a part for every PE. All stands on `i32`.
///
/// # Errors
///
/// [`GraphError`] of the capture.
pub fn reference_graph<X: Transport>(
    transport: &Arc<X>,
    ptr: SymSlice<i32>,
    b_ptr: SymSlice<i32>,
) -> Result<Graph, GraphError> {
    let (add, temp) = (DeviceBuffer::zeroed(ptr.len())?, DeviceBuffer::zeroed(ptr.len())?);
    let c = DeviceBuffer::zeroed(ptr.len())?;
    let stream = Stream::with_queue(Arc::clone(transport), InlineQueue::new(Arc::clone(transport)));
    stream.capture_begin(CaptureMode::Relaxed)?;
    stream.launch_kernel(kernels::vector_add(&temp, ptr, &add))?;
    stream.memcpy_async(ptr, &temp)?;
    stream.all_gather_in_place(ptr, AllGatherAlgorithm::Auto)?;
    stream.all_gather_in_place(b_ptr, AllGatherAlgorithm::Auto)?;
    stream.launch_kernel(kernels::vector_add(&c, ptr, b_ptr))?;
    stream.capture_end()
}
