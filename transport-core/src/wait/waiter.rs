//! `Waiter`: what a backend's futures wait with.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::block_on::{self, Offer};
use super::doorbell::Doorbell;
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Condvar, Mutex, MutexGuard, hint};

/// The first looks of a spin have no pause between them.
const LOOKS_WITHOUT_PAUSE: u32 = 64;

/// How long a wait does what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitPolicy {
    /// Looks (after the first 64 with a pause instruction between, some 10 to 40 ns each) before anything else. 0 where more
    /// PEs than cores share a host: a spin then only keeps the peer from running.
    pub spin: u32,
    /// How often the thread then gives its core to others and looks again.
    pub yields: u32,
    /// The longest sleep at a time; the first are shorter. Peers wake a sleeper, so this only bounds how late a deadline is
    /// noticed, and a word that a plain put changes; some yields may come on top, which take long where the processors are busy.
    pub sleep: Duration,
}

impl WaitPolicy {
    /// For a host with `pes` PEs of the job on `cores` cores.
    #[must_use]
    pub fn for_host(pes: usize, cores: usize) -> Self {
        let spin = if pes <= cores { 200 } else { 4 };
        Self { spin, yields: 32, sleep: Duration::from_millis(20) }
    }
}

/// What came of a look.
pub(crate) enum Look<R> {
    Answer(R),
    /// No answer yet; looked at again at once.
    AgainSoon,
    /// No answer yet; looked at again when there is news, or when some time has passed.
    Pending,
}

/// Waits for conditions that peers bring about and ring a [`Doorbell`] for. One for each PE.
pub struct Waiter {
    shared: Arc<Shared>,
    policy: WaitPolicy,
    helper: Mutex<Option<JoinHandle<()>>>,
}

/// What the helper thread sees too.
struct Shared {
    bell: Arc<dyn Doorbell>,
    sleep: Duration,
    state: Mutex<State>,
    /// A first waker has come, or the end.
    news: Condvar,
}

#[derive(Default)]
struct State {
    wakers: Vec<Waker>,
    /// The helper is armed, and will look at `wakers` again after the next ring.
    armed: bool,
    stop: bool,
}

impl Waiter {
    /// A waiter on `bell`.
    #[must_use]
    pub fn new(bell: Arc<dyn Doorbell>, policy: WaitPolicy) -> Self {
        let shared = Shared { bell, sleep: policy.sleep, state: Mutex::default(), news: Condvar::new() };
        Self { shared: Arc::new(shared), policy, helper: Mutex::new(None) }
    }

    /// How it waits.
    #[must_use]
    pub fn policy(&self) -> WaitPolicy {
        self.policy
    }

    /// Where news arrives.
    #[must_use]
    pub fn bell(&self) -> &Arc<dyn Doorbell> {
        &self.shared.bell
    }

    /// Looks with `ready` until it has an answer; pending after a brief spin. To be called from `poll`.
    ///
    /// `ready` is also called when the wait's deadline may have passed, at least each [`WaitPolicy::sleep`].
    #[inline]
    pub fn poll_until<R>(&self, cx: &mut Context<'_>, ready: impl FnMut() -> Option<R>) -> Poll<R> {
        match self.look(cx, ready) {
            Look::Answer(answer) => Poll::Ready(answer),
            Look::AgainSoon | Look::Pending => Poll::Pending,
        }
    }

    /// As [`poll_until`](Self::poll_until), and tells whether the next look comes at once, so that no clock need be read.
    #[inline]
    pub(crate) fn look<R>(&self, cx: &mut Context<'_>, mut ready: impl FnMut() -> Option<R>) -> Look<R> {
        if let Some(answer) = ready() {
            block_on::wait_ended();
            return Look::Answer(answer);
        }
        for look in 0..block_on::spin_budget(self.policy.spin) {
            // A pause is dear on some processors (140 cycles), and news most often comes sooner than that.
            if look >= LOOKS_WITHOUT_PAUSE {
                hint::spin_loop();
            }
            if let Some(answer) = ready() {
                return Look::Answer(answer);
            }
        }
        // Where PEs share processors most waits end here. The way back to `block_on` and to here again would be a third of a turn.
        for _ in 0..block_on::yield_budget(cx, self.policy.yields) {
            thread::yield_now();
            if let Some(answer) = ready() {
                block_on::wait_ended();
                return Look::Answer(answer);
            }
        }
        match block_on::offer(cx, &self.shared.bell, self.policy) {
            Offer::Soon => Look::AgainSoon,
            Offer::Taken => Look::Pending,
            Offer::ForeignExecutor => {
                self.register(cx.waker());
                // A ring before the waker was in the list was for nobody.
                ready().map_or(Look::Pending, Look::Answer)
            }
        }
    }

    /// Lets the helper wake `waker` at the next ring; the helper is started when first needed.
    #[cold]
    fn register(&self, waker: &Waker) {
        {
            let mut state = self.shared.state();
            if !state.wakers.iter().any(|known| known.will_wake(waker)) {
                state.wakers.push(waker.clone());
            }
            if !state.armed {
                self.shared.news.notify_one();
            }
        }
        let mut helper = self.helper.lock().unwrap_or_else(PoisonError::into_inner);
        if helper.is_none() {
            let shared = Arc::clone(&self.shared);
            let started = thread::Builder::new().name("shmem-waker".into()).spawn(move || shared.serve());
            match started {
                Ok(thread) => *helper = Some(thread),
                // Without the thread the future can still be polled: let its executor do that again and again.
                Err(error) => {
                    tracing::warn!(%error, "no thread to wake futures with; they poll");
                    waker.wake_by_ref();
                }
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code that runs under the lock panics half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The helper's life: asleep without wakers; with some, wakes all of them at each ring, and now and then.
    fn serve(&self) {
        let mut woken = Vec::new();
        loop {
            let mut state = self.state();
            while state.wakers.is_empty() && !state.stop {
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.armed = true;
            drop(state);
            self.bell.arm();
            loop {
                // Who looks after this ticket was taken either sees the news or is woken by its ring.
                let ticket = self.bell.ticket();
                let mut state = self.state();
                if state.stop || state.wakers.is_empty() {
                    state.armed = false;
                    break;
                }
                std::mem::swap(&mut state.wakers, &mut woken);
                drop(state);
                for waker in woken.drain(..) {
                    // A waker is somebody else's code; its panic must not end what wakes the others.
                    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
                        tracing::error!("a waker panicked; its future may not be polled again");
                    }
                }
                self.bell.sleep(ticket, self.sleep);
            }
            self.bell.disarm();
            if self.state().stop {
                return;
            }
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let helper = self.helper.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(helper) = helper {
            self.shared.state().stop = true;
            self.shared.news.notify_one();
            self.shared.bell.ring();
            // The helper itself drops the waiter if a waker it calls held the last reference.
            if helper.thread().id() != thread::current().id() {
                let _ = helper.join();
            }
        }
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("policy", &self.policy).finish_non_exhaustive()
    }
}
