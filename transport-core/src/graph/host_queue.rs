//! A queue with a thread of its own.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::error::{GraphError, Result};
use super::node::catch;
use super::queue::{Failure, Queue, Work, next_name};
use crate::transport::Transport;
use crate::wait::{block_on, prepare_thread};

/// Works that can be pending before the queue grows, once.
const CAPACITY: usize = 1024;
/// Looks, some 10 to 40 ns each, before anything else.
const SPIN: u32 = 20;
/// How often the thread then gives its core to others and looks again, before it sleeps.
const YIELDS: u32 = 32;

/// Runs work in order on a thread, `shmem-stream`, of this process.
///
/// Submitting allocates nothing while fewer than 1024 works (a graph is one) are pending, nor beyond that when as many
/// have been pending before. Dropping it waits for its work, as [`Stream`](super::Stream) says.
pub struct HostQueue<X: Transport> {
    transport: Arc<X>,
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

/// What the thread sees too.
struct Shared {
    my_pe: usize,
    name: Arc<str>,
    /// Works ever submitted. Written under the lock; read without it by who spins.
    submitted: AtomicU64,
    /// Works ended or skipped, likewise.
    ended: AtomicU64,
    /// The node that the current work is at.
    at: AtomicUsize,
    state: Mutex<State>,
    /// To the thread: there is work, or the end has come.
    work: Condvar,
    /// To those who wait: as many have ended as they wait for.
    done: Condvar,
}

struct State {
    queue: VecDeque<Work>,
    failure: Option<Failure>,
    /// The thread sleeps and must be notified.
    asleep: bool,
    stop: bool,
    /// The fewest ended works that somebody waits for.
    wake_at: u64,
    /// Futures that wait, each with the count that it waits for.
    wakers: Vec<(u64, Waker)>,
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
        let shared = Arc::new(Shared {
            my_pe,
            name: next_name(),
            submitted: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            at: AtomicUsize::new(0),
            state: Mutex::new(State {
                queue: VecDeque::with_capacity(CAPACITY),
                failure: None,
                asleep: false,
                stop: false,
                wake_at: u64::MAX,
                wakers: Vec::with_capacity(8),
            }),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let (theirs, pe) = (Arc::clone(&shared), Arc::clone(&transport));
        let worker = std::thread::Builder::new()
            .name("shmem-stream".into())
            .spawn(move || theirs.serve(&*pe))
            .map_err(|source| GraphError::NoThread { my_pe, source: Arc::new(source) })?;
        Ok(Self { transport, shared, worker: Some(worker) })
    }

    fn on_its_thread(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.thread().id() == std::thread::current().id())
    }

    fn refuse_on_its_thread(&self, op: &'static str) -> Result<()> {
        if self.on_its_thread() {
            let (my_pe, stream) = (self.shared.my_pe, Arc::clone(&self.shared.name));
            return Err(GraphError::OnStreamThread { op, my_pe, stream });
        }
        Ok(())
    }

    /// Waits until the first `target` works have ended, as long as something moves.
    fn wait_for(&self, op: &'static str, target: u64) -> Result<()> {
        let shared = &*self.shared;
        if look(|| shared.ended.load(Ordering::Acquire) >= target) {
            return Ok(());
        }
        // Each wait of the transport ends by itself at its deadline; only then can it be said that something hangs.
        let limit = self.transport.timeout().saturating_add(Duration::from_secs(1));
        let (mut seen, mut since) = (None, Instant::now());
        let mut state = shared.state();
        loop {
            let ended = shared.ended.load(Ordering::Relaxed);
            if ended >= target {
                return Ok(());
            }
            let now = Some((ended, shared.at.load(Ordering::Relaxed)));
            if seen != now {
                (seen, since) = (now, Instant::now());
            }
            let left = limit.saturating_sub(since.elapsed());
            if left.is_zero() {
                let (my_pe, stream, node) =
                    (shared.my_pe, Arc::clone(&shared.name), shared.at.load(Ordering::Relaxed));
                return Err(GraphError::Stalled { op, my_pe, stream, work: ended + 1, node, after: limit });
            }
            state.wake_at = state.wake_at.min(target);
            (state, _) = shared.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<X: Transport> Queue for HostQueue<X> {
    fn name(&self) -> &Arc<str> {
        &self.shared.name
    }

    fn submit(&self, op: &'static str, work: Work) -> Result<()> {
        let mut state = self.shared.state();
        if let Some(failure) = &state.failure {
            return Err(failure.at(op));
        }
        state.queue.push_back(work);
        self.shared.submitted.fetch_add(1, Ordering::Release);
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.shared.work.notify_one();
        }
        Ok(())
    }

    fn submitted(&self) -> u64 {
        self.shared.submitted.load(Ordering::Acquire)
    }

    fn wait(&self, op: &'static str) -> Result<()> {
        self.refuse_on_its_thread(op)?;
        self.wait_for(op, self.submitted())?;
        self.failure().map_or(Ok(()), |failure| Err(failure.at(op)))
    }

    fn poll_done(&self, op: &'static str, ticket: u64, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.refuse_on_its_thread(op)?;
        let mut state = self.shared.state();
        if self.shared.ended.load(Ordering::Relaxed) >= ticket {
            return Poll::Ready(state.failure.as_ref().map_or(Ok(()), |failure| Err(failure.at(op))));
        }
        if !state.wakers.iter().any(|(at, waker)| *at == ticket && waker.will_wake(cx.waker())) {
            state.wakers.push((ticket, cx.waker().clone()));
        }
        state.wake_at = state.wake_at.min(ticket);
        Poll::Pending
    }

    fn failure(&self) -> Option<Failure> {
        self.shared.state().failure.clone()
    }
}

impl<X: Transport> Drop for HostQueue<X> {
    fn drop(&mut self) {
        self.shared.state().stop = true;
        self.shared.work.notify_one();
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
        write!(f, "HostQueue({}, PE {})", self.shared.name, self.shared.my_pe)
    }
}

/// Looks until `ready` or it is time to sleep; answers whether it is ready.
fn look(ready: impl Fn() -> bool) -> bool {
    for round in 0..SPIN + YIELDS {
        if ready() {
            return true;
        }
        if round < SPIN {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
    ready()
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code of others runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread's life.
    fn serve<X: Transport>(&self, transport: &X) {
        let mut woken = Vec::with_capacity(8);
        prepare_thread();
        while let Some((work, skip)) = self.next() {
            self.at.store(0, Ordering::Relaxed);
            let result = catch(|| {
                let result = if skip { Ok(()) } else { block_on(work.run(transport, &self.at)) };
                // Before it counts as ended: who has synchronized finds nothing of it left.
                drop(work);
                result
            });
            self.end(result, &mut woken);
        }
    }

    /// The next work, and whether it is to be skipped; `None` at the end.
    fn next(&self) -> Option<(Work, bool)> {
        let ended = self.ended.load(Ordering::Relaxed);
        look(|| self.submitted.load(Ordering::Acquire) != ended);
        let mut state = self.state();
        loop {
            if let Some(work) = state.queue.pop_front() {
                state.asleep = false;
                return Some((work, state.failure.is_some()));
            }
            if state.stop {
                return None;
            }
            state.asleep = true;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a work as ended and tells those who wait for it.
    fn end(&self, result: Result<()>, woken: &mut Vec<Waker>) {
        let mut state = self.state();
        let ended = self.ended.fetch_add(1, Ordering::Release) + 1;
        if let (Err(cause), None) = (result, &state.failure) {
            let (my_pe, stream, cause) = (self.my_pe, Arc::clone(&self.name), Arc::new(cause));
            state.failure = Some(Failure { my_pe, stream, work: ended, cause });
        }
        if ended < state.wake_at {
            return;
        }
        let mut index = 0;
        while let Some((at, _)) = state.wakers.get(index) {
            if *at <= ended {
                woken.push(state.wakers.swap_remove(index).1);
            } else {
                index += 1;
            }
        }
        state.wake_at = state.wakers.iter().map(|(at, _)| *at).min().unwrap_or(u64::MAX);
        drop(state);
        // A thread that waits for more says so again.
        self.done.notify_all();
        for waker in woken.drain(..) {
            // A foreign waker that panics is no reason to stop.
            let _ = catch(|| {
                waker.wake();
                Ok(())
            });
        }
    }
}
