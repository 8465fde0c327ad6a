//! Work that was captured, and runs again: what differs from one run to the next must live in memory.

use std::sync::Arc;

use transport_core::graph::{CaptureMode, Graph, GraphError, InlineQueue, Stream};
use transport_core::{AtomicOp, Cmp, Error, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    BakedEpoch,
    NoEntryBarrier,
    QuietForBarrier,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("captured exchange with a round number, 2 PEs", 2, numbered, Mutation::None)
            .racy("round number baked in at capture", Mutation::BakedEpoch)
            .listed(),
        Protocol::of("captured puts and barriers, 2 PEs", 2, captured, Mutation::None)
            .racy("captured without the entry barrier", Mutation::NoEntryBarrier)
            .racy("captured quiet where a barrier must be", Mutation::QuietForBarrier)
            .listed(),
    ]
}

/// A number that a node of a captured exchange uses.
#[derive(Clone, Copy)]
enum Number {
    /// As it was at the capture.
    Scalar(u64),
    /// As it is when the node runs.
    Word(SymSlice<u64>),
}

impl Number {
    fn now<X: Transport>(self, pe: &X) -> Result<u64> {
        match self {
            Self::Scalar(number) => Ok(number),
            Self::Word(word) => pe.heap().load(word),
        }
    }
}

/// A node; the graphs of the library have none that waits for a signal.
#[derive(Clone, Copy)]
enum Node {
    Advance(SymSlice<u64>),
    BarrierAll,
    PutSignal { block: SymSlice<u64>, signal: SymSlice<u64>, number: Number },
    Wait { signal: SymSlice<u64>, number: Number },
}

impl Node {
    async fn run<X: Transport>(self, pe: &X) -> Result<()> {
        match self {
            Self::Advance(word) => pe.atomic(word, AtomicOp::Add(1), pe.my_pe()).await.map(drop),
            Self::BarrierAll => pe.barrier_all().await,
            Self::PutSignal { block, signal, number } => {
                let op = SignalOp::Set(number.now(pe)?);
                pe.put_signal_nbi(block, block, signal, op, 1 - pe.my_pe())
            }
            Self::Wait { signal, number } => {
                pe.signal_wait_until(signal, Cmp::Ge, number.now(pe)?).await.map(drop)
            }
        }
    }
}

fn check<X: Transport>(pe: &X, all: SymSlice<u64>, round: u64) -> Result<()> {
    let expected = [10 * round, 10 * round + 1];
    same(&pe.heap().read_vec(all)?, &expected, &format!("run {round} at PE {}", pe.my_pe()));
    Ok(())
}

async fn numbered(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (all, signal, count) =
        (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    let mine = all.part(pe.my_pe(), 2)?;
    let number = match mutation {
        Mutation::BakedEpoch => Number::Scalar(1),
        _ => Number::Word(count),
    };
    let graph = [
        Node::Advance(count),
        Node::BarrierAll,
        Node::PutSignal { block: mine, signal, number },
        Node::Wait { signal, number },
    ];
    pe.begin().await;
    for round in 1..=2 {
        pe.heap().write(mine, &[10 * round + pe.my_pe() as u64])?;
        for node in graph {
            node.run(&pe).await?;
        }
        check(&pe, all, round)?;
        pe.quiet().await?;
    }
    pe.finalize().await
}

fn capture(pe: &SimPe, all: SymSlice<u64>, mutation: Mutation) -> std::result::Result<Graph, GraphError> {
    let pe = Arc::new(pe.clone());
    let mine = all.part(pe.my_pe(), 2)?;
    let stream = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(pe));
    stream.capture(CaptureMode::Relaxed, |stream| {
        if mutation != Mutation::NoEntryBarrier {
            stream.barrier_all()?;
        }
        stream.put_nbi(mine, mine, 1 - stream.transport().my_pe())?;
        match mutation {
            Mutation::QuietForBarrier => stream.quiet(),
            _ => stream.barrier_all(),
        }
    })
}

/// A graph of the library.
async fn captured(pe: SimPe, mutation: Mutation) -> Result<()> {
    let all = pe.calloc::<u64>(2).await?;
    let graph = capture(&pe, all, mutation).expect("it can be captured");
    pe.begin().await;
    for round in 1..=2 {
        pe.heap().write(all.part(pe.my_pe(), 2)?, &[10 * round + pe.my_pe() as u64])?;
        graph.run(&pe).await.map_err(|failed| Error::backend(SimPe::BACKEND, failed))?;
        check(&pe, all, round)?;
    }
    pe.finalize().await
}
