//! The software backend: the PEs are processes of one host that map one shared memory, or threads of one process.
//!
//! - [`Processes`] joins this process, as one PE, to the others of its job.
//! - [`Threads`] makes a whole job of PEs for the threads of this process, over the same code.
//!
//! Both give a [`Loopback`], which implements [`Transport`](transport_core::Transport): puts and gets are copies,
//! `barrier_all` is a dissemination over counters in the shared memory.

mod barrier;
mod bell;
#[cfg(not(shmem_loom))]
pub mod checks;
mod error;
mod fd_exchange;
mod host;
mod job_memory;
#[cfg(all(test, shmem_loom))]
mod loom_models;
mod loopback;
mod processes;
#[cfg(not(shmem_loom))]
pub mod sim;
mod sync;
mod sys;
mod threads;

pub use error::LoopbackError;
pub use loopback::Loopback;
pub use processes::Processes;
pub use threads::Threads;

/// The README's example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
