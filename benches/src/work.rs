//! What is timed, as all PEs do it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use transport_core::collectives::{AllGather, AllGatherAlgorithm};
use transport_core::graph::GraphError;
use transport_core::{Cmp, SignalOp, SymSlice, Transport};

use crate::reference::reference_graph;

/// One kind of work; sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The children end.
    Quit,
    /// `barrier_all`.
    Barrier,
    /// An AllGather in place, of so many bytes a PE.
    AllGather(usize),
    /// One replay of the reference job's graph, of so many bytes a PE.
    Replay(usize),
    /// A put with signal from PE 0 to PE 1, answered by another: the time of both. Other PEs do nothing.
    PingPong(usize),
}

/// The buffers that works use; `data` is twice the largest size that is put.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) data: SymSlice<u8>,
    pub(crate) signal: SymSlice<u64>,
}

impl Work {
    pub(crate) fn to_words(self) -> [u64; 2] {
        match self {
            Self::Quit => [0, 0],
            Self::Barrier => [1, 0],
            Self::AllGather(bytes) => [2, bytes as u64],
            Self::PingPong(bytes) => [3, bytes as u64],
            Self::Replay(bytes) => [4, bytes as u64],
        }
    }

    pub(crate) fn from_words([kind, bytes]: [u64; 2]) -> Self {
        match kind {
            1 => Self::Barrier,
            2 => Self::AllGather(bytes as usize),
            3 => Self::PingPong(bytes as usize),
            4 => Self::Replay(bytes as usize),
            _ => Self::Quit,
        }
    }

    /// Does it `rounds` times, together with the other PEs, and answers how long that took here.
    pub(crate) async fn perform<X: Transport>(
        self,
        shared: &Arc<X>,
        buffers: Buffers,
        rounds: u64,
    ) -> Result<Duration, GraphError> {
        let pe = &**shared;
        let (my_pe, n_pes) = (pe.my_pe(), pe.n_pes());
        let start = match self {
            Self::Quit => Instant::now(),
            Self::Barrier => {
                pe.barrier_all().await?;
                let start = Instant::now();
                for _ in 0..rounds {
                    pe.barrier_all().await?;
                }
                start
            }
            Self::AllGather(bytes) => {
                let buffer = buffers.data.slice(..bytes * n_pes)?;
                let gather = AllGather::in_place(pe, buffer, AllGatherAlgorithm::Auto)?;
                pe.barrier_all().await?;
                let start = Instant::now();
                for _ in 0..rounds {
                    gather.run(pe).await?;
                }
                start
            }
            Self::Replay(bytes) => {
                let (all, half) = (bytes * n_pes, buffers.data.len() / 2);
                let (ptr, b_ptr) = (buffers.data.slice(..all)?, buffers.data.slice(half..half + all)?);
                let graph = reference_graph(shared, ptr.cast()?, b_ptr.cast()?)?;
                pe.barrier_all().await?;
                let start = Instant::now();
                for _ in 0..rounds {
                    graph.run(pe).await?;
                }
                start
            }
            Self::PingPong(bytes) => {
                let (src, dst) = (buffers.data.slice(..bytes)?, buffers.data.slice(bytes..2 * bytes)?);
                pe.heap().fill(buffers.signal, 0)?;
                pe.barrier_all().await?;
                let start = Instant::now();
                if my_pe < 2 && n_pes > 1 {
                    for round in 1..=rounds {
                        if my_pe == 0 {
                            pe.put_signal_nbi(dst, src, buffers.signal, SignalOp::Set(round), 1)?;
                        }
                        pe.signal_wait_until(buffers.signal, Cmp::Ge, round).await?;
                        if my_pe == 1 {
                            pe.put_signal_nbi(dst, src, buffers.signal, SignalOp::Set(round), 0)?;
                        }
                    }
                }
                start
            }
        };
        Ok(start.elapsed())
    }
}
