//! Whether a host is fit for a job, asked before the job runs: what `shmem-doctor` shows, and what a start stops at.
//!
//! A check answers with a [`Section`] of [`Finding`]s. Here are those that hold for every backend: [`processors()`],
//! [`memory()`], [`network()`] and [`limits()`]; and [`huge_pages()`], for the section of a backend. The checks of a backend
//! are in its own crate. All of them are quick, work for any user and in containers, and take a file of `/proc` or `/sys`
//! that is not there for "not known".

mod container;
mod control_group;
mod finding;
mod huge_pages;
mod limits;
mod memory;
mod network;
mod processors;

pub use finding::{Finding, Level, Section, worst};
pub use huge_pages::{HeapMemory, huge_pages};
pub use limits::limits;
pub use memory::memory;
pub use network::network;
pub use processors::processors;
