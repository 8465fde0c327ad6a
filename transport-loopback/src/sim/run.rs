//! One schedule, from the start of the job to its end.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use transport_core::Endpoint;
use transport_core::heap::SymHeap;
use transport_core::memory::Region;
use transport_core::transport::{Dissemination, Medium};

use super::action::Action;
use super::cost::Timed;
use super::event::Event;
use super::failure::FailureKind;
use super::network::Plan;
use super::observer::Accesses;
use super::panics;
use super::pe::{Job, SimPe};
use super::scheduler::Scheduler;
use super::setup::Setup;
use super::tell::Tell;
use super::timeline::Timeline;
use super::wake::Woken;
use super::world::{Start, World};

/// How a schedule came out.
pub(crate) struct Outcome {
    pub(crate) end: End,
    /// Steps after the set-up.
    pub(crate) steps: u64,
    /// Steps.
    pub(crate) all_steps: u64,
    pub(crate) begin_called: bool,
    pub(crate) timeline: Option<Timeline>,
    /// Its times, if time passed.
    pub(crate) timed: Option<Box<Timed>>,
}

/// How a schedule ended.
pub(crate) enum End {
    /// All PEs have ended well.
    Well,
    /// By the scheduler.
    Left,
    /// Badly.
    Failed(FailureKind),
}

/// How to run it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) plan: Plan,
    /// The PEs come to `begin`.
    pub(crate) with_begin: bool,
    /// Keep the timeline.
    pub(crate) timeline: bool,
}

/// Runs `body` on all PEs, as `scheduler` chooses.
pub(crate) fn run<F, Fut, E>(
    setup: &Setup,
    memory: &mut Memory,
    how: How,
    scheduler: &mut dyn Scheduler,
    body: &F,
) -> Outcome
where
    F: Fn(SimPe) -> Fut,
    Fut: Future<Output = Result<(), E>> + Send,
    E: fmt::Display,
{
    let n_pes = setup.n_pes;
    let regions = memory.fresh(setup);
    let mut tell = Tell::default();
    tell.listeners.clone_from(&setup.listeners);
    tell.timeline = how.timeline.then(Timeline::default);
    tell.begin(n_pes);
    let start = Start {
        network: setup.network,
        plan: how.plan,
        first_epoch: setup.first_epoch,
        rounds: Dissemination::rounds(n_pes),
        with_begin: how.with_begin,
    };
    let mut world = World::new(regions.iter().cloned(), start, tell);
    world.timed = setup.cost.clone().map(|cost| Box::new(Timed::new(cost, n_pes)));
    let job = Arc::new(Job::new(world));
    let endpoints: Vec<_> =
        regions.into_iter().enumerate().map(|(pe, region)| endpoint(setup, &job, pe, region)).collect();
    let mut futures = Vec::with_capacity(n_pes);
    let mut end = None;
    for endpoint in &endpoints {
        let pe = SimPe::new(&job, endpoint, setup.first_epoch);
        // The body may do things before its future is first polled.
        match panics::caught(|| body(pe)) {
            Ok(future) => futures.push(Some(Box::pin(future))),
            Err(message) => {
                let failed = FailureKind::Panic { pe: endpoint.my_pe(), message };
                end = Some(End::Failed(failed));
                break;
            }
        }
    }
    let mut run = Run {
        setup,
        job: &job,
        endpoints: &endpoints,
        futures,
        woken: Woken::new(n_pes),
        steps: 0,
        all_steps: 0,
    };
    let end = end.unwrap_or_else(|| run.whole(scheduler));
    let (futures, steps, all_steps) = (std::mem::take(&mut run.futures), run.steps, run.all_steps);
    job.world().closed = true;
    // A future of the user may do anything when dropped, panic too: the schedule has ended before.
    let _ = panics::caught(|| drop(futures));
    let mut world = job.world();
    let (timeline, timed) = (world.tell.timeline.take(), world.timed.take());
    Outcome { end, steps, all_steps, begin_called: world.begin_called, timeline, timed }
}

fn endpoint(setup: &Setup, job: &Arc<Job>, pe: usize, region: Region) -> Arc<Endpoint> {
    // The number of the job is the same in every schedule: nothing is shared between them.
    let heap = SymHeap::new(region, pe, setup.n_pes, 0, 1)
        .observed_by(Arc::new(Accesses { job: Arc::clone(job), pe }));
    let endpoint = Endpoint::new(pe, setup.n_pes, heap, setup.timeout);
    let shares_memory = setup.cost.as_ref().is_some_and(|cost| cost.complete_at_post);
    let medium = if shares_memory { Medium::Memory } else { Medium::Nic };
    Arc::new(endpoint.over(medium).all_gather_by(setup.all_gather))
}

struct Run<'a, Fut> {
    setup: &'a Setup,
    job: &'a Arc<Job>,
    endpoints: &'a [Arc<Endpoint>],
    /// Those that have not ended.
    futures: Vec<Option<Pin<Box<Fut>>>>,
    woken: Woken,
    steps: u64,
    all_steps: u64,
}

impl<Fut, E> Run<'_, Fut>
where
    Fut: Future<Output = Result<(), E>> + Send,
    E: fmt::Display,
{
    fn whole(&mut self, scheduler: &mut dyn Scheduler) -> End {
        // Before `begin`, in turn; but where time passes it decides.
        let by_time = self.setup.cost.is_some();
        let mut set_up = VecDeque::new();
        let mut begun = self.job.world().begun;
        // What can happen, by count: the scheduler keeps which.
        let mut enabled = 0;
        let mut left = self.futures.len();
        for pe in 0..self.futures.len() as u32 {
            self.woken.set(pe);
        }
        let mut ready = self.woken.take();
        let mut polled = None;
        let mut new = Vec::new();
        loop {
            new.extend(ready.drain(..).map(Action::Poll));
            new.append(&mut self.job.world().enabled);
            enabled += new.len();
            for action in new.drain(..) {
                let gave_turn = matches!(action, Action::Poll(pe) if Some(pe) == polled);
                if begun || by_time { scheduler.enabled(action, gave_turn) } else { set_up.push_back(action) }
            }
            if left == 0 {
                return End::Well;
            }
            polled = None;
            if enabled == 0 {
                if !begun && self.job.world().begin() {
                    begun = true;
                    let mut world = self.job.world();
                    world.tell.forget();
                    if let Some(timed) = &mut world.timed {
                        timed.begin();
                    }
                } else if !(self.setup.time_outs && self.job.world().expire()) {
                    return self.stuck();
                }
                ready = self.woken.take();
                if ready.is_empty() {
                    return self.stuck();
                }
                continue;
            }
            if self.all_steps >= self.setup.most_steps {
                return End::Failed(FailureKind::Endless { steps: self.all_steps });
            }
            self.all_steps += 1;
            let chosen = if begun || by_time {
                self.steps += 1;
                let mut world = self.job.world();
                world.tell.step(self.steps);
                scheduler.next(&world)
            } else {
                set_up.pop_front()
            };
            let Some(action) = chosen else { return End::Left };
            enabled -= 1;
            match action {
                Action::Poll(pe) => {
                    polled = Some(pe);
                    match self.poll(pe as usize) {
                        Ok(true) => left -= 1,
                        Ok(false) => {}
                        Err(failed) => {
                            // A race that was seen just before is the cause, and this what came of it.
                            let found = self.job.world().tell.found.take();
                            let told = found.map(|message| FailureKind::Listener { message });
                            return End::Failed(told.unwrap_or(failed));
                        }
                    }
                }
                Action::Net { slot, piece } => self.step(slot, piece),
            }
            if let Some(message) = self.job.world().tell.found.take() {
                return End::Failed(FailureKind::Listener { message });
            }
            self.woken.take_into(&mut ready);
        }
    }

    /// A step of the network.
    fn step(&self, slot: u32, piece: u8) {
        let lost = self.job.world().step(slot, piece);
        if let Some(lost) = lost {
            self.endpoints[lost.at].failures().peer_lost(lost.pe, lost.reason);
            self.job.world().wake_all(lost.at);
        }
    }

    /// A PE goes on; true if to its end.
    fn poll(&mut self, pe: usize) -> Result<bool, FailureKind> {
        self.woken.clear(pe);
        let Some(future) = &mut self.futures[pe] else { return Ok(false) };
        let mut context = Context::from_waker(self.woken.waker(pe));
        let polled = panics::caught(|| future.as_mut().poll(&mut context));
        match polled {
            Err(message) => Err(FailureKind::Panic { pe, message }),
            Ok(Poll::Pending) => Ok(false),
            Ok(Poll::Ready(result)) => {
                // Dropped without finalize, the PE is lost for the others.
                let future = self.futures[pe].take();
                panics::caught(|| drop(future)).map_err(|message| FailureKind::Panic { pe, message })?;
                let mut world = self.job.world();
                world.pes[pe].ended = true;
                if let Some(timed) = &mut world.timed {
                    timed.end(pe);
                }
                world.tell(|| Event::Ended { pe });
                result.map(|()| true).map_err(|error| FailureKind::Error { pe, message: error.to_string() })
            }
        }
    }

    fn stuck(&self) -> End {
        let world = self.job.world();
        let waits = (0..self.futures.len()).map(|pe| world.describe(pe)).collect();
        End::Failed(FailureKind::Stuck { waits })
    }
}

/// The memory of the PEs, kept from one schedule to the next.
#[derive(Default)]
pub(crate) struct Memory(Vec<Region>);

/// Up to so many bytes are cleared; beyond it new pages cost less.
const CLEARED: u64 = 1 << 18;

impl Memory {
    /// Zeroed memory for every PE.
    fn fresh(&mut self, setup: &Setup) -> Vec<Region> {
        let len = SymHeap::region_len(setup.n_pes, setup.heap_size, 0);
        if len > CLEARED || self.0.len() != setup.n_pes {
            self.0.clear();
            let map = |_| Region::map_private(len as usize).unwrap_or_else(|_| Region::zeroed(len as usize));
            self.0 = (0..setup.n_pes).map(map).collect();
        } else {
            for region in &self.0 {
                region.fill(0, len, 0);
            }
        }
        self.0.clone()
    }
}
