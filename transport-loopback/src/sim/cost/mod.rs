//! Virtual time: how long a job would take on a network of given costs, by the LogGP model.
//!
//! The body of each PE runs as it is, with real data in real heaps; only its time is made up. What a PE computes by itself
//! costs nothing, and neither does looking at what has not come. Each PE has a clock and a NIC of its own, which can send and
//! receive at once:
//!
//! - A message costs its PE the overhead. It leaves when the NIC is free, which it then occupies for its bytes and a gap.
//! - Its first byte is at the other NIC after the latency. It lands when that NIC has been free for as long as its bytes take;
//!   that NIC too is then occupied for a gap.
//! - An operation is complete when it has landed and that was acknowledged. Gets and atomics are two messages, a request and an
//!   answer, which the target's NIC sends by itself; a put with signal is two messages too.
//! - A flag of a barrier, a signal, or the answer of an atomic costs the PE that takes it the receive overhead.
//!
//! Shared memory is otherwise ([`CostModel::complete_at_post`]): there the PE itself copies, and its put is complete when it has.
//!
//! PEs may share processors ([`CostModel::cores`]). Nothing is known of what else they share besides their NICs: switches, memory.
//!
//! The model: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: Incorporating Long Messages into the LogP Model,
//! SPAA 1995.

mod flight;
mod model;
mod outbox;
mod predict;
mod processors;
mod steps;
mod timed;
mod virtual_time;

#[cfg(test)]
mod tests;

pub use model::{CostModel, Link, Links};
pub use predict::{PhaseCost, PredictError, Prediction};

pub(super) use timed::Timed;
