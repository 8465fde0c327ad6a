//! Whether a host is fit for a job, asked before the job runs: what `shmem-doctor` shows, and what a start stops at.
//!
//! A check answers with a [`Section`] of [`Finding`]s. The checks of a backend are in its own crate.

mod finding;

pub use finding::{Finding, Level, Section, worst};
