//! The seam below a stream: who runs its work, and where.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use super::error::{GraphError, Result};
use super::node::Node;
use super::program::{self, Program};
use crate::transport::Transport;

/// Runs the work of one stream, in order.
///
/// This is where the Ascend runtime could take the host's place. [`HostQueue`](super::HostQueue) is a thread of this
/// process; a queue over `aclrtStream` would enqueue the [`nodes`](Work::nodes) of each work there, and keep an
/// `aclmdlRI` for a graph that comes again ([`Work::graph_id`] tells which), so that a launch becomes one
/// `aclmdlRIExecuteAsync`. All above it, capture, checks, errors and drawing, stays as it is.
/// [`InlineQueue`](super::InlineQueue) runs work at once on the calling thread.
///
/// `op` is the user's call, for errors.
pub trait Queue: Send + Sync {
    /// What the stream is called in errors, e.g. `stream 3`.
    fn name(&self) -> &Arc<str>;

    /// Appends `work`, and returns.
    ///
    /// # Errors
    ///
    /// [`GraphError::StreamFailed`] after a failure; then it is not appended.
    fn submit(&self, op: &'static str, work: Work) -> Result<()>;

    /// How many works have been submitted so far: a ticket for [`poll_done`](Self::poll_done).
    fn submitted(&self) -> u64;

    /// Waits on the calling thread until all that is submitted now has ended or was skipped.
    ///
    /// # Errors
    ///
    /// [`GraphError::StreamFailed`], [`GraphError::OnStreamThread`], [`GraphError::Stalled`].
    fn wait(&self, op: &'static str) -> Result<()>;

    /// Ready when the first `ticket` works have ended or were skipped; else wakes the waker when they have.
    fn poll_done(&self, op: &'static str, ticket: u64, cx: &mut Context<'_>) -> Poll<Result<()>>;

    /// The first failure, if there was one. Called at each record of a capture.
    fn failure(&self) -> Option<Failure>;
}

/// Something for a queue to run: a node alone, or all of a graph.
pub struct Work(Inner);

// Inline, so that work outside of a graph costs no allocation for its node either.
#[allow(clippy::large_enum_variant)]
enum Inner {
    Node(Node),
    Graph(Arc<Program>),
}

impl Work {
    pub(super) fn node(node: Node) -> Self {
        Self(Inner::Node(node))
    }

    pub(super) fn graph(program: Arc<Program>) -> Self {
        Self(Inner::Graph(program))
    }

    /// What is to be done, in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        match &self.0 {
            Inner::Node(node) => std::slice::from_ref(node),
            Inner::Graph(program) => &program.nodes,
        }
    }

    /// A number for a graph that no other graph has while this one lives; `None` for a node alone.
    #[must_use]
    pub fn graph_id(&self) -> Option<usize> {
        match &self.0 {
            Inner::Node(_) => None,
            Inner::Graph(program) => Some(Arc::as_ptr(program).addr()),
        }
    }

    /// Does it, once. `at` is set to the index of each node as it begins. It allocates nothing.
    ///
    /// # Errors
    ///
    /// [`GraphError::NodeFailed`].
    pub async fn run<X: Transport + ?Sized>(&self, transport: &X, at: &AtomicUsize) -> Result<()> {
        program::run(self.nodes(), transport, at).await
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.nodes()).finish()
    }
}

/// The first failure of a stream, which each later call reports.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The PE of the stream.
    pub my_pe: usize,
    /// The stream.
    pub stream: Arc<str>,
    /// Which work of the stream, counted from 1.
    pub work: u64,
    /// Which node, and why.
    pub cause: Arc<GraphError>,
}

impl Failure {
    /// As the error of `op`.
    #[must_use]
    pub fn at(&self, op: &'static str) -> GraphError {
        let Self { my_pe, stream, work, cause } = self;
        GraphError::StreamFailed {
            op,
            my_pe: *my_pe,
            stream: Arc::clone(stream),
            work: *work,
            cause: Arc::clone(cause),
        }
    }
}

/// A name for the next stream of this process.
pub(super) fn next_name() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("stream {}", NEXT.fetch_add(1, Ordering::Relaxed)).into()
}
