//! What the programs of this folder share: options, logging, signals, and the choice of the backend.
//!
//! Programs are the only place where a backend is chosen. The work itself is generic over
//! [`Transport`](transport_core::Transport): see [`Job`] and [`run`].

mod algorithm_option;
mod backend;
mod command_line;
mod job_options;
mod logging;
pub mod signals;

pub use algorithm_option::AlgorithmOption;
pub use backend::{
    BACKENDS, Choice, Job, LOOPBACK, Needs, Skipped, StartError, choose, examine, may_be_meant, named, run,
    usable,
};
pub use command_line::{WRONG, say_instead};
pub use job_options::JobOptions;
pub use logging::start_logging;
