//! The contract: what users call, and what a backend implements.

use std::future::Future;
use std::time::Duration;

use bytemuck::Pod;
use bytes::Bytes;

use super::{AtomicOp, Cmp, Endpoint, Remote, SignalOp, Transfer, Word, capturing};
use crate::error::Result;
use crate::heap::{self, SymHeap, SymSlice};

/// One-sided communication between the PEs of a job, over symmetric memory.
///
/// Users call the methods of the first half ([`put_nbi`](Self::put_nbi), [`quiet`](Self::quiet),
/// [`barrier_all`](Self::barrier_all), ...), which check their arguments in the same way for every backend. A backend
/// writes the second half (`post_*`, `wait_*`), which gets checked operations; it is tested by the
/// [conformance suite](crate::conformance).
///
/// The futures need no particular runtime. A thread of the caller's own runs them with
/// [`wait::block_on`](crate::wait::block_on), and then waits inside the backend: it spins briefly, yields, then sleeps.
/// On any executor they are pending after a brief spin and the backend wakes them. Dropping the future of `quiet`,
/// `barrier_all`, an atomic or a signal wait leaves the transport usable: the next call resumes what it had begun. The
/// collectives that are made of several of these (the heap calls, `finalize`, an AllGather) must be run to their end, or this
/// PE is out of step with the others. No wait lasts longer than [`Endpoint::timeout`]; a collective of several waits has that for
/// each.
///
/// All methods may be called from several threads. `barrier_all` and the collective heap calls must be made in the same
/// order by every PE.
///
/// For a backend chosen at run time see [`DynTransport`](super::DynTransport) and [`AnyTransport`](super::AnyTransport).
///
/// ```
/// use transport_core::{Transport, wait::block_on};
///
/// // Two PEs as threads of this process; each sends its number to the other.
/// fn job(pe: impl Transport) -> transport_core::Result<u64> {
///     block_on(async {
///         let (from, to) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
///         pe.heap().write(from, &[pe.my_pe() as u64])?;
///         pe.put_nbi(to, from, 1 - pe.my_pe())?;
///         pe.barrier_all().await?;
///         Ok(pe.heap().read_vec(to)?[0])
///     })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pes = transport_loopback::Threads::new(2).start()?;
/// let threads: Vec<_> = pes.into_iter().map(|pe| std::thread::spawn(move || job(pe))).collect();
/// let got: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect::<Result<_, _>>()?;
/// assert_eq!(got, [1, 0]);
/// # Ok(()) }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Identity, heap, deadline and failures: what all backends have in common.
    fn endpoint(&self) -> &Endpoint;

    /// The backend's name, as `--backend` takes it.
    fn backend(&self) -> &'static str;

    /// This PE's number, from 0.
    #[inline]
    fn my_pe(&self) -> usize {
        self.endpoint().my_pe()
    }

    /// How many PEs the job has.
    #[inline]
    fn n_pes(&self) -> usize {
        self.endpoint().n_pes()
    }

    /// This PE's part of the symmetric heap, to read and write locally.
    #[inline]
    fn heap(&self) -> &SymHeap {
        self.endpoint().heap()
    }

    /// The limit of every wait.
    fn timeout(&self) -> Duration {
        self.endpoint().timeout()
    }

    /// Begins to write `src` of this PE to `dst` of `pe`, and returns.
    ///
    /// `src` is read some time before [`quiet`](Self::quiet) returns: leave it unchanged until then. `dst` is written
    /// once; it may be seen half written until then. There is no order between puts without [`fence`](Self::fence) or
    /// `quiet`. No element is a no-op; to self works (source and destination equal, or apart). Any size.
    ///
    /// # Errors
    ///
    /// Nothing was sent if it answers [`NoSuchPe`](crate::Error::NoSuchPe),
    /// [`LengthMismatch`](crate::Error::LengthMismatch), [`NotLive`](crate::Error::NotLive) (freed, or another job's),
    /// [`Overlap`](crate::Error::Overlap), or [`PeerLost`](crate::Error::PeerLost) (`pe` failed before). What fails later
    /// is said by `quiet`.
    #[inline]
    #[track_caller]
    fn put_nbi<T: Pod>(&self, dst: SymSlice<T>, src: SymSlice<T>, pe: usize) -> Result<()> {
        match self.endpoint().check_put("put_nbi", dst, src, pe)? {
            Some(put) => self.post_put(put),
            None => Ok(()),
        }
    }

    /// Begins to write `data` to `dst` of `pe`; the transport keeps `data` until it is done with it.
    ///
    /// # Errors
    ///
    /// As [`put_nbi`](Self::put_nbi).
    #[track_caller]
    fn put_bytes_nbi(&self, dst: SymSlice<u8>, data: Bytes, pe: usize) -> Result<()> {
        match self.endpoint().check_remote("put_bytes_nbi", dst, data.len(), pe)? {
            Some(remote) => self.post_put_bytes(remote, data),
            None => Ok(()),
        }
    }

    /// Begins to read `src` of `pe` into `dst` of this PE, and returns. `dst` holds it when `quiet` returns.
    ///
    /// # Errors
    ///
    /// As [`put_nbi`](Self::put_nbi).
    #[inline]
    #[track_caller]
    fn get_nbi<T: Pod>(&self, dst: SymSlice<T>, src: SymSlice<T>, pe: usize) -> Result<()> {
        match self.endpoint().check_get("get_nbi", dst, src, pe)? {
            Some(get) => self.post_get(get),
            None => Ok(()),
        }
    }

    /// As [`put_nbi`](Self::put_nbi), then changes `signal` of `pe`: who sees the signal there, by
    /// [`signal_wait_until`](Self::signal_wait_until) or an acquiring load, sees the data. Without data it still signals.
    ///
    /// # Errors
    ///
    /// As `put_nbi`; [`Misaligned`](crate::Error::Misaligned) if `signal` is not on a boundary of 8.
    #[inline]
    #[track_caller]
    fn put_signal_nbi<T: Pod>(
        &self,
        dst: SymSlice<T>,
        src: SymSlice<T>,
        signal: SymSlice<u64>,
        op: SignalOp,
        pe: usize,
    ) -> Result<()> {
        let put = self.endpoint().check_put("put_signal_nbi", dst, src, pe)?;
        let signal = self.endpoint().check_word("put_signal_nbi", "signal", signal, pe)?;
        self.post_put_signal(put, signal, op)
    }

    /// Orders: puts, signals and atomics to a PE that are posted after it are seen there after those posted before.
    ///
    /// # Errors
    ///
    /// [`Finalized`](crate::Error::Finalized).
    #[inline]
    fn fence(&self) -> Result<()> {
        if self.endpoint().failures().is_finalized() {
            self.endpoint().failures().check_all("fence")?;
        }
        self.post_fence()
    }

    /// Completes when all my earlier puts are visible at their targets and all my earlier gets have arrived.
    ///
    /// # Errors
    ///
    /// [`PeerLost`](crate::Error::PeerLost) names a PE that failed, now and at every later call;
    /// [`Timeout`](crate::Error::Timeout) after the deadline.
    fn quiet(&self) -> impl Future<Output = Result<()>> + Send {
        async {
            capturing::refuse_blocking("quiet", self.my_pe())?;
            self.wait_quiet().await
        }
    }

    /// `quiet`, and no PE leaves before all have entered. To be called as often as the job likes.
    ///
    /// # Errors
    ///
    /// [`Timeout`](crate::Error::Timeout) names the PEs that have not arrived; the next call resumes the same barrier.
    /// [`PeerLost`](crate::Error::PeerLost) if any PE is gone.
    fn barrier_all(&self) -> impl Future<Output = Result<()>> + Send {
        async {
            capturing::refuse_blocking("barrier_all", self.my_pe())?;
            self.endpoint().failures().check_in_step("barrier_all")?;
            self.wait_barrier_all().await
        }
    }

    /// Changes a word of `pe` in one step and answers what it was. Atomic against every other atomic, and every signal that
    /// adds, on that word, of any PE, its own too. A signal that [sets](SignalOp::Set) is a store: NICs do not order it against
    /// atomics under way on the same word, so the program does (by a wait, a fence, or a quiet between).
    ///
    /// # Errors
    ///
    /// As [`put_nbi`](Self::put_nbi); [`Misaligned`](crate::Error::Misaligned) if the word is not on a boundary of 8.
    fn atomic(
        &self,
        word: SymSlice<u64>,
        op: AtomicOp,
        pe: usize,
    ) -> impl Future<Output = Result<u64>> + Send {
        async move {
            capturing::refuse_blocking("atomic", self.my_pe())?;
            let word = self.endpoint().check_word("atomic", "word", word, pe)?;
            self.wait_atomic(word, op).await
        }
    }

    /// Completes when this PE's own `word` compares so to `value`, and answers the word. What its writer had made visible
    /// before is visible after.
    ///
    /// It is woken by signals and atomics. A word that is written by plain puts is seen too, if less promptly.
    ///
    /// # Errors
    ///
    /// [`SignalTimeout`](crate::Error::SignalTimeout) with the value it has at the deadline;
    /// [`PeerLost`](crate::Error::PeerLost) if any PE is gone while it waits.
    fn signal_wait_until(
        &self,
        word: SymSlice<u64>,
        cmp: Cmp,
        value: u64,
    ) -> impl Future<Output = Result<u64>> + Send {
        async move {
            capturing::refuse_blocking("signal_wait_until", self.my_pe())?;
            let word = self.endpoint().check_word("signal_wait_until", "signal", word, self.my_pe())?;
            self.wait_signal(word, cmp, value).await
        }
    }

    /// Collective: `len` elements on every PE, at the same offset. The content is undefined; no element is fine.
    ///
    /// # Errors
    ///
    /// [`Asymmetric`](crate::Error::Asymmetric) on every PE, naming the odd one, if they do not ask for the same;
    /// [`HeapFull`](crate::Error::HeapFull) with what was asked, what is free and the largest piece. Then nothing has
    /// changed.
    fn alloc<T: Pod>(&self, len: usize) -> impl Future<Output = Result<SymSlice<T>>> + Send {
        heap::alloc(self, len, 1, false)
    }

    /// Collective: as [`alloc`](Self::alloc), with all bytes 0 on every PE.
    ///
    /// # Errors
    ///
    /// As `alloc`.
    fn calloc<T: Pod>(&self, len: usize) -> impl Future<Output = Result<SymSlice<T>>> + Send {
        heap::alloc(self, len, 1, true)
    }

    /// Collective: as [`alloc`](Self::alloc), at a multiple of `align` bytes (a power of two) from the heap's start.
    ///
    /// # Errors
    ///
    /// As `alloc`, and [`BadAlignment`](crate::Error::BadAlignment).
    fn align<T: Pod>(&self, align: u64, len: usize) -> impl Future<Output = Result<SymSlice<T>>> + Send {
        heap::alloc(self, len, align, false)
    }

    /// Collective: ends an allocation. Its slice and every part of it are refused from then on.
    ///
    /// # Errors
    ///
    /// [`Asymmetric`](crate::Error::Asymmetric) if PEs free different slices; [`NotLive`](crate::Error::NotLive) if it is
    /// no live allocation, or only a part of one.
    fn free<T: Pod>(&self, slice: SymSlice<T>) -> impl Future<Output = Result<()>> + Send {
        heap::free(self, slice)
    }

    /// Collective: a last barrier, then this PE leaves the job. Every later call answers
    /// [`Finalized`](crate::Error::Finalized).
    ///
    /// A PE that is dropped without it is lost for the others.
    ///
    /// # Errors
    ///
    /// As [`barrier_all`](Self::barrier_all).
    fn finalize(&self) -> impl Future<Output = Result<()>> + Send {
        async {
            capturing::refuse_blocking("finalize", self.my_pe())?;
            self.endpoint().failures().check_all("finalize")?;
            self.barrier_all().await?;
            let left = self.wait_leave().await;
            self.endpoint().failures().finalized();
            left
        }
    }

    /// Makes ready to reach `pe`, so that the first operation to it has nothing to set up. Only needed before work that must
    /// not be held up, where the backend was told to connect peers on first use; a capture calls it for all that its nodes
    /// will reach, so that a replay connects nothing.
    ///
    /// # Errors
    ///
    /// As [`put_nbi`](Self::put_nbi), or the backend's own if `pe` cannot be reached.
    fn prepare(&self, pe: usize) -> Result<()> {
        self.endpoint().check_pe("prepare", pe)?;
        self.post_prepare(pe)
    }

    /// Tells the other PEs at once that this one gives up, and why. They see it as
    /// [`PeerLost`](crate::Error::PeerLost) with that cause.
    fn abort(&self, reason: &str);

    /// Backend: see [`prepare`](Self::prepare). Nothing is to be done where all peers are reached from the start.
    ///
    /// # Errors
    ///
    /// If `pe` cannot be reached.
    fn post_prepare(&self, _pe: usize) -> Result<()> {
        Ok(())
    }

    /// Backend: whether it has read the source of a put of `len` bytes when the call that posts it returns, so that it may be
    /// changed without a `quiet`. False is always right.
    fn reads_source_at_post(&self, _len: u64) -> bool {
        false
    }

    /// Backend: whether a get is done when the call that posts it returns, without a `quiet`. False is always right.
    fn gets_at_post(&self) -> bool {
        false
    }

    /// Backend: begins a put.
    ///
    /// # Errors
    ///
    /// Only if nothing was sent.
    #[track_caller]
    fn post_put(&self, put: Transfer) -> Result<()>;

    /// Backend: begins a put of whole words of bytes that are not 0, to places that are: who waits there sees by that which have
    /// come. Bytes land in any order, each in one step, and wake who waits for their word. What comes with the trait sends each
    /// word as a signal; a backend that reaches its peers over a network can send all as one put.
    ///
    /// # Errors
    ///
    /// Only if nothing was sent.
    #[track_caller]
    fn post_put_marked(&self, put: Transfer) -> Result<()> {
        put.words().try_for_each(|(from, to)| {
            self.post_put_signal(None, to, SignalOp::Set(self.heap().region().load(from)))
        })
    }

    /// Backend: begins a put of bytes that it keeps until done.
    ///
    /// # Errors
    ///
    /// Only if nothing was sent.
    #[track_caller]
    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()>;

    /// Backend: begins a get.
    ///
    /// # Errors
    ///
    /// Only if nothing was sent.
    #[track_caller]
    fn post_get(&self, get: Transfer) -> Result<()>;

    /// Backend: begins a put, if there is one, and then a signal to the same PE that is seen after it.
    ///
    /// # Errors
    ///
    /// Only if nothing was sent.
    #[track_caller]
    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()>;

    /// Backend: orders later puts after earlier ones, target by target.
    ///
    /// # Errors
    ///
    /// If it cannot; then no later put is sent.
    fn post_fence(&self) -> Result<()>;

    /// Backend: see [`quiet`](Self::quiet).
    fn wait_quiet(&self) -> impl Future<Output = Result<()>> + Send;

    /// Backend: see [`barrier_all`](Self::barrier_all).
    fn wait_barrier_all(&self) -> impl Future<Output = Result<()>> + Send;

    /// Backend: see [`atomic`](Self::atomic).
    fn wait_atomic(&self, word: Word, op: AtomicOp) -> impl Future<Output = Result<u64>> + Send;

    /// Backend: see [`signal_wait_until`](Self::signal_wait_until); the word is this PE's own.
    fn wait_signal(&self, word: Word, cmp: Cmp, value: u64) -> impl Future<Output = Result<u64>> + Send;

    /// Backend: tells the others that this PE leaves in good order, after the last barrier.
    fn wait_leave(&self) -> impl Future<Output = Result<()>> + Send;
}
