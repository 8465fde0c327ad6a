//! `Sim::explore`: many schedules of one body.

use std::fmt;
use std::future::Future;

use super::exhaustive::Search;
use super::failure::{Failure, FailureKind};
use super::network::{Plan, Random};
use super::pe::SimPe;
use super::random::{Priorities, Uniform};
use super::run::{End, How, Memory, Outcome, run};
use super::schedule::Schedule;
use super::scheduler::{Fifo, Recorder, Replay, Scheduler};
use super::setup::{Setup, Sim};
use super::shrink::shrink;

/// Which schedules are run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exploration {
    /// All of them, but for those that come to the same.
    Exhaustive {
        /// The most that are begun.
        most: u64,
    },
    /// Each step any that is possible, all alike.
    Random {
        /// How many.
        schedules: u64,
    },
    /// By priorities drawn at random, which change at few steps: finds faults that need few steps in a certain order, however
    /// long the schedule (probabilistic concurrency testing).
    Pct {
        /// How many.
        schedules: u64,
        /// How many steps in a certain order a fault may need; 3 is plenty for most.
        depth: u32,
    },
    /// This one.
    Replay(Schedule),
}

/// What was explored, and found without fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// Schedules that were run to their end.
    pub schedules: u64,
    /// Schedules that were left on the way, since they could only repeat what others had shown.
    pub left: u64,
    /// Steps of all of them, after `begin`.
    pub steps: u64,
    /// Steps of the longest.
    pub longest: u64,
    /// All schedules that there are were tried.
    pub complete: bool,
}

impl Sim {
    /// Runs `body` on every PE, in many schedules, until one fails.
    ///
    /// `body` is called anew for each PE of each schedule. It must depend on nothing but its PE: no time, no random numbers but
    /// by a seed, no memory that PEs or schedules share.
    ///
    /// # Errors
    ///
    /// The first schedule that failed, made as short as it could be.
    pub fn explore<F, Fut, E>(&self, how: Exploration, body: F) -> Result<Explored, Box<Failure>>
    where
        F: Fn(SimPe) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send,
        E: fmt::Display,
    {
        let mut runner = Runner { setup: &self.setup, memory: Memory::default(), with_begin: true, body };
        let mut explored = Explored { schedules: 0, left: 0, steps: 0, longest: 0, complete: false };
        if let Exploration::Replay(schedule) = how {
            runner.with_begin = schedule.with_begin;
            let outcome = runner.run(schedule.plan, &mut Replay::new(&schedule.deviations), false);
            explored.count(&outcome);
            return match outcome.end {
                End::Failed(kind) => Err(runner.failure(1, schedule.clone(), schedule, kind)),
                End::Well | End::Left => Ok(explored),
            };
        }
        // Whether there is a set-up shows when the body has run once.
        let pilot = runner.run(Plan::Apart, &mut Fifo::default(), false);
        runner.with_begin = pilot.begin_called;
        if let End::Failed(kind) = pilot.end {
            let schedule =
                Schedule { plan: Plan::Apart, with_begin: pilot.begin_called, deviations: Vec::new() };
            return Err(runner.failure(1, schedule.clone(), schedule, kind));
        }
        match how {
            Exploration::Exhaustive { most } => runner.all(most, &mut explored)?,
            Exploration::Random { schedules } => {
                for index in 0..schedules {
                    runner.one(index, &mut explored, |seed| Box::new(Uniform::new(seed)))?;
                }
            }
            Exploration::Pct { schedules, depth } => {
                let mut longest = pilot.all_steps;
                for index in 0..schedules {
                    runner
                        .one(index, &mut explored, |seed| Box::new(Priorities::new(seed, depth, longest)))?;
                    longest = longest.max(explored.longest);
                }
            }
            Exploration::Replay(_) => {}
        }
        Ok(explored)
    }
}

impl Explored {
    fn count(&mut self, outcome: &Outcome) {
        match outcome.end {
            End::Left => self.left += 1,
            End::Well | End::Failed(_) => self.schedules += 1,
        }
        self.steps += outcome.steps;
        self.longest = self.longest.max(outcome.steps);
    }
}

/// Runs one body again and again.
pub(super) struct Runner<'a, F> {
    pub(super) setup: &'a Setup,
    memory: Memory,
    with_begin: bool,
    body: F,
}

impl<F, Fut, E> Runner<'_, F>
where
    F: Fn(SimPe) -> Fut,
    Fut: Future<Output = Result<(), E>> + Send,
    E: fmt::Display,
{
    pub(super) fn run(&mut self, plan: Plan, scheduler: &mut dyn Scheduler, timeline: bool) -> Outcome {
        let how = How { plan, with_begin: self.with_begin, timeline };
        run(self.setup, &mut self.memory, how, scheduler, &self.body)
    }

    /// A schedule of a scheduler that a seed makes.
    fn one(
        &mut self,
        index: u64,
        explored: &mut Explored,
        scheduler: impl Fn(u64) -> Box<dyn Scheduler>,
    ) -> Result<(), Box<Failure>> {
        // 32 bits, for a text that is short.
        let seed = Random::new(self.setup.seed.wrapping_mul(0x9E37_79B9).wrapping_add(index)).next() >> 32;
        let plan = Plan::Random(seed);
        let outcome = self.run(plan, &mut *scheduler(seed), false);
        explored.count(&outcome);
        match outcome.end {
            End::Failed(kind) => Err(self.failed(explored, plan, &mut *scheduler(seed), kind)),
            End::Well | End::Left => Ok(()),
        }
    }

    fn all(&mut self, most: u64, explored: &mut Explored) -> Result<(), Box<Failure>> {
        let mut search = Search::new(self.setup.reduction);
        while explored.schedules + explored.left < most {
            let outcome = self.run(Plan::Apart, &mut search.run(), false);
            explored.count(&outcome);
            if let End::Failed(kind) = outcome.end {
                return Err(self.failed(explored, Plan::Apart, &mut search.run(), kind));
            }
            if !search.advance() {
                explored.complete = true;
                break;
            }
        }
        Ok(())
    }

    /// The failure of a schedule that `scheduler` makes again.
    fn failed(
        &mut self,
        explored: &Explored,
        plan: Plan,
        scheduler: &mut dyn Scheduler,
        kind: FailureKind,
    ) -> Box<Failure> {
        let mut recorder = Recorder::new(scheduler);
        self.run(plan, &mut recorder, false);
        let found = Schedule { plan, with_begin: self.with_begin, deviations: recorder.deviations };
        let schedule = shrink(self, &found, &kind);
        self.failure(explored.schedules, found, schedule, kind)
    }

    /// The story of a failure.
    fn failure(
        &mut self,
        schedules: u64,
        found: Schedule,
        schedule: Schedule,
        kind: FailureKind,
    ) -> Box<Failure> {
        let outcome = self.run(schedule.plan, &mut Replay::new(&schedule.deviations), true);
        let mut timeline = outcome.timeline.unwrap_or_default();
        let kind = match outcome.end {
            End::Failed(kind) => {
                timeline.push(kind.to_string());
                kind
            }
            End::Well | End::Left => {
                timeline.push(
                    "but now it did not fail: the body depends on more than its PE (time, other random numbers, memory \
                     that schedules share?), or has changed"
                        .to_owned(),
                );
                kind
            }
        };
        Box::new(Failure { seed: self.setup.seed, schedule, found, kind, timeline, schedules })
    }

    /// Whether this schedule fails, how, and what it comes to.
    pub(super) fn fails(
        &mut self,
        schedule: &Schedule,
    ) -> (Option<FailureKind>, Vec<(u64, super::action::Name)>, u64) {
        let mut replay = Replay::new(&schedule.deviations);
        let mut recorder = Recorder::new(&mut replay);
        let outcome = self.run(schedule.plan, &mut recorder, false);
        let deviations = recorder.deviations;
        match outcome.end {
            End::Failed(kind) => (Some(kind), deviations, outcome.all_steps),
            End::Well | End::Left => (None, deviations, outcome.all_steps),
        }
    }
}
