//! AllGather: everybody's part, at everybody.

use bytemuck::Pod;

use super::algorithm::{AllGatherAlgorithm, Job};
use super::run::{Run, Started};
use super::{bruck, direct, eager, fetch, marked, pull, ring, textbook};
use crate::error::{Error, Result};
use crate::heap::{self, SymSlice};
use crate::transport::Transport;

/// The user's call, for errors.
pub(super) const OP: &str = "all_gather";

/// One AllGather, checked and planned; it can be run any number of times.
///
/// Nothing in it changes from one run to the next, so that a graph may hold it: what must advance (counters of barriers and
/// epochs) lives with the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllGather {
    /// `n_pes` parts.
    dst: SymSlice<u8>,
    /// This PE's part of the result.
    my_part: SymSlice<u8>,
    /// Where this PE's part comes from; equal to `my_part` when in place.
    src: SymSlice<u8>,
    /// Never `Auto`, and one that has room for the size.
    algorithm: AllGatherAlgorithm,
}

impl AllGather {
    /// Part `i` of `dst`, on every PE, becomes `src` of PE `i`. `dst` holds `n_pes` times the elements of `src`; `src` may
    /// be this PE's own part of `dst`, and must else lie outside of it.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if the lengths do not fit, [`Error::Overlap`], [`Error::NotLive`].
    pub fn new<T: Pod, X: Transport + ?Sized>(
        transport: &X,
        dst: SymSlice<T>,
        src: SymSlice<T>,
        algorithm: AllGatherAlgorithm,
    ) -> Result<Self> {
        let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
        let (dst, src) = (dst.bytes(), src.bytes());
        transport.heap().check(OP, "destination", dst)?;
        transport.heap().check(OP, "source", src)?;
        if src.byte_len().checked_mul(n_pes as u64) != Some(dst.byte_len()) {
            let needed = src.byte_len().saturating_mul(n_pes as u64);
            return Err(Error::LengthMismatch { op: OP, my_pe, dst: dst.byte_len(), src: needed });
        }
        let my_part = dst.part(my_pe, n_pes)?;
        let (a, b) = (dst.offset(), src.offset());
        if src != my_part && !src.is_empty() && a < b + src.byte_len() && b < a + dst.byte_len() {
            return Err(Error::Overlap { op: OP, my_pe, src: b, dst: a, len: src.byte_len() });
        }
        let (medium, staging) = (transport.endpoint().medium(), transport.heap().staging());
        let left_open = algorithm == AllGatherAlgorithm::Auto;
        let asked = if left_open { transport.endpoint().all_gather() } else { algorithm };
        let algorithm = asked.resolved(&Job { n_pes, medium, staging }, src.byte_len());
        Ok(Self { dst, my_part, src, algorithm })
    }

    /// As [`AllGather::new`], in place: this PE's part of `buffer` is what it contributes.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice`] if the length is no multiple of the PE count, [`Error::NotLive`].
    pub fn in_place<T: Pod, X: Transport + ?Sized>(
        transport: &X,
        buffer: SymSlice<T>,
        algorithm: AllGatherAlgorithm,
    ) -> Result<Self> {
        let mine = buffer.part(transport.my_pe(), transport.n_pes())?;
        Self::new(transport, buffer, mine, algorithm)
    }

    /// Collective: checks that all PEs have planned the same, which [`run`](Self::run) takes for granted: with lengths, places or
    /// algorithms that differ it would write over the wrong parts, or wait for what nobody sends. It costs as much as an
    /// AllGather; once before many runs is enough.
    ///
    /// # Errors
    ///
    /// [`Error::Asymmetric`] on every PE, naming the odd one.
    pub async fn check_same_on_all<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        heap::agree_on_all_gather(transport, self).await
    }

    /// The gathered buffer.
    #[must_use]
    pub fn dst(&self) -> SymSlice<u8> {
        self.dst
    }

    /// What this PE contributes.
    #[must_use]
    pub fn src(&self) -> SymSlice<u8> {
        self.src
    }

    /// This PE's part of the result.
    pub(super) fn my_part(&self) -> SymSlice<u8> {
        self.my_part
    }

    /// The algorithm that a run uses: never [`Auto`](AllGatherAlgorithm::Auto), and another than what was asked for where that has no
    /// room for the size.
    #[must_use]
    pub fn algorithm(&self) -> AllGatherAlgorithm {
        self.algorithm
    }

    /// Whether it can be started when `first` was, and finished when `first` is: the same as one after the other.
    #[inline]
    pub(crate) fn may_start_during(&self, first: &Self) -> bool {
        let eager =
            |plan: &Self| matches!(plan.algorithm, AllGatherAlgorithm::Eager | AllGatherAlgorithm::Marked);
        // Its source is read at the start. All else happens when `first` is done.
        let (a, b) = (first.dst, self.src);
        let apart = a.offset() + a.byte_len() <= b.offset() || b.offset() + b.byte_len() <= a.offset();
        eager(first) && eager(self) && apart
    }

    /// Begins an eager one, by flags or by marks.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[inline]
    pub(crate) fn start<'a, X: Transport + ?Sized>(&self, transport: &'a X) -> Result<Started<'a>> {
        match self.algorithm {
            AllGatherAlgorithm::Marked => marked::start(transport, self),
            _ => eager::start(transport, self),
        }
    }

    /// Takes everybody's part of one that was begun.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[inline]
    pub(crate) async fn finish<X: Transport + ?Sized>(
        &self,
        transport: &X,
        started: Started<'_>,
    ) -> Result<()> {
        let Started { epoch, steps } = started;
        let run = Run::checked(transport, self);
        run.copy_own();
        for pe in run.sources() {
            match self.algorithm {
                AllGatherAlgorithm::Marked => marked::take(&run, epoch, pe).await?,
                _ => eager::take(&run, epoch, pe).await?,
            }
        }
        steps.end();
        Ok(())
    }

    /// Collective: does it. When it returns, `dst` of this PE is complete, and its `src` may be changed.
    ///
    /// It says nothing of the others: a PE that has returned may be ahead of one that is still copying its parts. Before anything
    /// is put into another's `dst`, there has to be a barrier, or a signal of that PE. Nor does it complete what was put before.
    ///
    /// # Errors
    ///
    /// As [`Transport::barrier_all`] and [`Transport::put_nbi`]. After a failure in the middle, later collectives of this PE
    /// answer [`Error::OutOfStep`]; a [`Timeout`](Error::Timeout) of the barrier that some algorithms begin by can be tried again.
    pub async fn run<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        match self.algorithm {
            AllGatherAlgorithm::Auto | AllGatherAlgorithm::Direct => direct::run(transport, self).await,
            AllGatherAlgorithm::Textbook => textbook::run(transport, self).await,
            AllGatherAlgorithm::Eager | AllGatherAlgorithm::Marked => {
                let started = self.start(transport)?;
                self.finish(transport, started).await
            }
            AllGatherAlgorithm::Pull => pull::run(transport, self).await,
            AllGatherAlgorithm::Fetch => fetch::run(transport, self).await,
            AllGatherAlgorithm::Ring => ring::run(transport, self).await,
            AllGatherAlgorithm::Bruck => bruck::run(transport, self).await,
        }
    }
}

/// Collective: part `i` of `dst`, on every PE, becomes `src` of PE `i`.
///
/// Every PE must call it with the same length, the same `dst` and the same algorithm: that is not checked, since it would cost as
/// much again; see [`AllGather::check_same_on_all`]. A PE's buffers must be ready when that PE calls it, and what has become of
/// the others' when it returns is said at [`AllGather::run`].
///
/// ```
/// use transport_core::collectives::{AllGatherAlgorithm, all_gather};
/// use transport_core::{Transport, wait::block_on};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pes = transport_loopback::Threads::new(3).start()?;
/// let threads: Vec<_> = pes.into_iter().map(|pe| std::thread::spawn(move || block_on(async {
///     let (src, dst) = (pe.alloc::<u16>(2).await?, pe.alloc::<u16>(6).await?);
///     pe.heap().fill(src, 10 + pe.my_pe() as u16)?;
///     all_gather(&pe, dst, src, AllGatherAlgorithm::Auto).await?;
///     let all = pe.heap().read_vec(dst)?;
///     // Who is dropped without it is lost for those that are still in the AllGather.
///     pe.finalize().await.map(|()| all)
/// }))).collect();
/// for thread in threads {
///     assert_eq!(thread.join().unwrap()?, [10, 10, 11, 11, 12, 12]);
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// As [`AllGather::new`] and [`AllGather::run`].
pub async fn all_gather<T: Pod, X: Transport + ?Sized>(
    transport: &X,
    dst: SymSlice<T>,
    src: SymSlice<T>,
    algorithm: AllGatherAlgorithm,
) -> Result<()> {
    AllGather::new(transport, dst, src, algorithm)?.run(transport).await
}

/// Collective: as [`all_gather`], where this PE's part of `buffer` is what it contributes.
///
/// # Errors
///
/// As [`AllGather::in_place`] and [`AllGather::run`].
pub async fn all_gather_in_place<T: Pod, X: Transport + ?Sized>(
    transport: &X,
    buffer: SymSlice<T>,
    algorithm: AllGatherAlgorithm,
) -> Result<()> {
    AllGather::in_place(transport, buffer, algorithm)?.run(transport).await
}
