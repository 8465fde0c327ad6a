//! AllGather: everybody's part, at everybody.

use std::fmt;
use std::str::FromStr;

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::heap::{self, SymSlice};
use crate::transport::Transport;

/// How an AllGather is done. All give the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AllGatherAlgorithm {
    /// Chosen by size, PE count and backend.
    #[default]
    Auto,
    /// Barrier, a put to every peer, barrier: the reference that others are checked against. The first barrier says that
    /// everybody has come here, so that nobody still uses what will be overwritten; the second, which implies `quiet`,
    /// that every part has landed.
    Textbook,
}

impl AllGatherAlgorithm {
    /// Each of them with its name.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Auto, "auto"), (Self::Textbook, "textbook")];
}

impl fmt::Display for AllGatherAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            Self::ALL.iter().find(|(algorithm, _)| algorithm == self).map_or("unknown", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for AllGatherAlgorithm {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(algorithm, _)| *algorithm).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("no AllGather algorithm is called {text:?}; there are {}", names.join(", "))
        })
    }
}

/// One AllGather, checked and planned; it can be run any number of times.
///
/// Nothing in it changes from one run to the next, so that a graph may hold it: what must advance (the barrier's counters)
/// lives in the transport's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllGather {
    /// `n_pes` parts.
    dst: SymSlice<u8>,
    /// This PE's part of the result.
    my_part: SymSlice<u8>,
    /// Where this PE's part comes from; equal to `my_part` when in place.
    src: SymSlice<u8>,
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
        const OP: &str = "all_gather";
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

    /// Collective: checks that all PEs have planned the same, which [`run`](Self::run) takes for granted: with lengths or
    /// places that differ it would write over the wrong parts. It costs as much as an AllGather; once before many runs is
    /// enough.
    ///
    /// # Errors
    ///
    /// [`Error::Asymmetric`] on every PE, naming the odd one.
    pub async fn check_same_on_all<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        heap::agree_on_all_gather(transport, self.src.byte_len(), self.dst.offset()).await
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

    /// The algorithm that a run uses: never `Auto`.
    #[must_use]
    pub fn algorithm(&self) -> AllGatherAlgorithm {
        match self.algorithm {
            AllGatherAlgorithm::Auto | AllGatherAlgorithm::Textbook => AllGatherAlgorithm::Textbook,
        }
    }

    /// Collective: does it. When it returns, `dst` of this PE is complete, and everybody has read this PE's `src`.
    ///
    /// # Errors
    ///
    /// As [`Transport::barrier_all`] and [`Transport::put_nbi`]. After a failure in the middle, later collectives of this PE
    /// answer [`Error::OutOfStep`]; a [`Timeout`](Error::Timeout) of its first barrier can be tried again.
    pub async fn run<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        match self.algorithm() {
            AllGatherAlgorithm::Auto | AllGatherAlgorithm::Textbook => self.textbook(transport).await,
        }
    }

    async fn textbook<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        const OP: &str = "all_gather";
        let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
        transport.barrier_all().await.map_err(|error| error.within(OP))?;
        // From here on a second attempt would take this one's closing barrier for its first.
        let steps = transport.endpoint().failures().half_way(OP);
        // Itself first, then from its right-hand neighbour on, so that not all begin with PE 0.
        transport.put_nbi(self.my_part, self.src, my_pe)?;
        for pe in (my_pe + 1..n_pes).chain(0..my_pe) {
            transport.put_nbi(self.my_part, self.src, pe)?;
        }
        transport.barrier_all().await.map_err(|error| error.within(OP))?;
        steps.end();
        Ok(())
    }
}

/// Collective: part `i` of `dst`, on every PE, becomes `src` of PE `i`.
///
/// Every PE must call it with the same length and the same `dst`: that is not checked, since it would cost as much again; see
/// [`AllGather::check_same_on_all`]. Everybody's buffers must be ready for it when everybody has called it, not before: it begins by a barrier.
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
///     pe.heap().read_vec(dst)
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
