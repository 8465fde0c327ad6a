//! `SimPe`: one PE of a simulated job.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use transport_core::transport::Dissemination;
use transport_core::{Endpoint, Error, Result};

use super::event::Event;
use super::flags::SimFlags;
use super::waits::Waiting;
use super::world::World;

/// What the PEs of a job share.
pub(super) struct Job(Mutex<World>);

impl Job {
    pub(super) fn new(world: World) -> Self {
        Self(Mutex::new(world))
    }

    /// The world, for a moment: never while code of the user runs.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One PE of a simulated job, as the body of a test gets it. A clone is the same PE.
///
/// All futures of it must be polled by the PE's own future: the simulation has one thread.
#[derive(Clone)]
pub struct SimPe(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) job: Arc<Job>,
    pub(super) barrier: Dissemination,
    pub(super) flags: SimFlags,
}

impl SimPe {
    /// The backend's name.
    pub const BACKEND: &'static str = "sim";

    pub(super) fn new(job: &Arc<Job>, endpoint: &Arc<Endpoint>, first_epoch: u32) -> Self {
        let (pe, n_pes) = (endpoint.my_pe(), endpoint.n_pes());
        Self(Arc::new(Inner {
            endpoint: Arc::clone(endpoint),
            job: Arc::clone(job),
            barrier: Dissemination::new(pe, n_pes, first_epoch),
            flags: SimFlags { job: Arc::clone(job), pe },
        }))
    }

    /// Collective: what comes before it is set-up. Until all PEs have come here, and all that they have sent has landed, there is
    /// one fixed schedule, so that allocations and the like multiply nothing. The first call counts; a body need not call it.
    ///
    /// ```
    /// use transport_core::Transport;
    ///
    /// transport_loopback::sim::check(2, |pe| async move {
    ///     let word = pe.calloc::<u64>(1).await?;
    ///     pe.begin().await;
    ///     // From here on every order is tried.
    ///     pe.atomic(word, transport_core::AtomicOp::Add(1), 0).await?;
    ///     pe.finalize().await
    /// });
    /// ```
    pub async fn begin(&self) {
        let ready = || {
            let mut world = self.0.job.world();
            world.begin_called = true;
            if world.begun { Ok(()) } else { Err(Waiting::Begin) }
        };
        // It has no deadline, and nobody's end ends it: then the schedule is stuck, and says why.
        let never = |_| Error::BlockingInCapture { op: "begin", my_pe: self.pe() };
        let _ = self.wait("begin", ready, |_| true, never).await;
    }

    pub(super) fn pe(&self) -> usize {
        self.0.flags.pe
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.0.job.world()
    }

    /// Waits until `ready` has an answer; without one it says what is waited for. `Err` when a peer is lost that is not done with
    /// this, or by `late` at the deadline.
    pub(super) async fn wait<R>(
        &self,
        op: &'static str,
        mut ready: impl FnMut() -> std::result::Result<R, Waiting> + Send,
        is_done: impl Fn(usize) -> bool + Send,
        late: impl Fn(Duration) -> Error + Send,
    ) -> Result<R> {
        let mut registered = Registered { pe: self, id: None };
        let limit = self.0.endpoint.timeout();
        poll_fn(|cx| {
            let what = match ready() {
                Ok(answer) => return Poll::Ready(Ok(answer)),
                Err(what) => what,
            };
            if let Err(lost) = self.0.endpoint.failures().check_needed(op, &is_done) {
                return Poll::Ready(Err(lost));
            }
            let mut world = self.world();
            if registered.id.is_some_and(|id| world.is_expired(self.pe(), id)) {
                drop(world);
                return Poll::Ready(Err(late(limit)));
            }
            registered.id = Some(world.wait(self.pe(), registered.id, what, cx.waker(), limit));
            Poll::Pending
        })
        .await
    }

    pub(super) async fn quiet(&self) -> Result<()> {
        const OP: &str = "quiet";
        let (pe, failures) = (self.pe(), self.0.endpoint.failures());
        let before = self.world().pes[pe].posted;
        let ready = || {
            let done = self.world().pes[pe].complete.first() >= before;
            if done { Ok(()) } else { Err(Waiting::Quiet { before }) }
        };
        let late = |after| {
            let world = self.world();
            let first = world.pes[pe].complete.first();
            let open = world.messages.iter().flatten();
            let open = open.filter(|message| message.from as usize == pe);
            let open = open.filter(|message| message.op.is_some_and(|op| (first..before).contains(&op)));
            let missing = open.map(|message| message.to as usize).collect();
            Error::Timeout { op: OP, my_pe: pe, after, missing }
        };
        self.wait(OP, ready, |_| false, late).await?;
        self.world().tell(|| Event::Quiet { pe, before });
        failures.check_all(OP)
    }
}

/// A wait that the world knows of, until it is dropped.
struct Registered<'a> {
    pe: &'a SimPe,
    id: Option<u64>,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // The waker goes after the lock: dropping it may be code of others.
            let wait = self.pe.world().unwait(self.pe.pe(), id);
            drop(wait);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.endpoint.failures().is_finalized() {
            let panics = std::thread::panicking();
            let reason = if panics { "its future panicked" } else { "it was dropped without finalize" };
            self.job.world().post_lost(self.flags.pe, &reason.into());
        }
    }
}

impl fmt::Debug for SimPe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimPe(PE {} of {})", self.pe(), self.0.endpoint.n_pes())
    }
}

/// A point where others may go on: for a future that looks at something again and again.
///
/// A wait of the transport ([`signal_wait_until`](transport_core::Transport::signal_wait_until), say) is better: it goes on only
/// when there is something new, and the search through all schedules is much shorter.
///
/// ```
/// use transport_core::{SignalOp, Transport};
/// use transport_loopback::sim::{check, yield_now};
///
/// check(2, |pe| async move {
///     let word = pe.calloc::<u64>(1).await?;
///     pe.begin().await;
///     pe.put_signal_nbi(word.slice(..0)?, word.slice(..0)?, word, SignalOp::Set(1), 1 - pe.my_pe())?;
///     while pe.heap().load(word)? == 0 {
///         yield_now().await;
///     }
///     pe.finalize().await
/// });
/// ```
pub fn yield_now() -> impl Future<Output = ()> + Send {
    let mut yielded = false;
    poll_fn(move |cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}
