//! What the programs of this folder share: options, logging, signals, and the choice of the backend.
//!
//! Programs are the only place where a backend is chosen. The work itself is generic over
//! [`Transport`](transport_core::Transport): see [`Job`] and [`run`].

mod backend;
mod job_options;
mod logging;
pub mod signals;

pub use backend::{
    BACKENDS, Choice, Job, LOOPBACK, Needs, Skipped, StartError, choose, examine, may_be_meant, run, usable,
};
pub use job_options::JobOptions;
pub use logging::start_logging;
