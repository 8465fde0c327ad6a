//! A queue without a thread: work runs where it is submitted.

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::ThreadId;
use std::time::Duration;

use super::error::{GraphError, Result};
use super::node::catch;
use super::queue::{Failure, Queue, Work, next_name};
use crate::transport::{Transport, capturing};
use crate::wait::block_on;

/// Runs each work to its end inside of the call that submits it, on the calling thread.
///
/// For debugging (the call stack of a kernel is that of who enqueued it) and as the second implementation of the seam.
/// As on any stream, a failure is said by the next call, not by the one whose work failed. Work that waits for peers
/// needs each PE on a thread of its own.
///
/// ```
/// use std::sync::Arc;
/// use transport_core::graph::{DeviceBuffer, InlineQueue, Stream, kernels};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pe = Arc::new(transport_loopback::Threads::new(1).heap_size(1 << 20).start()?.remove(0));
/// let stream = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(pe));
/// let a = DeviceBuffer::from_slice(&[1.5_f32, 2.0])?;
/// stream.launch_kernel(kernels::vector_add(&a, &a, &a))?;
/// assert_eq!(a.read_vec(), [3.0, 4.0]); // Without waiting.
/// # Ok(()) }
/// ```
pub struct InlineQueue<X: Transport> {
    transport: Arc<X>,
    name: Arc<str>,
    state: Mutex<State>,
    /// Nobody runs any more.
    free: Condvar,
}

#[derive(Default)]
struct State {
    /// The thread that runs work now.
    busy: Option<ThreadId>,
    ended: u64,
    failure: Option<Failure>,
}

impl<X: Transport> InlineQueue<X> {
    /// A queue of work for this PE.
    #[must_use]
    pub fn new(transport: Arc<X>) -> Self {
        Self { transport, name: next_name(), state: Mutex::default(), free: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code of others runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state when no other thread runs work.
    fn idle(&self, op: &'static str) -> Result<MutexGuard<'_, State>> {
        let me = std::thread::current().id();
        let limit = self.transport.timeout().saturating_add(Duration::from_secs(1));
        let (my_pe, stream) = (self.transport.my_pe(), &self.name);
        let mut state = self.state();
        while let Some(busy) = state.busy {
            if busy == me {
                return Err(GraphError::OnStreamThread { op, my_pe, stream: Arc::clone(stream) });
            }
            let before = state.ended;
            let (after, waited) =
                self.free.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner);
            state = after;
            if waited.timed_out() && state.ended == before && state.busy.is_some() {
                let (stream, work) = (Arc::clone(stream), before + 1);
                return Err(GraphError::Stalled { op, my_pe, stream, work, node: 0, after: limit });
            }
        }
        match &state.failure {
            Some(failure) => Err(failure.at(op)),
            None => Ok(state),
        }
    }
}

impl<X: Transport> Queue for InlineQueue<X> {
    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn submit(&self, op: &'static str, work: Work) -> Result<()> {
        let my_pe = self.transport.my_pe();
        // It may block here, which a thread that captures elsewhere must not.
        capturing::refuse_blocking(op, my_pe)?;
        self.idle(op)?.busy = Some(std::thread::current().id());
        let result = catch(|| {
            let result = block_on(work.run(&*self.transport, &AtomicUsize::new(0)));
            drop(work);
            result
        });
        let mut state = self.state();
        state.busy = None;
        state.ended += 1;
        if let Err(cause) = result {
            let (stream, work, cause) = (Arc::clone(&self.name), state.ended, Arc::new(cause));
            state.failure = Some(Failure { my_pe, stream, work, cause });
        }
        drop(state);
        self.free.notify_all();
        Ok(())
    }

    fn submitted(&self) -> u64 {
        self.state().ended
    }

    fn wait(&self, op: &'static str) -> Result<()> {
        self.idle(op).map(drop)
    }

    fn poll_done(&self, op: &'static str, _ticket: u64, _cx: &mut Context<'_>) -> Poll<Result<()>> {
        let state = self.state();
        if state.busy == Some(std::thread::current().id()) {
            let (my_pe, stream) = (self.transport.my_pe(), Arc::clone(&self.name));
            return Poll::Ready(Err(GraphError::OnStreamThread { op, my_pe, stream }));
        }
        // What counts as submitted has ended.
        Poll::Ready(state.failure.as_ref().map_or(Ok(()), |failure| Err(failure.at(op))))
    }

    fn failure(&self) -> Option<Failure> {
        self.state().failure.clone()
    }
}

impl<X: Transport> fmt::Debug for InlineQueue<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InlineQueue({}, PE {})", self.name, self.transport.my_pe())
    }
}
