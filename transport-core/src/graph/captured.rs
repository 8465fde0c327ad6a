//! `Graph`: what a stream captured, to be run again and again.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::dot;
use super::error::Result;
use super::node::Node;
use super::program::{self, Program};
use super::queue::Work;
use super::stream::Stream;
use crate::transport::{Transport, capturing};

/// Work that a [`Stream`] captured. A clone is the same graph.
///
/// It holds the memory that it uses alive (a symmetric allocation that is freed all the same makes the next launch
/// fail). A launch allocates nothing and copies nothing of it: nodes hold their operands, and what must advance from
/// one launch to the next (buffers, the barrier's counters) lives in memory.
///
/// The reference job, on two PEs: own parts grow by `10 + pe` with every launch.
///
/// ```
/// use std::sync::Arc;
/// use transport_core::collectives::AllGatherAlgorithm::Auto;
/// use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, Stream, kernels};
/// use transport_core::{Transport, wait::block_on};
///
/// fn job<X: Transport>(pe: Arc<X>) -> Result<Vec<Vec<i32>>, GraphError> {
///     let (mine, n) = (pe.my_pe(), pe.n_pes());
///     let a = block_on(pe.calloc::<i32>(n))?;
///     let b = block_on(pe.calloc::<i32>(n))?;
///     pe.heap().fill(a.part(mine, n)?, 10 + mine as i32)?;
///     pe.heap().fill(b.part(mine, n)?, 10 + mine as i32)?;
///     let (add, sum, temp) = (DeviceBuffer::zeroed(n)?, DeviceBuffer::zeroed(n)?, DeviceBuffer::zeroed(n)?);
///     add.slice(mine..=mine)?.write(&[10 + mine as i32])?;
///
///     let stream = Stream::create(Arc::clone(&pe))?;
///     stream.capture_begin(CaptureMode::Relaxed)?;
///     stream.launch_kernel(kernels::vector_add(&temp, a, &add))?;
///     stream.memcpy_async(a, &temp)?;
///     stream.all_gather_in_place(a, Auto)?;
///     stream.all_gather_in_place(b, Auto)?;
///     stream.launch_kernel(kernels::vector_add(&sum, a, b))?;
///     let graph = stream.capture_end()?;
///
///     let mut rounds = Vec::new();
///     for _ in 0..3 {
///         graph.launch(&stream)?;
///         stream.synchronize()?;
///         rounds.push(sum.read_vec());
///     }
///     block_on(pe.finalize())?;
///     Ok(rounds)
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pes = transport_loopback::Threads::new(2).heap_size(1 << 20).start()?;
/// let threads: Vec<_> = pes.into_iter().map(|pe| std::thread::spawn(move || job(Arc::new(pe)))).collect();
/// for thread in threads {
///     assert_eq!(thread.join().unwrap()?, [[30, 33], [40, 44], [50, 55]]);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Graph(Arc<Program>);

impl Graph {
    pub(super) fn new(nodes: Vec<Node>, my_pe: usize, n_pes: usize) -> Self {
        Self(Arc::new(Program { nodes: nodes.into_boxed_slice(), my_pe, n_pes }))
    }

    /// Enqueues all of it on `stream`, and returns. In a capture of that stream its nodes are recorded in their place.
    ///
    /// It may be launched on several streams of the same PE; streams have no order among them.
    ///
    /// # Errors
    ///
    /// [`StreamFailed`](super::GraphError::StreamFailed); [`OtherPe`](super::GraphError::OtherPe) if another PE
    /// captured it. What fails while it runs is said by [`Stream::synchronize`].
    pub fn launch<X: Transport>(&self, stream: &Stream<X>) -> Result<()> {
        const OP: &str = "Graph::launch";
        self.0.refuse_other_pe(OP, &**stream.transport())?;
        if stream.capture_state().records() {
            let recorded = stream.record(OP, &mut self.0.nodes.iter().cloned())?;
            if recorded {
                return Ok(());
            }
        }
        stream.queue().submit(OP, Work::graph(Arc::clone(&self.0)))
    }

    /// The same program as a future on the caller, without a stream and its thread: for executors that decide
    /// themselves what runs when, such as a simulated network. Pending only where the transport is; kernels run inside
    /// of `poll`.
    ///
    /// Dropping it half way leaves its nodes half done.
    ///
    /// # Errors
    ///
    /// [`NodeFailed`](super::GraphError::NodeFailed) names the first node that failed, and why; those after it did not
    /// run. [`OtherPe`](super::GraphError::OtherPe) if another PE captured it.
    pub async fn run<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        const OP: &str = "Graph::run";
        self.0.refuse_other_pe(OP, transport)?;
        capturing::refuse_blocking(OP, transport.my_pe())?;
        program::run(&self.0.nodes, transport, &AtomicUsize::new(0)).await
    }

    /// Nodes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.nodes.len()
    }

    /// Whether it does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.nodes.is_empty()
    }

    /// Its nodes, in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// A drawing in the DOT language (`dot -Tsvg`): each node with its kind, name, and the bytes that it reads and
    /// writes; an arrow from each to the next.
    ///
    /// Buffers are numbered as they appear; ranges are in bytes from their start, for symmetric memory from the heap's.
    #[must_use]
    pub fn to_dot(&self) -> String {
        dot::draw(self.nodes(), false)
    }

    /// As [`to_dot`](Self::to_dot), with a dashed arrow from each writer to those that read what it wrote.
    #[must_use]
    pub fn to_dot_with_data(&self) -> String {
        dot::draw(self.nodes(), true)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.nodes()).finish()
    }
}
