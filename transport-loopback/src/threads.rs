//! A job whose PEs are threads of this process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::heap::SymHeap;
use transport_core::memory::Region;
use transport_core::wait::WaitPolicy;
use transport_core::{Endpoint, Result};

use crate::error::LoopbackError;
use crate::host;
use crate::job_memory::JobMemory;
use crate::loopback::{Loopback, Member, Pe, Setup};

/// Builds a whole job of PEs in this process; each can be given to a thread of its own.
///
/// ```
/// use transport_core::{Transport, wait::block_on};
/// use transport_loopback::Threads;
///
/// let pes = Threads::new(64).heap_size(1 << 20).start()?;
/// std::thread::scope(|scope| {
///     for pe in &pes {
///         scope.spawn(|| block_on(pe.barrier_all()).unwrap());
///     }
/// });
/// # Ok::<(), transport_loopback::LoopbackError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Threads {
    setup: Setup,
}

impl Threads {
    /// A job of `n_pes` PEs with heaps of the default size.
    pub fn new(n_pes: usize) -> Self {
        let setup = Setup {
            n_pes,
            heap_size: SymHeap::DEFAULT_SIZE,
            timeout: Endpoint::DEFAULT_TIMEOUT,
            policy: None,
            processors: None,
            first_epoch: 0,
            all_gather: AllGatherAlgorithm::Auto,
            seed: 1,
        };
        Self { setup }
    }

    /// Bytes that users have in each PE's heap: 64 KiB to 40 GiB, rounded up to a multiple of 64.
    pub fn heap_size(mut self, bytes: u64) -> Self {
        self.setup.heap_size = bytes;
        self
    }

    /// The limit of every wait.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.setup.timeout = timeout;
        self
    }

    /// How waits spin, yield and sleep; by default by PEs and cores.
    pub fn wait_policy(mut self, policy: WaitPolicy) -> Self {
        self.setup.policy = Some(policy);
        self
    }

    /// As if the host had so many processors, by which barriers and waits are chosen; by default as it has.
    pub fn processors(mut self, processors: usize) -> Self {
        self.setup.processors = Some(processors);
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

    /// Makes the PEs, in order.
    ///
    /// # Errors
    ///
    /// [`LoopbackError`] if there are no PEs, the heap's size is out of range, or there is no memory for it.
    pub fn start(mut self) -> std::result::Result<Vec<Loopback>, LoopbackError> {
        let n_pes = self.setup.n_pes;
        if n_pes == 0 {
            return Err(LoopbackError::NoPes);
        }
        host::check_heap_size(0, self.setup.heap_size)?;
        let len = JobMemory::len(n_pes, self.setup.heap_size);
        let len = len.ok_or(LoopbackError::JobTooLarge { n_pes, heap_size: self.setup.heap_size })?;
        let region = Region::map_private(len as usize).map_err(|source| LoopbackError::Memory {
            my_pe: 0,
            len,
            source,
        })?;
        let memory = JobMemory::new(region, n_pes, self.setup.heap_size);
        // Once for all PEs: it reads files of the system.
        self.setup.processors = Some(self.setup.processors());
        if self.setup.is_crowded() {
            memory.set_counted();
        }
        Ok(self.over(&memory))
    }

    /// The PEs, in order, over memory that nobody has used.
    pub(crate) fn over(mut self, memory: &JobMemory) -> Vec<Loopback> {
        if self.setup.first_epoch != 0 {
            memory.set_first_epoch(self.setup.first_epoch);
        }
        // Not by address: the next job may well get the one that this job had.
        static JOBS: AtomicU64 = AtomicU64::new(0);
        let job = JOBS.fetch_add(1, Ordering::Relaxed);
        self.setup.seed = host::job_seed(&format!("threads, job {job} of process {}", std::process::id()));
        let pes: Vec<Arc<Pe>> = (0..self.setup.n_pes).map(|pe| self.setup.pe(pe, memory)).collect();
        let group = Arc::new(Group { pes: Mutex::new(pes.iter().map(Arc::downgrade).collect()) });
        let start = |pe| self.setup.transport(pe, Member::Thread(ThreadMember { group: Arc::clone(&group) }));
        pes.into_iter().map(start).collect()
    }
}

/// The PEs of one job.
struct Group {
    pes: Mutex<Vec<Weak<Pe>>>,
}

/// One thread's tie to the others.
pub(crate) struct ThreadMember {
    group: Arc<Group>,
}

impl ThreadMember {
    pub(crate) fn abort(&self, my_pe: usize, reason: &str) {
        let others = self.group.pes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for pe in others.iter().filter_map(Weak::upgrade).filter(|pe| pe.endpoint.my_pe() != my_pe) {
            pe.peer_lost(my_pe, reason);
        }
    }

    /// The last barrier said all there is to say.
    pub(crate) fn leave(&self) -> Result<()> {
        Ok(())
    }
}
