//! Symmetric memory, one-sided operations and captured collectives, with the NIC as a plug-in.
//!
//! - [`Transport`] is the trait that backends implement: `put_nbi`, `quiet`, `barrier_all` and what belongs with them,
//!   over a [symmetric heap](heap::SymHeap).
//! - [`bootstrap`] gets the PEs of a job together; [`config`] says who they are and where each value came from.
//! - [`collectives`] are written once, over any transport.
//! - [`graph`] captures work from a stream and replays it.
//! - [`checks`] tell before a job whether this host is fit for one.
//! - [`conformance`] is the suite that every backend passes; `faulty` is any backend with faults on purpose.

pub mod bootstrap;
pub mod checks;
pub mod collectives;
pub mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod error;
#[cfg(feature = "conformance")]
pub mod faulty;
pub mod graph;
pub mod heap;
pub mod host;
#[cfg(all(test, shmem_loom))]
mod loom_models;
pub mod memory;
#[cfg(shmem_loom)]
pub mod model_run;
mod pe_list;
mod sync;
pub mod transport;
pub mod wait;

pub use error::{Error, Result};
pub use heap::SymSlice;
pub use pe_list::PeList;
pub use transport::{AnyTransport, AtomicOp, Cmp, DynTransport, Endpoint, SignalOp, Transport};
