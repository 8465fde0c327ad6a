//! Work to be timed, on any backend.
//!
//! A [`Work`] is one thing that can be timed. All PEs do it together the same number of times: PE 0 leads
//! ([`Lead`]), holds the watch and tells the others, who [`follow`], what to do and how often. The program `perf` does so
//! as one process a PE under any launcher; the criterion benches start the other PEs themselves ([`with_job`]). How long it takes
//! to start a job at all is no work of one: [`start_up`].

mod error;
mod handoff;
mod job;
mod median;
mod reference;
mod start_up;
pub mod svg;
mod team;
mod work;

pub use error::WorkError;
pub use handoff::bare_handoff;
pub use job::{BenchError, be_a_child, with_job};
pub use median::median;
pub use start_up::start_up;
pub use team::{Lead, Watch, end, follow, heap_needed};
pub use work::{AskError, Kind, Work};
