//! A job of processes that benches command: this process is PE 0, the others are its children.
//!
//! [`Work`] is what can be timed; every PE does the same work the same number of times, and PE 0 holds the watch.

mod handoff;
mod job;
mod reference;
mod work;

pub use handoff::bare_handoff;
pub use job::{BenchError, Job, be_a_child};
pub use reference::reference_graph;
pub use work::Work;
