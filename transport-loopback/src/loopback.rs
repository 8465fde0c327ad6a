//! `Loopback`: the transport over a job's shared memory.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use transport_core::collectives::AllGatherAlgorithm;
use transport_core::heap::SymHeap;
use transport_core::host::ProcessorSet;
use transport_core::transport::{Dissemination, Medium, Remote, Transfer, Word};
use transport_core::wait::{Doorbell, WaitPolicy, Waiter};
use transport_core::{AtomicOp, Cmp, Endpoint, Error, PeList, Result, SignalOp, Transport};

use crate::barrier::{Counted, SharedFlags};
use crate::bell::Bell;
use crate::job_memory::JobMemory;
use crate::sync::atomic::{Ordering, fence};

/// How this PE belongs to its job: by whom it hears of the others' end, and they of its.
pub(crate) enum Member {
    /// As a thread.
    Thread(crate::threads::ThreadMember),
    /// As a process.
    Process(crate::processes::ProcessMember),
}

/// One PE of a job in shared memory. See [`Threads`](crate::Threads) and [`Processes`](crate::Processes).
///
/// Puts, gets and atomics are done when the call returns; `quiet` is a fence. Dropping it without
/// [`finalize`](Transport::finalize) tells the other PEs that this one is gone.
pub struct Loopback {
    pe: Arc<Pe>,
    barrier: Dissemination,
    flags: SharedFlags,
    waiter: Waiter,
    bell: Arc<Bell>,
    member: Member,
}

/// What others hold of a PE, to tell it of theirs.
pub(crate) struct Pe {
    pub(crate) endpoint: Endpoint,
    pub(crate) memory: JobMemory,
}

impl Pe {
    /// Remembers that a peer is gone and wakes whoever waits.
    pub(crate) fn peer_lost(&self, pe: usize, cause: &str) {
        self.endpoint.failures().peer_lost(pe, cause);
        JobMemory::full_fence();
        self.memory.wake(self.endpoint.my_pe());
    }
}

/// How a PE is set up; the same for threads and processes.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) n_pes: usize,
    pub(crate) heap_size: u64,
    pub(crate) timeout: Duration,
    pub(crate) policy: Option<WaitPolicy>,
    /// Those of this host, if not as it says.
    pub(crate) processors: Option<usize>,
    pub(crate) first_epoch: u32,
    pub(crate) all_gather: AllGatherAlgorithm,
    /// A number of the job.
    pub(crate) seed: u32,
}

impl Setup {
    /// PE `my_pe`, over the job's memory.
    pub(crate) fn pe(&self, my_pe: usize, memory: &JobMemory) -> Arc<Pe> {
        let heap = SymHeap::new(memory.heap(my_pe), my_pe, self.n_pes, 0, self.seed);
        let endpoint = Endpoint::new(my_pe, self.n_pes, heap, self.timeout);
        let medium = if memory.is_counted() { Medium::CrowdedMemory } else { Medium::Memory };
        let endpoint = endpoint.over(medium).all_gather_by(self.all_gather);
        Arc::new(Pe { endpoint, memory: memory.clone() })
    }

    /// As it was told, or those that this process may use.
    pub(crate) fn processors(&self) -> usize {
        self.processors.unwrap_or_else(|| ProcessorSet::for_all(&[ProcessorSet::of_this_process()]))
    }

    /// Whether PEs must take turns on the processors: then they sleep often, and hear of each other one after the other.
    pub(crate) fn is_crowded(&self) -> bool {
        self.n_pes > self.processors()
    }

    /// Its transport.
    pub(crate) fn transport(&self, pe: Arc<Pe>, member: Member) -> Loopback {
        let policy = self.policy.unwrap_or_else(|| WaitPolicy::for_host(self.n_pes, self.processors()));
        let my_pe = pe.endpoint.my_pe();
        let bell = Arc::new(Bell::new(pe.memory.clone(), my_pe));
        let counted = pe.memory.is_counted().then(|| Counted::new(self.first_epoch));
        let flags = SharedFlags { memory: pe.memory.clone(), my_pe, n_pes: self.n_pes, counted };
        let barrier = flags.barrier(self.first_epoch);
        let waiter = Waiter::new(Arc::clone(&bell) as Arc<dyn Doorbell>, policy);
        Loopback { pe, barrier, flags, waiter, bell, member }
    }
}

impl Loopback {
    /// The backend's name.
    pub const BACKEND: &'static str = "loopback";

    #[inline]
    fn memory(&self) -> &JobMemory {
        &self.pe.memory
    }

    #[inline(always)]
    fn copy(&self, dst_pe: usize, dst: u64, src_pe: usize, src: u64, len: u64) {
        let memory = self.memory();
        memory.all().copy_from(memory.heap_at(dst_pe, dst), memory.all(), memory.heap_at(src_pe, src), len);
    }
}

impl Transport for Loopback {
    #[inline]
    fn endpoint(&self) -> &Endpoint {
        &self.pe.endpoint
    }

    fn backend(&self) -> &'static str {
        Self::BACKEND
    }

    fn abort(&self, reason: &str) {
        match &self.member {
            Member::Thread(member) => member.abort(self.my_pe(), reason),
            Member::Process(member) => member.abort(reason),
        }
    }

    #[inline]
    fn reads_source_at_post(&self, _len: u64) -> bool {
        true
    }

    #[inline]
    fn gets_at_post(&self) -> bool {
        true
    }

    #[inline(always)]
    fn post_put(&self, put: Transfer) -> Result<()> {
        self.copy(put.pe(), put.remote().offset(), self.my_pe(), put.local().offset(), put.local().len());
        self.memory().wake_after_put(put.pe(), put.remote());
        Ok(())
    }

    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.memory().all().write(self.memory().heap_at(dst.pe(), dst.range().offset()), &data);
        self.memory().wake_after_put(dst.pe(), dst.range());
        Ok(())
    }

    #[inline(always)]
    fn post_get(&self, get: Transfer) -> Result<()> {
        self.copy(self.my_pe(), get.local().offset(), get.pe(), get.remote().offset(), get.local().len());
        Ok(())
    }

    #[inline(always)]
    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        if let Some(put) = put {
            self.post_put(put)?;
        }
        let word = self.memory().all().word(self.memory().heap_at(signal.pe(), signal.offset()));
        // A read-modify-write in both cases: released after the data, and a full fence before the look at the sleepers.
        match op {
            SignalOp::Set(value) => word.swap(value, Ordering::SeqCst),
            SignalOp::Add(value) => word.fetch_add(value, Ordering::SeqCst),
        };
        self.memory().wake_after_change(signal.pe());
        Ok(())
    }

    #[inline]
    fn post_fence(&self) -> Result<()> {
        fence(Ordering::Release);
        Ok(())
    }

    #[inline]
    async fn wait_quiet(&self) -> Result<()> {
        JobMemory::full_fence();
        self.pe.endpoint.failures().check_all("quiet")
    }

    #[inline]
    async fn wait_barrier_all(&self) -> Result<()> {
        const OP: &str = "barrier_all";
        let (my_pe, endpoint, flags) = (self.my_pe(), &self.pe.endpoint, &self.flags);
        let turn = match self.barrier.try_take(flags) {
            Some(turn) => turn,
            None => {
                let missing = || [my_pe].into_iter().collect();
                let late = |after| Error::Timeout { op: OP, my_pe, after, missing: missing() };
                let take = || self.barrier.try_take(flags);
                endpoint.wait_until(&self.waiter, OP, take, |_| false, late).await?
            }
        };
        if !turn.is_under_way() {
            endpoint.failures().check_all(OP)?;
        }
        turn.enter();
        let late = |after| {
            let missing: PeList = flags.missing(&turn).into_iter().collect();
            Error::Timeout { op: OP, my_pe, after, missing }
        };
        endpoint.wait_until(&self.waiter, OP, || turn.advance(), |pe| flags.is_done(&turn, pe), late).await
    }

    #[inline]
    async fn wait_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        let cell = self.memory().all().word(self.memory().heap_at(word.pe(), word.offset()));
        let before = match op {
            AtomicOp::Fetch => return Ok(cell.load(Ordering::SeqCst)),
            AtomicOp::Swap(value) => cell.swap(value, Ordering::SeqCst),
            AtomicOp::Add(value) => cell.fetch_add(value, Ordering::SeqCst),
            AtomicOp::And(value) => cell.fetch_and(value, Ordering::SeqCst),
            AtomicOp::Or(value) => cell.fetch_or(value, Ordering::SeqCst),
            AtomicOp::Xor(value) => cell.fetch_xor(value, Ordering::SeqCst),
            AtomicOp::CompareSwap { expected, new } => cell
                .compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst)
                .unwrap_or_else(|found| found),
        };
        self.memory().wake_after_change(word.pe());
        Ok(before)
    }

    #[inline]
    fn wait_signal(&self, word: Word, cmp: Cmp, value: u64) -> impl Future<Output = Result<u64>> + Send {
        const OP: &str = "signal_wait_until";
        let (my_pe, offset) = (self.my_pe(), word.offset());
        let cell = self.memory().all().word(self.memory().heap_at(my_pe, offset));
        let late = move |after| {
            let (found, expected) = (cell.load(Ordering::Acquire), format!("{} {value:#x}", cmp.symbol()));
            Error::SignalTimeout { op: OP, my_pe, offset, value: found, expected, after }
        };
        let wanted = cmp.with(value);
        let ready = move || {
            let found = cell.load(Ordering::Acquire);
            wanted.holds(found).then_some(found)
        };
        let mut wait = self.pe.endpoint.wait_until(&self.waiter, OP, ready, |_| false, late);
        poll_fn(move |cx| {
            self.bell.awaits(Some(offset));
            let found = Pin::new(&mut wait).poll(cx);
            if found.is_ready() {
                self.bell.awaits(None);
            }
            found
        })
    }

    async fn wait_leave(&self) -> Result<()> {
        match &self.member {
            Member::Thread(member) => member.leave(),
            Member::Process(member) => member.leave().await,
        }
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        if !self.pe.endpoint.failures().is_finalized() {
            let panics = std::thread::panicking();
            self.abort(if panics { "its thread panicked" } else { "it was dropped without finalize" });
        }
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loopback(PE {} of {})", self.my_pe(), self.n_pes())
    }
}
