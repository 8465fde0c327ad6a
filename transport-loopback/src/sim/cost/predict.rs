//! `Sim::predict`: one run of a body, with its times.

use std::fmt;
use std::future::Future;

use super::model::CostModel;
use super::processors::Processors;
use super::timed::{PhaseTime, Timed};
use super::virtual_time::VirtualTime;
use crate::sim::failure::FailureKind;
use crate::sim::network::Plan;
use crate::sim::pe::SimPe;
use crate::sim::run::{End, How, Memory, run};
use crate::sim::setup::Sim;

/// How long a job takes by a [`CostModel`], and what it sends. Counted from [`begin`](SimPe::begin), if all PEs come there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prediction {
    /// When the last PE has ended, in nanoseconds.
    pub time_ns: u64,
    /// When each PE has ended, in nanoseconds.
    pub pe_ns: Vec<u64>,
    /// Messages: puts, signals, flags of barriers; gets and atomics count as two. What a PE sends to itself is none.
    pub messages: u64,
    /// Bytes of the data in them.
    pub bytes: u64,
    /// What came to what, in the order in which the phases began.
    pub phases: Vec<PhaseCost>,
}

/// What a phase came to: see [`SimPe::phase`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PhaseCost {
    /// Its name.
    pub name: &'static str,
    /// When the first PE began it, in nanoseconds.
    pub begin_ns: u64,
    /// When the last PE was done with it, in nanoseconds.
    pub end_ns: u64,
    /// Messages of PEs that were in it.
    pub messages: u64,
    /// Bytes of the data in them.
    pub bytes: u64,
}

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// The job did not end well.
    #[error("{kind}; Sim::check of the same body tells the story")]
    Failed {
        /// What went wrong.
        kind: FailureKind,
    },
    /// The clock, which counts picoseconds in 64 bits, came to its end.
    #[error(
        "it takes more virtual time than can be counted, which is 213 days; give smaller costs, fewer bytes or fewer PEs"
    )]
    TooLong,
}

impl Prediction {
    /// The phase of this name. What comes before the first call of [`SimPe::phase`] is `start`.
    #[must_use]
    pub fn phase(&self, name: &str) -> Option<&PhaseCost> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    fn new(timed: &Timed) -> Self {
        let pe_ns: Vec<u64> = timed.clocks().map(nanoseconds).collect();
        let phases: Vec<PhaseCost> = timed.phases.iter().map(PhaseCost::new).collect();
        Self {
            time_ns: pe_ns.iter().copied().max().unwrap_or_default(),
            pe_ns,
            messages: phases.iter().map(|phase| phase.messages).sum(),
            bytes: phases.iter().map(|phase| phase.bytes).sum(),
            phases,
        }
    }
}

impl PhaseCost {
    /// From when the first PE began it until the last was done, in nanoseconds.
    #[must_use]
    pub fn time_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    fn new(phase: &PhaseTime) -> Self {
        let &PhaseTime { name, begin, end, messages, bytes } = phase;
        Self { name, begin_ns: nanoseconds(begin), end_ns: nanoseconds(end), messages, bytes }
    }
}

/// Rounded up.
fn nanoseconds(ps: u64) -> u64 {
    ps.div_ceil(1000)
}

impl Sim {
    /// Runs `body` on every PE in virtual time.
    ///
    /// What the [`network`](Sim::network) may do besides is of no matter: messages of a pair land in order and whole, and a put
    /// reads its source when it lands, or at its post if it is complete then. Of thousands of PEs, heaps cost what is touched of
    /// them; puts to one PE after the other, with a signal each or without, and gets from them cost next to nothing, however
    /// many wait.
    ///
    /// ```
    /// use transport_core::collectives::{AllGatherAlgorithm::Textbook, all_gather_in_place};
    /// use transport_core::Transport;
    /// use transport_loopback::sim::{CostModel, Sim};
    ///
    /// let predicted = Sim::new(16).predict(&CostModel::roce(), |pe| async move {
    ///     let all = pe.calloc::<u8>(16 * 64).await?;
    ///     pe.begin().await;
    ///     all_gather_in_place(&pe, all, Textbook).await?;
    ///     pe.phase("end");
    ///     pe.finalize().await
    /// })?;
    /// let gather = predicted.phase("start").ok_or("no such phase")?;
    /// assert_eq!((gather.messages, gather.bytes), (16 * 15 + 2 * 16 * 4, 16 * 15 * 64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PredictError`] if a PE panics, answers an error, or cannot go on.
    pub fn predict<F, Fut, E>(&self, model: &CostModel, body: F) -> Result<Prediction, PredictError>
    where
        F: Fn(SimPe) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send,
        E: fmt::Display,
    {
        let mut setup = self.setup.clone();
        // What goes on has an end by itself; what only looks is counted by the scheduler.
        let most_in_vain = std::mem::replace(&mut setup.most_steps, u64::MAX);
        setup.cost = Some(model.clone());
        let how = How { plan: Plan::Apart, with_begin: true, timeline: false };
        let mut scheduler = VirtualTime::new(most_in_vain, Processors::new(model, setup.n_pes));
        let outcome = run(&setup, &mut Memory::default(), how, &mut scheduler, &body);
        if outcome.timed.as_deref().is_some_and(Timed::is_at_its_end) {
            return Err(PredictError::TooLong);
        }
        let kind = match outcome.end {
            End::Well => {
                return Ok(outcome.timed.as_deref().map(Prediction::new).unwrap_or_else(Prediction::none));
            }
            End::Left => FailureKind::Endless { steps: outcome.all_steps },
            End::Failed(kind) => kind,
        };
        Err(PredictError::Failed { kind })
    }
}

impl Prediction {
    fn none() -> Self {
        Self { time_ns: 0, pe_ns: Vec::new(), messages: 0, bytes: 0, phases: Vec::new() }
    }
}

impl SimPe {
    /// From here on, what this PE does belongs to the phase of this name in a [`Prediction`]. Elsewhere it does nothing.
    pub fn phase(&self, name: &'static str) {
        let pe = self.pe();
        if let Some(timed) = &mut self.world().timed {
            timed.phase(pe, name);
        }
    }

    /// This PE's clock in nanoseconds; none where no time passes.
    #[must_use]
    pub fn now_ns(&self) -> Option<u64> {
        let pe = self.pe();
        self.world().timed.as_ref().map(|timed| nanoseconds(timed.clock(pe)))
    }
}
