//! `Roce`: the transport over the NICs.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use transport_core::bootstrap::Bootstrap;
use transport_core::transport::{Dissemination, Remote, Transfer, Word, reached};
use transport_core::wait::{Doorbell, Waiter};
use transport_core::{AtomicOp, Cmp, Endpoint, Error, PeList, Result, SignalOp, Transport};

use crate::engine::{Answer, Engine, LEFT_AFTER, NicFlags};
use crate::kind::NicKind;

/// How long a barrier that a PE was lost in goes on: its flags may be there already, or on their way.
const GRACE: Duration = Duration::from_millis(100);
/// How long a PE that failed to arrive may take to tell how far it is: it answers by its NIC alone.
const ASK: Duration = Duration::from_millis(600);
/// Looks at a word that another PE's NIC writes, to one at the completion queue.
const LOOKS: u32 = 64;
/// How long a PE that goes without `finalize` waits for what it has sent.
const LAST: Duration = Duration::from_millis(300);

/// One PE of a job over RoCE NICs. See [`Fabric`](crate::Fabric).
///
/// Puts, gets, signals and atomics are requests to the NIC; `quiet` waits for the completion of exactly those that were
/// posted before it. A put to itself is a copy. When a queue is full, the call that posts waits for room, at most
/// [`Endpoint::timeout`].
///
/// A signal that sets its word is a Write of eight aligned bytes, which NICs place in one piece; against a signal that adds, or
/// an atomic, on the same word it is ordered by the program, not by the NIC. Dropping it without
/// [`finalize`](Transport::finalize) tells the other PEs that this one is gone.
pub struct Roce {
    kind: &'static NicKind,
    engine: Arc<Engine>,
    barrier: Dissemination,
    flags: NicFlags,
    waiter: Waiter,
    bootstrap: Bootstrap,
}

impl Roce {
    /// The name of the backend over any NIC; for the others see [`NicKind::backend`].
    pub const BACKEND: &'static str = NicKind::ROCE.backend;

    pub(crate) fn new(
        kind: &'static NicKind,
        engine: Arc<Engine>,
        first_epoch: u32,
        waiter: Waiter,
        bootstrap: Bootstrap,
    ) -> Self {
        let (my_pe, n_pes) = (engine.endpoint().my_pe(), engine.endpoint().n_pes());
        let barrier = Dissemination::new(my_pe, n_pes, first_epoch);
        Self { kind, barrier, flags: NicFlags::new(Arc::clone(&engine)), waiter, bootstrap, engine }
    }

    /// See [`Endpoint::wait_until`].
    #[inline]
    async fn wait_until<R>(
        &self,
        op: &'static str,
        ready: impl FnMut() -> Option<R> + Send,
        is_done: impl Fn(usize) -> bool + Send,
        late: impl Fn(Duration) -> Error + Send,
    ) -> Result<R> {
        let waited = self.engine.endpoint().wait_until(&self.waiter, op, ready, is_done, late).await;
        self.engine.wait_ended();
        waited
    }

    /// Waits for all that is posted.
    async fn complete_all(&self, op: &'static str) -> Result<()> {
        let (engine, my_pe) = (&*self.engine, self.my_pe());
        let mut snapshot = engine.snapshot();
        let late = |after| Error::Timeout { op, my_pe, after, missing: engine.unfinished() };
        self.wait_until(op, || snapshot.look(engine).then_some(()), |_| false, late).await?;
        engine.endpoint().failures().check_all(op)
    }

    /// The PEs that have not entered barrier `epoch`, as their memory tells; those that do not answer too.
    async fn not_entered(&self, epoch: u32) -> PeList {
        let (engine, my_pe) = (&*self.engine, self.my_pe());
        let mut asked: Vec<(usize, Option<u64>)> =
            (0..self.n_pes()).filter(|&pe| pe != my_pe).map(|pe| (pe, None)).collect();
        let since = Instant::now();
        self.connect_aside(asked.iter().map(|one| one.0), since + ASK);
        let heard = |&(pe, number): &(usize, Option<u64>)| {
            number.is_some_and(|number| engine.first_link(pe).is_done(number))
        };
        // Most likely it gave up for the same reason a moment ago, and can say nothing of itself any more.
        let is_lost = |pe: usize| engine.endpoint().failures().check_peer("barrier_all", pe).is_err();
        let ready = || {
            engine.progress();
            for (pe, number) in asked.iter_mut().filter(|one| one.1.is_none()) {
                // Not if it is not connected, or its queue is full: perhaps at the next look.
                *number = engine.ask_entered(*pe);
            }
            (asked.iter().all(|one| heard(one) || is_lost(one.0)) || since.elapsed() > ASK).then_some(())
        };
        let _ = self
            .wait_until("barrier_all", ready, |_| true, |after| self.late_barrier(after, PeList::default()))
            .await;
        let absent = |one: &&(usize, Option<u64>)| match heard(one) {
            true => !reached(engine.entered_of(one.0), epoch),
            false => !is_lost(one.0),
        };
        asked.iter().filter(absent).map(|one| one.0).collect()
    }

    /// Connects to those of `pes` that were never talked to, on another thread: one that does not answer would keep this one.
    fn connect_aside(&self, pes: impl Iterator<Item = usize>, until: Instant) {
        let new: Vec<usize> = pes.filter(|&pe| self.engine.first_link(pe).qp().is_none()).collect();
        if new.is_empty() {
            return;
        }
        let engine = Arc::clone(&self.engine);
        let connect = move || {
            for pe in new.into_iter().take_while(|_| Instant::now() < until) {
                // One that cannot be reached is named with those that are late.
                let _ = engine.prepare(pe);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("shmem-ask".into()).spawn(connect) {
            tracing::warn!(%error, "no thread to ask who is late");
        }
    }

    fn late_barrier(&self, after: Duration, missing: PeList) -> Error {
        Error::Timeout { op: "barrier_all", my_pe: self.my_pe(), after, missing }
    }

    /// One round trip of an atomic that the NIC has.
    async fn round_trip(&self, word: Word, op: NicAtomic) -> Result<u64> {
        const OP: &str = "atomic";
        let (engine, my_pe, pe) = (&*self.engine, self.my_pe(), word.pe());
        // On first use; afterwards it is there.
        engine.prepare(pe)?;
        let mut answer: Option<Answer<'_>> = None;
        let mut posted = false;
        let ready = || {
            engine.progress();
            if answer.is_none() {
                answer = Answer::hold(engine);
            }
            let held = answer.as_mut()?;
            if !posted {
                posted = match op {
                    NicAtomic::Add(add) => engine.post_fetch_add(word, add, held),
                    NicAtomic::CompareSwap(expected, new) => {
                        engine.post_compare_swap(word, (expected, new), held)
                    }
                };
            }
            held.value()
        };
        let late = |after| Error::Timeout { op: OP, my_pe, after, missing: [pe].into_iter().collect() };
        let value = self.wait_until(OP, ready, |other| other != pe, late).await?;
        // What fails is complete too.
        engine.endpoint().failures().check_peer(OP, pe)?;
        Ok(value)
    }

    /// An operation that the NIC does not have: tried until no other came between.
    async fn change(&self, word: Word, change: impl Fn(u64) -> u64 + Send) -> Result<u64> {
        let mut before = self.round_trip(word, NicAtomic::Add(0)).await?;
        loop {
            let found = self.round_trip(word, NicAtomic::CompareSwap(before, change(before))).await?;
            if found == before {
                return Ok(before);
            }
            before = found;
        }
    }
}

/// What the NIC does in one step.
#[derive(Clone, Copy)]
enum NicAtomic {
    Add(u64),
    /// If it is the first it becomes the second.
    CompareSwap(u64, u64),
}

impl Transport for Roce {
    #[inline]
    fn endpoint(&self) -> &Endpoint {
        self.engine.endpoint()
    }

    fn backend(&self) -> &'static str {
        self.kind.backend
    }

    fn abort(&self, reason: &str) {
        self.bootstrap.abort(reason);
    }

    fn post_prepare(&self, pe: usize) -> Result<()> {
        self.engine.prepare(pe)
    }

    /// What travels in the request is read by the post.
    #[inline]
    fn reads_source_at_post(&self, len: u64) -> bool {
        len <= self.engine.inline_limit()
    }

    #[inline]
    fn post_put(&self, put: Transfer) -> Result<()> {
        self.engine.put(put)
    }

    /// No byte is written in pieces, and all of them go as one message.
    #[inline]
    fn post_put_marked(&self, put: Transfer) -> Result<()> {
        self.engine.put(put)
    }

    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.engine.put_bytes(dst, &data)
    }

    fn post_get(&self, get: Transfer) -> Result<()> {
        self.engine.get(get)
    }

    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        self.engine.put_signal(put, signal, op)
    }

    fn post_fence(&self) -> Result<()> {
        self.engine.fence();
        Ok(())
    }

    #[inline]
    async fn wait_quiet(&self) -> Result<()> {
        const OP: &str = "quiet";
        self.engine.progress();
        if self.engine.all_done() {
            return self.engine.endpoint().failures().check_all(OP);
        }
        self.complete_all(OP).await
    }

    async fn wait_barrier_all(&self) -> Result<()> {
        const OP: &str = "barrier_all";
        let (engine, flags, failures) = (&*self.engine, &self.flags, self.engine.endpoint().failures());
        let turn = match self.barrier.try_take(flags) {
            Some(turn) => turn,
            None => {
                let late = |after| self.late_barrier(after, [self.my_pe()].into_iter().collect());
                self.wait_until(OP, || self.barrier.try_take(flags), |_| false, late).await?
            }
        };
        let resumed = turn.is_under_way();
        if !resumed {
            failures.check_all(OP)?;
        }
        turn.enter();
        let lost_at = OnceLock::new();
        // Unless a request of this PE failed: then nothing that is on its way can help.
        let may_still_come = |pe: usize| {
            let owes_nothing = engine.has_left(pe, turn.epoch());
            !engine.has_failed() && (owes_nothing || lost_at.get_or_init(Instant::now).elapsed() < GRACE)
        };
        let ready = || {
            if !flags.is_quiet() {
                return None;
            }
            (0..LOOKS).find_map(|_| turn.advance())
        };
        let waited = self
            .wait_until(OP, ready, may_still_come, |after| self.late_barrier(after, PeList::default()))
            .await;
        match waited {
            Ok(()) if engine.has_failed() => failures.check_all(OP),
            // What was posted since the barrier was given up was in no snapshot.
            Ok(()) if resumed => self.complete_all(OP).await,
            Ok(()) => Ok(()),
            Err(Error::Timeout { after, .. }) => {
                let missing = self.not_entered(turn.epoch()).await;
                let awaited = [turn.awaited()].into_iter().collect();
                Err(self.late_barrier(after, if missing.is_empty() { awaited } else { missing }))
            }
            Err(error) => Err(error),
        }
    }

    async fn wait_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        match op {
            AtomicOp::Fetch => self.round_trip(word, NicAtomic::Add(0)).await,
            AtomicOp::Add(add) => self.round_trip(word, NicAtomic::Add(add)).await,
            AtomicOp::CompareSwap { expected, new } => {
                self.round_trip(word, NicAtomic::CompareSwap(expected, new)).await
            }
            AtomicOp::Swap(value) => self.change(word, |_| value).await,
            AtomicOp::And(value) => self.change(word, |before| before & value).await,
            AtomicOp::Or(value) => self.change(word, |before| before | value).await,
            AtomicOp::Xor(value) => self.change(word, |before| before ^ value).await,
        }
    }

    async fn wait_signal(&self, word: Word, cmp: Cmp, value: u64) -> Result<u64> {
        const OP: &str = "signal_wait_until";
        let (engine, my_pe, offset) = (&*self.engine, self.my_pe(), word.offset());
        let cell = engine.endpoint().heap().region().word(offset);
        let late = |after| {
            let (found, expected) = (cell.load(Ordering::Acquire), format!("{} {value:#x}", cmp.symbol()));
            Error::SignalTimeout { op: OP, my_pe, offset, value: found, expected, after }
        };
        let wanted = cmp.with(value);
        let ready = || {
            for _ in 0..LOOKS {
                let found = cell.load(Ordering::Acquire);
                if wanted.holds(found) {
                    return Some(found);
                }
            }
            // Failures of own requests show only there; but that look is dear, and the word comes without it.
            engine.progress();
            None
        };
        self.wait_until(OP, ready, |_| false, late).await
    }

    async fn wait_leave(&self) -> Result<()> {
        // Others may still wait for flags of the last barrier, which this PE's NIC must be there to send again.
        self.engine.need_all();
        self.complete_all("finalize").await?;
        self.bootstrap.leave().await.map_err(|error| Error::backend(self.kind.backend, error))
    }
}

impl Drop for Roce {
    fn drop(&mut self) {
        let endpoint = self.engine.endpoint();
        if endpoint.failures().is_finalized() {
            return;
        }
        // Others may still be in a barrier that this PE has left: its last flags must not be lost with it.
        self.engine.need_all();
        let mut snapshot = self.engine.snapshot();
        let since = Instant::now();
        let sent = loop {
            if snapshot.look(&self.engine) {
                break !self.engine.has_failed();
            }
            if self.engine.has_failed() || since.elapsed() >= LAST {
                break false;
            }
            self.engine.sleep(self.engine.ticket(), LAST);
        };
        drop(snapshot);
        let panics = std::thread::panicking();
        let why = if panics { "its thread panicked" } else { "it was dropped without finalize" };
        // So that those who are still in that barrier wait for each other, and not for this PE.
        match self.barrier.try_take(&self.flags).filter(|_| sent) {
            Some(turn) => {
                let left = turn.epoch().wrapping_sub(turn.is_under_way().into());
                self.abort(&format!("{why}{LEFT_AFTER}{left}"));
            }
            None => self.abort(why),
        }
    }
}

impl fmt::Debug for Roce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roce({:?})", self.engine)
    }
}
