//! What is run over faults: every collective, every kind of operation, each result checked.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use transport_core::collectives::{AllGather, AllGatherAlgorithm, all_gather, all_gather_in_place};
use transport_core::graph::GraphError;
use transport_core::{AtomicOp, Cmp, Error, SignalOp, Transport};

use crate::reference_job::reference_job;

/// How a PE's program ends early.
#[derive(Debug)]
pub(crate) enum Trouble {
    Call(Error),
    Graph(GraphError),
    /// What must never be.
    WrongData(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl From<GraphError> for Trouble {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl Trouble {
    /// The transport's error in it.
    pub(crate) fn cause(&self) -> Option<&Error> {
        let mut graph = match self {
            Self::Call(error) => return Some(error),
            Self::Graph(error) => error,
            Self::WrongData(_) => return None,
        };
        loop {
            graph = match graph {
                GraphError::Transport(error) => return Some(error),
                GraphError::NodeFailed { cause, .. } | GraphError::StreamFailed { cause, .. } => cause,
                _ => return None,
            };
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(error) => write!(f, "{error}"),
            Self::Graph(error) => write!(f, "{error}"),
            Self::WrongData(what) => write!(f, "WRONG DATA: {what}"),
        }
    }
}

pub(crate) fn expect<T: PartialEq + fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Trouble> {
    if found == expected {
        return Ok(());
    }
    Err(Trouble::WrongData(format!("{what}: found {found:?}, expected {expected:?}")))
}

/// Runs on every PE of a job.
pub(crate) async fn program<X: Transport>(pe: &Arc<X>) -> Result<(), Trouble> {
    let x = &**pe;
    let spare = x.alloc::<u32>(7).await?;
    for (round, (algorithm, _)) in (1_u64..).zip(AllGatherAlgorithm::ALL) {
        gather(x, algorithm, round).await?;
    }
    x.free(spare).await?;
    transfers(x).await?;
    signals(x).await?;
    atomics(x).await?;
    reference_job(pe)?;
    x.finalize().await?;
    Ok(())
}

async fn gather<X: Transport>(x: &X, algorithm: AllGatherAlgorithm, round: u64) -> Result<(), Trouble> {
    const LEN: usize = 5;
    let (me, n) = (x.my_pe(), x.n_pes());
    let (src, dst) = (x.alloc::<u64>(LEN).await?, x.calloc::<u64>(n * LEN).await?);
    let part =
        |pe: usize, turn: u64| (0..LEN as u64).map(move |i| round * 1000 + turn * 100 + pe as u64 * 10 + i);
    AllGather::new(x, dst, src, algorithm)?.check_same_on_all(x).await?;
    for turn in 0..2 {
        x.heap().write(src, &part(me, turn).collect::<Vec<_>>())?;
        all_gather(x, dst, src, algorithm).await?;
        let all: Vec<u64> = (0..n).flat_map(|pe| part(pe, turn)).collect();
        expect("all_gather", x.heap().read_vec(dst)?, all)?;
    }
    x.heap().write(dst.part(me, n)?, &part(me, 3).collect::<Vec<_>>())?;
    all_gather_in_place(x, dst, algorithm).await?;
    expect("all_gather_in_place", x.heap().read_vec(dst)?, (0..n).flat_map(|pe| part(pe, 3)).collect())?;
    x.free(src).await?;
    x.free(dst).await?;
    Ok(())
}

/// Puts, bytes and gets to and from every PE, with a quiet.
async fn transfers<X: Transport>(x: &X) -> Result<(), Trouble> {
    let (me, n) = (x.my_pe(), x.n_pes());
    let (src, dst) = (x.alloc::<u64>(3).await?, x.calloc::<u64>(3 * n).await?);
    let (bytes, back) = (x.calloc::<u8>(4 * n).await?, x.calloc::<u64>(3 * n).await?);
    x.heap().write(src, &[me as u64 + 1; 3])?;
    for distance in 0..n {
        let pe = (me + distance) % n;
        x.put_nbi(dst.part(me, n)?, src, pe)?;
        x.put_bytes_nbi(bytes.part(me, n)?, Bytes::from(vec![me as u8 + 1; 4]), pe)?;
    }
    x.quiet().await?;
    for pe in 0..n {
        x.get_nbi(back.part(pe, n)?, dst.part(me, n)?, pe)?;
    }
    x.quiet().await?;
    // What I put is there, at each, before anybody said so.
    expect("got back after quiet", x.heap().read_vec(back)?, vec![me as u64 + 1; 3 * n])?;
    x.barrier_all().await?;
    expect("puts", x.heap().read_vec(dst)?, (0..3 * n).map(|i| i as u64 / 3 + 1).collect())?;
    expect("bytes", x.heap().read_vec(bytes)?, (0..4 * n).map(|i| i as u8 / 4 + 1).collect())?;
    Ok(())
}

/// Data and a signal to the right neighbour, and data, fence, signal; each several times.
async fn signals<X: Transport>(x: &X) -> Result<(), Trouble> {
    let (me, n) = (x.my_pe(), x.n_pes());
    let (right, left) = ((me + 1) % n, (me + n - 1) % n);
    let (src, dst) = (x.alloc::<u64>(6).await?, x.calloc::<u64>(6).await?);
    let (none, words) = (x.alloc::<u8>(0).await?, x.calloc::<u64>(2).await?);
    let (with_data, after_fence) = (words.part(0, 2)?, words.part(1, 2)?);
    for round in 1..=3_u64 {
        let (src, dst) = (src.part(round as usize - 1, 3)?, dst.part(round as usize - 1, 3)?);
        x.heap().write(src, &[100 * round + me as u64, round])?;
        x.put_signal_nbi(dst.part(0, 2)?, src.part(0, 2)?, with_data, SignalOp::Add(1), right)?;
        x.signal_wait_until(with_data, Cmp::Ge, round).await?;
        expect("data of a signal", x.heap().read_vec(dst.part(0, 2)?)?, vec![100 * round + left as u64])?;
        x.put_nbi(dst.part(1, 2)?, src.part(1, 2)?, right)?;
        x.fence()?;
        x.put_signal_nbi(none, none, after_fence, SignalOp::Set(round), right)?;
        // A third word's worth of order: this one is behind the fence too.
        x.signal_wait_until(after_fence, Cmp::Ge, round).await?;
        expect("data before a fence", x.heap().read_vec(dst.part(1, 2)?)?, vec![round])?;
        x.fence()?;
    }
    x.barrier_all().await?;
    Ok(())
}

async fn atomics<X: Transport>(x: &X) -> Result<(), Trouble> {
    let (me, n) = (x.my_pe(), x.n_pes());
    let words = x.calloc::<u64>(3).await?;
    let (sum, bits, set) = (words.slice(..1)?, words.slice(1..2)?, words.slice(2..)?);
    for pe in 0..n {
        x.atomic(sum, AtomicOp::Add(me as u64 + 1), pe).await?;
        x.atomic(bits, AtomicOp::Or(1 << me), pe).await?;
    }
    // A signal, a fence, an atomic: in this order.
    let (right, left) = ((me + 1) % n, (me + n - 1) % n);
    let none = words.slice(..0)?;
    x.put_signal_nbi(none, none, set, SignalOp::Set(50 + me as u64), right)?;
    x.fence()?;
    expect("swapped after a fence", x.atomic(set, AtomicOp::Add(7), right).await?, 50 + me as u64)?;
    x.barrier_all().await?;
    let n64 = n as u64;
    expect("words", x.heap().read_vec(words)?, vec![n64 * (n64 + 1) / 2, (1 << n) - 1, 57 + left as u64])
}
