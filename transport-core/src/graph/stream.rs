//! `Stream`: work in order, apart from the caller.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::capture::{Capture, CaptureMode};
use super::captured::Graph;
use super::error::{GraphError, Result};
use super::host_queue::HostQueue;
use super::node::Node;
use super::queue::Queue;
use crate::transport::{Transport, capturing};

/// An ordered queue of work of one PE, which runs apart from the caller.
///
/// Calls that enqueue check their arguments, return at once, and allocate nothing of their own. All may be called from
/// several threads. Work of one stream runs in order, each after the end of the one before; collectives must be
/// enqueued in the same order on every PE.
///
/// A failure puts the stream in error: what is enqueued after it is skipped, and every later call answers
/// [`StreamFailed`](GraphError::StreamFailed) with that first failure.
///
/// Dropping it waits for its work, whose waits end at the transport's deadline. If a kernel or a host function hangs
/// beyond that, the thread is left to itself.
///
/// ```
/// use std::sync::Arc;
/// use transport_core::graph::{GraphError, HostBuffer, Stream};
/// use transport_core::{Transport, wait::block_on};
///
/// /// Everybody's number at everybody, by puts that a stream makes.
/// fn job<X: Transport>(pe: Arc<X>) -> Result<Vec<u64>, GraphError> {
///     let all = block_on(pe.calloc::<u64>(pe.n_pes()))?;
///     let mine = all.part(pe.my_pe(), pe.n_pes())?;
///     let number = HostBuffer::from_slice(&[100 + pe.my_pe() as u64])?;
///     let result = HostBuffer::zeroed(pe.n_pes())?;
///
///     let stream = Stream::create(Arc::clone(&pe))?;
///     stream.memcpy_async(mine, &number)?;
///     for peer in (0..pe.n_pes()).filter(|&peer| peer != pe.my_pe()) {
///         stream.put_nbi(mine, mine, peer)?;
///     }
///     stream.barrier_all()?;
///     stream.memcpy_async(&result, all)?;
///     stream.launch_host_func(|| println!("all numbers are here"))?;
///     stream.synchronize()?;
///     block_on(pe.finalize())?;
///     Ok(result.read_vec())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pes = transport_loopback::Threads::new(2).heap_size(1 << 20).start()?;
/// let threads: Vec<_> = pes.into_iter().map(|pe| std::thread::spawn(move || job(Arc::new(pe)))).collect();
/// for thread in threads {
///     assert_eq!(thread.join().unwrap()?, [100, 101]);
/// }
/// # Ok(()) }
/// ```
pub struct Stream<X: Transport> {
    // First, so that it is undone before the queue's work is waited for.
    capture: Capture,
    queue: Box<dyn Queue>,
    transport: Arc<X>,
}

impl<X: Transport> Stream<X> {
    /// A stream of this PE with a thread of its own.
    ///
    /// # Errors
    ///
    /// [`GraphError::NoThread`].
    pub fn create(transport: Arc<X>) -> Result<Self> {
        let queue = HostQueue::start(Arc::clone(&transport))?;
        Ok(Self::with_queue(transport, queue))
    }

    /// A stream of this PE whose work `queue` runs, which must be a queue for the same `transport`.
    #[must_use]
    pub fn with_queue(transport: Arc<X>, queue: impl Queue + 'static) -> Self {
        Self { capture: Capture::default(), queue: Box::new(queue), transport }
    }

    /// The transport that its work uses.
    #[must_use]
    pub fn transport(&self) -> &Arc<X> {
        &self.transport
    }

    /// What it is called in errors, e.g. `stream 3`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.queue.name()
    }

    /// Waits on this thread until all that is enqueued now has ended.
    ///
    /// # Errors
    ///
    /// [`StreamFailed`](GraphError::StreamFailed) with the first failure; [`InCapture`](GraphError::InCapture) while
    /// this stream captures, [`BlockingInCapture`](crate::Error::BlockingInCapture) while this thread captures on
    /// another in [`ThreadLocal`](CaptureMode::ThreadLocal) mode; [`OnStreamThread`](GraphError::OnStreamThread) from
    /// its own host function; [`Stalled`](GraphError::Stalled) if no node has ended within the transport's deadline.
    pub fn synchronize(&self) -> Result<()> {
        const OP: &str = "Stream::synchronize";
        self.refuse_waiting(OP)?;
        self.queue.wait(OP)
    }

    /// As [`synchronize`](Self::synchronize), for any executor: completes when all that is enqueued at the call has
    /// ended. It has no deadline of its own for a kernel or host function that hangs.
    ///
    /// # Errors
    ///
    /// As `synchronize`, without the last.
    pub fn synchronize_async(&self) -> impl Future<Output = Result<()>> + Send + '_ {
        const OP: &str = "Stream::synchronize_async";
        let ticket = self.queue.submitted();
        async move {
            self.refuse_waiting(OP)?;
            std::future::poll_fn(|cx| self.queue.poll_done(OP, ticket, cx)).await
        }
    }

    fn refuse_waiting(&self, op: &'static str) -> Result<()> {
        let my_pe = self.transport.my_pe();
        if self.capture.records() {
            return Err(GraphError::InCapture { op, my_pe, stream: Arc::clone(self.queue.name()) });
        }
        Ok(capturing::refuse_blocking(op, my_pe)?)
    }

    /// From now on, calls that enqueue on this stream, from any thread, record instead.
    ///
    /// # Errors
    ///
    /// [`NestedCapture`](GraphError::NestedCapture), [`StreamFailed`](GraphError::StreamFailed).
    pub fn capture_begin(&self, mode: CaptureMode) -> Result<()> {
        self.refuse_failed("Stream::capture_begin")?;
        self.capture.begin(mode, self.transport.my_pe(), self.queue.name())
    }

    /// Ends the capture and answers what was recorded. Nothing has run.
    ///
    /// # Errors
    ///
    /// [`NotCapturing`](GraphError::NotCapturing); [`OtherThread`](GraphError::OtherThread), and the capture goes on;
    /// [`StreamFailed`](GraphError::StreamFailed), and the capture has ended.
    pub fn capture_end(&self) -> Result<Graph> {
        let nodes = self.capture.end(self.transport.my_pe(), self.queue.name())?;
        self.refuse_failed("Stream::capture_end")?;
        Ok(Graph::new(nodes, self.transport.my_pe(), self.transport.n_pes()))
    }

    /// Whether it is in a capture.
    #[must_use]
    pub fn is_capturing(&self) -> bool {
        self.capture.records()
    }

    /// Captures what `record` enqueues on this stream; the capture ends when `record` fails, too.
    ///
    /// # Errors
    ///
    /// As `record`, [`capture_begin`](Self::capture_begin) and [`capture_end`](Self::capture_end).
    pub fn capture<E: From<GraphError>>(
        &self,
        mode: CaptureMode,
        record: impl FnOnce(&Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<Graph, E> {
        /// Ends it when `record` panics or fails.
        struct Begun<'a, X: Transport>(&'a Stream<X>);
        impl<X: Transport> Drop for Begun<'_, X> {
            fn drop(&mut self) {
                let _ = self.0.capture_end();
            }
        }
        self.capture_begin(mode)?;
        let begun = Begun(self);
        record(self)?;
        std::mem::forget(begun);
        Ok(self.capture_end()?)
    }

    pub(super) fn capture_state(&self) -> &Capture {
        &self.capture
    }

    pub(super) fn queue(&self) -> &dyn Queue {
        &*self.queue
    }

    /// Records `nodes` if a capture is still on.
    pub(super) fn record(&self, op: &'static str, nodes: &mut dyn Iterator<Item = Node>) -> Result<bool> {
        self.refuse_failed(op)?;
        Ok(self.capture.record(nodes))
    }

    fn refuse_failed(&self, op: &'static str) -> Result<()> {
        self.queue.failure().map_or(Ok(()), |failure| Err(failure.at(op)))
    }
}

impl<X: Transport> fmt::Debug for Stream<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("name", &self.name())
            .field("my_pe", &self.transport.my_pe())
            .field("capturing", &self.is_capturing())
            .finish()
    }
}
