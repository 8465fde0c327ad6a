//! What a queue's thread and those who submit and wait hand each other.

use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::error::{GraphError, Result};
use super::node::catch;
use super::queue::{Failure, Work, next_name};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, hint, thread};
use crate::transport::Transport;
use crate::wait::{block_on, prepare_thread};

/// Works that can be pending before the queue grows, once.
const CAPACITY: usize = 1024;
/// Looks, some 10 to 40 ns each, before anything else.
const SPIN: u32 = if cfg!(shmem_loom) { 0 } else { 20 };
/// How often the thread then gives its core to others and looks again, before it sleeps.
const YIELDS: u32 = if cfg!(shmem_loom) { 0 } else { 32 };

/// What the thread and the others both see.
pub(super) struct Shared {
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

/// Looks until `ready` or it is time to sleep; answers whether it is ready.
fn look(ready: impl Fn() -> bool) -> bool {
    for round in 0..SPIN + YIELDS {
        if ready() {
            return true;
        }
        if round < SPIN {
            hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
    ready()
}

impl Shared {
    pub(super) fn new(my_pe: usize) -> Self {
        Self {
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
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.state().failure.clone()
    }

    /// Lets the thread end once no work is left.
    pub(super) fn stop(&self) {
        self.state().stop = true;
        self.work.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code of others runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn submit(&self, op: &'static str, work: Work) -> Result<()> {
        let mut state = self.state();
        if let Some(failure) = &state.failure {
            return Err(failure.at(op));
        }
        state.queue.push_back(work);
        self.submitted.fetch_add(1, Ordering::Release);
        let asleep = std::mem::take(&mut state.asleep);
        drop(state);
        if asleep {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Waits until the first `target` works have ended, as long as something moves.
    pub(super) fn wait_for(&self, op: &'static str, target: u64, timeout: Duration) -> Result<()> {
        if look(|| self.ended.load(Ordering::Acquire) >= target) {
            return Ok(());
        }
        // Each wait of the transport ends by itself at its deadline; only then can it be said that something hangs.
        let limit = timeout.saturating_add(Duration::from_secs(1));
        let (mut seen, mut since) = (None, Instant::now());
        let mut state = self.state();
        loop {
            let ended = self.ended.load(Ordering::Relaxed);
            if ended >= target {
                return Ok(());
            }
            let now = Some((ended, self.at.load(Ordering::Relaxed)));
            if seen != now {
                (seen, since) = (now, Instant::now());
            }
            let left = limit.saturating_sub(since.elapsed());
            if left.is_zero() {
                let (my_pe, stream, node) =
                    (self.my_pe, Arc::clone(&self.name), self.at.load(Ordering::Relaxed));
                return Err(GraphError::Stalled { op, my_pe, stream, work: ended + 1, node, after: limit });
            }
            state.wake_at = state.wake_at.min(target);
            (state, _) = self.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn poll_done(&self, op: &'static str, ticket: u64, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let mut state = self.state();
        if self.ended.load(Ordering::Relaxed) >= ticket {
            return Poll::Ready(state.failure.as_ref().map_or(Ok(()), |failure| Err(failure.at(op))));
        }
        if !state.wakers.iter().any(|(at, waker)| *at == ticket && waker.will_wake(cx.waker())) {
            state.wakers.push((ticket, cx.waker().clone()));
        }
        state.wake_at = state.wake_at.min(ticket);
        Poll::Pending
    }

    /// The thread's life.
    pub(super) fn serve<X: Transport>(&self, transport: &X) {
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

#[cfg(all(test, shmem_loom))]
#[path = "handover_loom.rs"]
mod loom_models;
