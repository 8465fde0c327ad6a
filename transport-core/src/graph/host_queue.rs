//! A queue with a thread of its own.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::error::{GraphError, Result};
use super::handover::Shared;
use super::queue::{Failure, Queue, Work};
use crate::sync::thread::{self, JoinHandle};
use crate::transport::Transport;
use crate::wait::prepare_thread;

/// Runs work in order on a thread, `shmem-stream`, of this process.
///
/// Submitting allocates nothing while fewer than 1024 works (a graph is one) are pending, nor beyond that when as many
/// have been pending before. Dropping it waits for its work, as [`Stream`](super::Stream) says.
pub struct HostQueue<X: Transport> {
    transport: Arc<X>,
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

impl<X: Transport> HostQueue<X> {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// [`GraphError::NoThread`].
    pub fn start(transport: Arc<X>) -> Result<Self> {
        let my_pe = transport.my_pe();
        prepare_thread();
        let shared = Arc::new(Shared::new(my_pe));
        let (theirs, pe) = (Arc::clone(&shared), Arc::clone(&transport));
        let worker = thread::Builder::new()
            .name("shmem-stream".into())
            .spawn(move || theirs.serve(&*pe))
            .map_err(|source| GraphError::NoThread { my_pe, source: Arc::new(source) })?;
        Ok(Self { transport, shared, worker: Some(worker) })
    }

    fn on_its_thread(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.thread().id() == thread::current().id())
    }

    fn refuse_on_its_thread(&self, op: &'static str) -> Result<()> {
        if self.on_its_thread() {
            let (my_pe, stream) = (self.transport.my_pe(), Arc::clone(self.name()));
            return Err(GraphError::OnStreamThread { op, my_pe, stream });
        }
        Ok(())
    }

    fn wait_for(&self, op: &'static str, target: u64) -> Result<()> {
        self.shared.wait_for(op, target, self.transport.timeout())
    }
}

impl<X: Transport> Queue for HostQueue<X> {
    fn name(&self) -> &Arc<str> {
        self.shared.name()
    }

    fn submit(&self, op: &'static str, work: Work) -> Result<()> {
        self.shared.submit(op, work)
    }

    fn submitted(&self) -> u64 {
        self.shared.submitted()
    }

    fn wait(&self, op: &'static str) -> Result<()> {
        self.refuse_on_its_thread(op)?;
        self.wait_for(op, self.submitted())?;
        self.failure().map_or(Ok(()), |failure| Err(failure.at(op)))
    }

    fn poll_done(&self, op: &'static str, ticket: u64, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.refuse_on_its_thread(op)?;
        self.shared.poll_done(op, ticket, cx)
    }

    fn failure(&self) -> Option<Failure> {
        self.shared.failure()
    }
}

impl<X: Transport> Drop for HostQueue<X> {
    fn drop(&mut self) {
        self.shared.stop();
        // Its own work dropped the last handle: it ends by itself when that work has.
        if self.on_its_thread() {
            return;
        }
        let ended = self.wait_for("drop", self.submitted());
        match (ended, self.worker.take()) {
            (Ok(()), Some(worker)) => {
                let _ = worker.join();
            }
            (Err(error), _) => {
                tracing::warn!(%error, "a stream was dropped while its work hangs; its thread is left")
            }
            (Ok(()), None) => {}
        }
    }
}

impl<X: Transport> fmt::Debug for HostQueue<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostQueue({}, PE {})", self.shared.name(), self.transport.my_pe())
    }
}
