//! What the calls and the timer of a faulty PE share, and what happens at each operation.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::dice::{About, Dice};
use super::fault::Fault;
use super::held::Held;
use super::operation::Operation;
use super::policy::FaultPolicy;
use super::state::{State, Step};
use super::timer;
use crate::error::{Error, Result};
use crate::transport::Transport;
use crate::wait::{Doorbell, Ticket, WaitPolicy, Waiter};

pub(super) struct Shared<T> {
    pub(super) inner: T,
    pub(super) policy: FaultPolicy,
    pub(super) dice: Dice,
    state: Mutex<State>,
    /// The timer has something to do.
    pub(super) news: Condvar,
    /// For the end of a stall.
    waiter: Waiter,
}

/// Nobody rings for the end of a stall, so a sleep is a short one.
struct NoBell;

impl Doorbell for NoBell {
    fn arm(&self) {}
    fn disarm(&self) {}
    fn ticket(&self) -> Ticket {
        Ticket(0)
    }
    fn sleep(&self, _: Ticket, limit: Duration) {
        std::thread::sleep(limit.min(Duration::from_millis(1)));
    }
    fn ring(&self) {}
}

impl<T: Transport> Shared<T> {
    pub(super) fn new(inner: T, policy: FaultPolicy) -> Self {
        let wait = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_millis(1) };
        let dice = Dice::new(policy.seed, inner.my_pe());
        let waiter = Waiter::new(Arc::new(NoBell), wait);
        Self { inner, policy, dice, state: Mutex::default(), news: Condvar::new(), waiter }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under it would be one of the inner transport, which is then reported by the thread that had it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation, and does to this PE what is its fate. `Err` if it is dead.
    pub(super) fn begin(&self, call: &'static str) -> Result<(MutexGuard<'_, State>, Step)> {
        let mut state = self.lock();
        self.check_alive(&state, call)?;
        self.see_completions(&mut state);
        state.operations += 1;
        let number = state.operations;
        let fate = self.policy.fate(&self.dice, self.inner.my_pe(), number);
        let step = Step { call, number, fate };
        if fate.dies {
            return Err(self.die(state, &step));
        }
        if let Some(lasts) = fate.stalls {
            state.note(&step, Fault::Stalled { lasts });
            state.stall(lasts);
        }
        state.failure_is_due |= fate.fails;
        Ok((state, step))
    }

    pub(super) fn check_alive(&self, state: &State, op: &'static str) -> Result<()> {
        let failures = self.inner.endpoint().failures();
        match &state.dead {
            Some(_) if failures.is_finalized() => failures.check_all(op),
            Some(cause) => {
                let my_pe = self.inner.my_pe();
                Err(Error::PeerLost { op, my_pe, pe: my_pe, cause: Arc::clone(cause) })
            }
            None => Ok(()),
        }
    }

    /// Takes note of the completions that have come with an error: from now on those PEs are lost.
    pub(super) fn see_completions(&self, state: &mut State) {
        for (pe, cause) in state.unseen.drain(..) {
            self.inner.endpoint().failures().peer_lost(pe, cause);
        }
    }

    /// What was under way lands or does not; then the others hear of it.
    fn die(&self, mut state: MutexGuard<'_, State>, step: &Step) -> Error {
        let (my_pe, number, seed) = (self.inner.my_pe(), step.number, self.policy.seed);
        state.note(step, Fault::Died);
        let lands = |held: &Held| self.dice.below(About::LandsAtDeath, held.order, 2) == 0;
        self.release(&mut state, lands);
        state.held.forget(None);
        let cause: Arc<str> = format!("it died at its operation {number}; injected, seed {seed}").into();
        state.dead = Some(Arc::clone(&cause));
        drop(state);
        self.inner.endpoint().failures().peer_lost(my_pe, Arc::clone(&cause));
        self.inner.abort(&cause);
        Error::PeerLost { op: step.call, my_pe, pe: my_pe, cause }
    }

    /// If a failure is due: an operation to `pe` never lands. True if so.
    pub(super) fn fails(&self, state: &mut State, step: &Step, pe: usize) -> bool {
        if !state.failure_is_due || pe == self.inner.my_pe() {
            return false;
        }
        state.failure_is_due = false;
        state.note(step, Fault::Failed { pe });
        let Step { call, number, .. } = *step;
        let cause = format!(
            "its {call}, operation {number} of PE {}, completed with status 12 (transport retry counter exceeded); injected, \
             seed {}",
            self.inner.my_pe(),
            self.policy.seed
        );
        state.unseen.push((pe, cause.into()));
        // What is behind it in the queue is flushed.
        state.held.forget(Some(pe));
        true
    }

    /// As [`fails`](Self::fails), for a call that sends to others what the inner transport keeps to itself.
    pub(super) fn fails_to_somebody(&self, state: &mut State, step: &Step) -> bool {
        let (my_pe, n_pes) = (self.inner.my_pe(), self.inner.n_pes());
        let others = (n_pes as u64).saturating_sub(1);
        let further = 1 + self.dice.below(About::FailWhom, step.number, others) as usize;
        self.fails(state, step, (my_pe + further) % n_pes)
    }

    /// Lets go what is `ripe` and what must go before it, unless this PE stalls.
    pub(super) fn release(&self, state: &mut State, ripe: impl Fn(&Held) -> bool) {
        if state.is_stalled() {
            return;
        }
        let failures = self.inner.endpoint().failures();
        for held in state.held.take(ripe) {
            let (pe, call) = (held.pe, held.operation.call());
            // Its call has answered that all is well: what fails now is a completion with an error.
            if let Err(error) = self.post(state, held.operation, held.epoch)
                && !failures.is_finalized()
            {
                failures.peer_lost(pe, format!("a delayed {call} to it failed: {error}"));
            }
        }
    }

    fn post(&self, state: &mut State, operation: Operation, epoch: u64) -> Result<()> {
        if state.held.needs_fence(epoch) {
            self.inner.post_fence()?;
        }
        operation.post(&self.inner)
    }

    /// Posts an operation, now or later.
    pub(super) fn submit(self: &Arc<Self>, operation: Operation) -> Result<()> {
        let call = operation.call();
        let (mut state, step) = self.begin(call)?;
        let (pe, epoch) = (operation.pe(), state.held.epoch);
        self.inner.endpoint().failures().check_peer(call, pe)?;
        if self.fails(&mut state, &step, pe) {
            timer::need(self, &mut state);
            return Ok(());
        }
        let again = (step.fate.is_told_twice && operation.is_repeatable()).then(|| operation.clone());
        let hold = |state: &mut State, operation, about| {
            let due = step.number + 1 + self.dice.below(about, step.number, 8);
            let order = self.dice.number(About::Order, step.number ^ (about as u64) << 32);
            state.held.push(Held { operation, pe, epoch, due, since: Instant::now(), order });
        };
        if state.is_stalled() || step.fate.is_delayed {
            // What a stall holds back hangs on when it ends, and is part of the stall.
            if step.fate.is_delayed {
                state.note(&step, Fault::Delayed);
            }
            hold(&mut state, operation, About::DelayFor);
        } else {
            self.release(&mut state, |held| held.pe == pe && held.epoch < epoch);
            self.post(&mut state, operation, epoch)?;
        }
        if let Some(again) = again {
            state.note(&step, Fault::ToldTwice);
            hold(&mut state, again, About::Duplicate);
        }
        self.release(&mut state, |held| held.due <= step.number);
        timer::need(self, &mut state);
        Ok(())
    }

    /// Waits for the end of a stall, if there is one.
    pub(super) async fn awake(&self, op: &'static str) -> Result<()> {
        if !self.lock().is_stalled() {
            return Ok(());
        }
        let my_pe = self.inner.my_pe();
        let late = |after| Error::Timeout { op, my_pe, after, missing: [my_pe].into_iter().collect() };
        let ready = || (!self.lock().is_stalled()).then_some(());
        self.inner.endpoint().wait_until(&self.waiter, op, ready, |_| false, late).await
    }

    /// Before a wait that needs what is `ripe` to have gone.
    pub(super) fn go(&self, op: &'static str, ripe: impl Fn(&Held) -> bool) -> Result<()> {
        let mut state = self.lock();
        self.check_alive(&state, op)?;
        self.release(&mut state, ripe);
        Ok(())
    }

    /// As [`go`](Self::go), before an atomic to `pe`: what a fence orders before it.
    pub(super) fn go_before_atomic(&self, op: &'static str, pe: usize) -> Result<()> {
        let mut state = self.lock();
        self.check_alive(&state, op)?;
        let epoch = state.held.epoch;
        self.release(&mut state, |held| held.pe == pe && held.epoch < epoch);
        if state.held.needs_fence(epoch) { self.inner.post_fence() } else { Ok(()) }
    }
}
