//! What can go wrong with streams and graphs.

use std::sync::Arc;
use std::time::Duration;

use super::node::NodeKind;
use crate::error::Error;

/// The error of every call on streams, graphs, kernels and buffers.
///
/// An [`Error`] of the transport becomes one by `?`, and the other way round: a function that answers
/// [`crate::Result`] can call both.
///
/// ```
/// use transport_core::graph::{DeviceBuffer, GraphError};
///
/// fn of_the_core() -> transport_core::Result<i32> {
///     Ok(DeviceBuffer::from_slice(&[1, 2])?.read_vec()[1])
/// }
/// fn of_the_graph() -> Result<i32, GraphError> {
///     Ok(of_the_core()? + 1)
/// }
/// assert_eq!(of_the_graph()?, 3);
/// # Ok::<(), GraphError>(())
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// What the transport or the heap reports.
    #[error(transparent)]
    Transport(#[from] Error),

    /// A node of a graph, or a single piece of work, failed.
    #[error("PE {my_pe}: node {node} of {of} ({kind} {name}) failed: {cause}")]
    NodeFailed {
        /// The PE that ran it.
        my_pe: usize,
        /// Its index, from 0.
        node: usize,
        /// How many nodes the graph has; 1 for work that was enqueued alone.
        of: usize,
        /// What it is.
        kind: NodeKind,
        /// What it is called.
        name: Arc<str>,
        /// Why.
        cause: Arc<GraphError>,
    },

    /// The stream is in error, from an earlier failure on.
    #[error(
        "{op} on PE {my_pe}: {stream} is in error since its work {work}: {cause}. What was enqueued after that \
         was skipped; mend the cause, drop the stream and create a new one"
    )]
    StreamFailed {
        /// The call that found it so.
        op: &'static str,
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
        /// Which launch or other work of the stream, counted from 1.
        work: u64,
        /// The first failure: which node, and why.
        cause: Arc<GraphError>,
    },

    /// A kernel or a host function panicked.
    #[error("it panicked: {message}")]
    Panicked {
        /// What it said.
        message: Arc<str>,
    },

    /// A call that would wait for the stream while the stream records.
    #[error(
        "{op} on PE {my_pe}: {stream} is in a capture, in which nothing runs that could be waited for; \
         call capture_end, launch the graph, and then {op}"
    )]
    InCapture {
        /// The call.
        op: &'static str,
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
    },

    /// A capture was begun in a capture.
    #[error(
        "capture_begin on PE {my_pe}: {stream} is in a capture already; call capture_end first. To put one graph \
         into another, launch it in the capture"
    )]
    NestedCapture {
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
    },

    /// A capture was ended that was not begun.
    #[error(
        "capture_end on PE {my_pe}: {stream} is in no capture; call capture_begin before the work to record"
    )]
    NotCapturing {
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
    },

    /// A thread-local capture was ended by another thread.
    #[error(
        "capture_end on PE {my_pe}: the capture of {stream} is local to the thread {began:?}, which began it; \
         end it there (it goes on), or begin it in relaxed mode"
    )]
    OtherThread {
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
        /// The thread that began it: its name, or else its number.
        began: Arc<str>,
    },

    /// The stream's own work waits for the stream.
    #[error(
        "{op} on PE {my_pe}: called by the work of {stream} itself, which would wait for its own end; \
         call it from another thread"
    )]
    OnStreamThread {
        /// The call.
        op: &'static str,
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
    },

    /// A graph was launched on a PE other than the one that captured it.
    #[error(
        "{op}: this graph was captured on PE {captured_pe} of {captured_n} and cannot run on PE {my_pe} of {n_pes}; \
         capture it on every PE"
    )]
    OtherPe {
        /// The call.
        op: &'static str,
        /// The PE that was to run it.
        my_pe: usize,
        /// How many PEs its job has.
        n_pes: usize,
        /// The PE that captured it.
        captured_pe: usize,
        /// How many PEs that job has.
        captured_n: usize,
    },

    /// No work of the stream came to its end within the deadline.
    #[error(
        "{op} on PE {my_pe}: work {work} of {stream} has stood at node {node} for {after:?}. Does a kernel or a host \
         function hang? It goes on, and can be waited for again; SHMEM_TIMEOUT (--timeout, seconds) sets the limit"
    )]
    Stalled {
        /// The call.
        op: &'static str,
        /// The PE of the stream.
        my_pe: usize,
        /// The stream.
        stream: Arc<str>,
        /// Which work of the stream, counted from 1.
        work: u64,
        /// The node that it is at.
        node: usize,
        /// How long nothing has moved.
        after: Duration,
    },

    /// The stream's thread could not be started.
    #[error(
        "Stream::create on PE {my_pe}: no thread for it ({source}); is the limit of threads (ulimit -u) reached?"
    )]
    NoThread {
        /// The PE of the stream.
        my_pe: usize,
        /// What the system says.
        source: Arc<std::io::Error>,
    },

    /// There is no memory for a buffer.
    #[error("{op}: no memory for {len} elements of {size} bytes; use fewer, or free others first")]
    NoMemory {
        /// The call.
        op: &'static str,
        /// Elements.
        len: u64,
        /// Bytes of one.
        size: u64,
    },

    /// Data and buffer differ in length.
    #[error(
        "{op}: the buffer holds {buffer} elements, the data {data}; they must be equal (take a slice of either)"
    )]
    BufferLength {
        /// The call.
        op: &'static str,
        /// Elements of the buffer.
        buffer: u64,
        /// Elements of the data.
        data: u64,
    },
}

impl From<GraphError> for Error {
    /// The transport's own error if it is that, else [`Error::Backend`] of `graph`.
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Transport(error) => error,
            other => Self::backend("graph", other),
        }
    }
}

/// `Result` with [`GraphError`].
pub type Result<T> = std::result::Result<T, GraphError>;
