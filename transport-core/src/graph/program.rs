//! What a capture becomes: nodes in a row, ready to run.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::{GraphError, Result};
use super::node::{Node, Task};
use crate::collectives::AllGather;
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
    let mut index = 0;
    while let Some(node) = nodes.get(index) {
        at.store(index, Ordering::Relaxed);
        let failed = |of: usize, cause| match nodes.get(of) {
            Some(node) => node.failed(transport.my_pe(), of, nodes.len(), cause),
            None => cause,
        };
        if let Some((first, second)) = pair(node, nodes.get(index + 1)) {
            // Both are on their way before the first is waited for.
            let a = first.start(transport).map_err(|error| failed(index, error.into()))?;
            let b = second.start(transport).map_err(|error| failed(index + 1, error.into()))?;
            first.finish(transport, a).await.map_err(|error| failed(index, error.into()))?;
            at.store(index + 1, Ordering::Relaxed);
            second.finish(transport, b).await.map_err(|error| failed(index + 1, error.into()))?;
            index += 2;
            continue;
        }
        node.run(transport).await.map_err(|cause| failed(index, cause))?;
        index += 1;
    }
    Ok(())
}

/// Two AllGathers in a row of which the second need not wait for the first. Peers need not see it so: what is sent is the same.
#[inline]
fn pair<'a>(node: &'a Node, next: Option<&'a Node>) -> Option<(&'a AllGather, &'a AllGather)> {
    match (&node.0, &next?.0) {
        (Task::AllGather(first), Task::AllGather(second)) if second.may_start_during(first) => {
            Some((first, second))
        }
        _ => None,
    }
}
