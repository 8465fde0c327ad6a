//! What a capture becomes: nodes in a row, ready to run.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::{GraphError, Result};
use super::node::Node;
use crate::transport::Transport;

/// The nodes of a graph, in order, and whose they are.
pub(super) struct Program {
    pub(super) nodes: Box<[Node]>,
    /// The PE that captured them, and how many its job has: plans of collectives hold for that PE only.
    pub(super) my_pe: usize,
    pub(super) n_pes: usize,
}

impl Program {
    pub(super) fn refuse_other_pe<X: Transport + ?Sized>(
        &self,
        op: &'static str,
        transport: &X,
    ) -> Result<()> {
        let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
        if (my_pe, n_pes) == (self.my_pe, self.n_pes) {
            return Ok(());
        }
        Err(GraphError::OtherPe { op, my_pe, n_pes, captured_pe: self.my_pe, captured_n: self.n_pes })
    }
}

/// Runs `nodes` in order, up to the first that fails. `at` is set to the index of each as it begins.
///
/// This is the one interpreter: the stream's thread, the inline queue and a graph run as a future all use it. It
/// allocates nothing, and is pending only where the transport is.
pub(super) async fn run<X: Transport + ?Sized>(
    nodes: &[Node],
    transport: &X,
    at: &AtomicUsize,
) -> Result<()> {
    for (index, node) in nodes.iter().enumerate() {
        at.store(index, Ordering::Relaxed);
        if let Err(cause) = node.run(transport).await {
            return Err(node.failed(transport.my_pe(), index, nodes.len(), cause));
        }
    }
    Ok(())
}
