//! The suite that every backend passes: the contract of [`Transport`](crate::Transport), as cases.
//!
//! A case runs on every PE of a job, uses only the trait, and is determined by the job's size and a seed. So the same list
//! runs on threads, on processes, on NICs, and on a simulated network. What a case finds wrong it notes and goes on, so
//! that no PE leaves the others waiting; after each case the PEs tell each other, and all of them report the failure.
//!
//! A backend whose PEs can be threads of one process gets one `#[test]` for each case by [`conformance_tests!`]. In a job
//! of processes every PE calls [`run`] and prints the [`Report`]:
//!
//! ```
//! use transport_core::conformance::{Options, run};
//! use transport_core::{Transport, wait::block_on};
//!
//! fn pe_main(pe: &impl Transport) -> std::process::ExitCode {
//!     let report = block_on(run(pe, &Options::default()));
//!     println!("{report}");
//!     report.exit_code()
//! }
//! ```
//!
//! The job needs a heap of [`heap_bytes`]; a deadline of some 20 s keeps a backend that hangs from being waited for.
//!
//! [`conformance_tests!`]: crate::conformance_tests

mod agree;
mod cases;
mod failure;
mod job;
mod list;
mod options;
mod pattern;
mod random;
mod report;
mod run;
mod threads;
mod turn;

pub use failure::Failure;
pub use list::names;
pub use options::Options;
pub use report::{Entry, Outcome, Report};
pub use run::{heap_bytes, run};
pub use threads::on_threads;
