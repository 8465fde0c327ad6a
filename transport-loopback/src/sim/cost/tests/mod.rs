//! Times by hand, and what holds of all.

mod by_hand;
mod cores;
mod ends;
mod properties;
mod shared_memory;

use transport_core::Transport;
use transport_core::collectives::{AllGatherAlgorithm, all_gather};

use super::{CostModel, Link, Prediction};
use crate::sim::setup::Sim;

/// Numbers of which each sum says what is in it.
fn model() -> CostModel {
    CostModel {
        link: Link { latency_ns: 100, per_byte_ps: 1000 },
        overhead_ns: 10,
        receive_overhead_ns: 3,
        gap_ns: 5,
        acknowledge_ns: 50,
        copy_per_byte_ps: 500,
        ..CostModel::free()
    }
}

/// The phase `start` of a barrier; then it ends.
fn barrier(n_pes: usize, model: &CostModel) -> Prediction {
    let body = |pe: crate::sim::SimPe| async move {
        pe.begin().await;
        pe.barrier_all().await?;
        pe.phase("end");
        pe.finalize().await
    };
    Sim::new(n_pes).predict(model, body).unwrap()
}

/// As `barrier`, an AllGather of so many bytes of each PE, which is checked.
fn gather(n_pes: usize, bytes: usize, model: &CostModel) -> Prediction {
    let body = |pe: crate::sim::SimPe| async move {
        let all = pe.calloc::<u8>(n_pes * bytes).await?;
        let mine = pe.calloc::<u8>(bytes).await?;
        pe.heap().fill(mine, pe.my_pe() as u8)?;
        pe.begin().await;
        all_gather(&pe, all, mine, AllGatherAlgorithm::Textbook).await?;
        pe.phase("end");
        let found = pe.heap().read_vec(all)?;
        assert!(found.iter().enumerate().all(|(at, &byte)| byte == (at / bytes) as u8));
        pe.finalize().await
    };
    Sim::new(n_pes).predict(model, body).unwrap()
}

/// Time, messages, bytes of the phase `start`.
fn start(prediction: &Prediction) -> (u64, u64, u64) {
    let start = prediction.phase("start").unwrap();
    (start.time_ns(), start.messages, start.bytes)
}
