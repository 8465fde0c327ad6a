//! `Sim`: how a simulated job is set up.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use transport_core::Endpoint;
use transport_core::collectives::AllGatherAlgorithm;
use transport_core::heap::SymHeap;

use super::cost::CostModel;
use super::event::Listener;
use super::network::Network;
use super::tell::Shared;

/// A job of simulated PEs, to be [explored](Sim::explore).
///
/// ```
/// use transport_core::Transport;
/// use transport_loopback::sim::{Exploration, Network, Sim};
///
/// let sim = Sim::new(3).network(Network { torn: false, ..Network::default() }).seed(7);
/// let explored = sim.explore(Exploration::Random { schedules: 100 }, |pe| async move {
///     pe.barrier_all().await?;
///     pe.finalize().await
/// })?;
/// assert_eq!(explored.schedules, 100);
/// # Ok::<(), Box<transport_loopback::sim::Failure>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Sim {
    pub(crate) setup: Setup,
}

#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) n_pes: usize,
    pub(crate) heap_size: u64,
    pub(crate) first_epoch: u32,
    pub(crate) all_gather: AllGatherAlgorithm,
    pub(crate) network: Network,
    pub(crate) seed: u64,
    pub(crate) time_outs: bool,
    pub(crate) timeout: Duration,
    pub(crate) most_steps: u64,
    pub(crate) reduction: bool,
    pub(crate) listeners: Vec<Shared>,
    /// `check` looks for races.
    pub(crate) races: bool,
    /// Time passes, and things cost so much of it.
    pub(crate) cost: Option<CostModel>,
}

impl Sim {
    /// A job of `n_pes` PEs (at least one), with heaps of the smallest size.
    pub fn new(n_pes: usize) -> Self {
        let setup = Setup {
            n_pes: n_pes.max(1),
            heap_size: SymHeap::MIN_SIZE,
            first_epoch: 0,
            all_gather: AllGatherAlgorithm::Auto,
            network: Network::default(),
            seed: 1,
            time_outs: false,
            timeout: Endpoint::DEFAULT_TIMEOUT,
            most_steps: 10_000_000,
            reduction: true,
            listeners: Vec::new(),
            races: true,
            cost: None,
        };
        Self { setup }
    }

    /// Bytes that users have in each PE's heap. Every schedule begins with a heap of zeros: small ones are faster.
    pub fn heap_size(mut self, bytes: u64) -> Self {
        self.setup.heap_size = bytes.clamp(SymHeap::MIN_SIZE, SymHeap::MAX_SIZE);
        self
    }

    /// The number that the barriers start after: to test what happens when it wraps.
    pub fn first_epoch(mut self, epoch: u32) -> Self {
        self.setup.first_epoch = epoch;
        self
    }

    /// How AllGathers are done whose algorithm the program leaves open; by default by size and PE count.
    pub fn all_gather(mut self, algorithm: AllGatherAlgorithm) -> Self {
        self.setup.all_gather = algorithm;
        self
    }

    /// What the network may do.
    pub fn network(mut self, network: Network) -> Self {
        self.setup.network = network;
        self
    }

    /// The seed of all that is random. The same seed gives the same schedules.
    pub fn seed(mut self, seed: u64) -> Self {
        self.setup.seed = seed;
        self
    }

    /// Tells `listener` of all that happens, in every schedule; several calls add up.
    pub fn listener(self, listener: impl Listener + 'static) -> Self {
        self.shared_listener(Arc::new(Mutex::new(listener)))
    }

    /// As [`listener`](Self::listener), for one that is looked at afterwards.
    pub fn shared_listener(mut self, listener: Arc<Mutex<dyn Listener>>) -> Self {
        self.setup.listeners.push(listener);
        self
    }

    /// Whether [`check`](Self::check) looks for races too, as it does by default: see [`RaceDetector`](super::RaceDetector). Without, a
    /// mistake is only found where it shows in data, or in a wait that never ends.
    pub fn races(mut self, look: bool) -> Self {
        self.setup.races = look;
        self
    }

    /// Whether waits end at their deadlines when nothing else can happen. Else that is a failure, which says who waits for what.
    pub fn time_outs(mut self, end: bool) -> Self {
        self.setup.time_outs = end;
        self
    }

    /// The steps after which a schedule is taken for endless; 10 million by default.
    pub fn most_steps(mut self, steps: u64) -> Self {
        self.setup.most_steps = steps;
        self
    }

    /// Whether an exhaustive exploration leaves out what comes to the same (see the [module](super)); it does by default.
    pub fn reduction(mut self, on: bool) -> Self {
        self.setup.reduction = on;
        self
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { n_pes, heap_size, network, seed, .. } = &self.setup;
        f.debug_struct("Sim")
            .field("n_pes", n_pes)
            .field("heap_size", heap_size)
            .field("network", network)
            .field("seed", seed)
            .finish_non_exhaustive()
    }
}
