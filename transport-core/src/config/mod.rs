//! One typed configuration of a job, in which every value knows where it came from.
//!
//! A [`JobConfig`] is built from arguments, the environment and defaults, in that order of precedence:
//!
//! ```
//! use transport_core::config::{JobConfig, Key, MapEnvironment};
//!
//! let environment = MapEnvironment::from([
//!     ("SHMEM_UID_SESSION_ID", "tcp://[::1]:8899"),
//!     ("SHMEM_HEAP_SIZE", "64MiB"),
//! ]);
//! let config = JobConfig::builder()
//!     .with_environment(environment)
//!     .with_argument(Key::Pe, "<pe_id>", "1")
//!     .with_argument(Key::NPes, "<n_pes>", "2")
//!     .build()?;
//! assert_eq!(config.my_pe.value, 1);
//! assert_eq!(config.heap_size.to_string(), "64 MiB (environment SHMEM_HEAP_SIZE)");
//! # Ok::<(), transport_core::config::ConfigError>(())
//! ```

mod builder;
mod byte_size;
mod environment;
mod error;
mod identity;
mod interface;
mod job;
mod key;
mod known_names;
mod log_level;
mod rendezvous;
mod seconds;
mod secret;
mod setting;

pub use builder::JobConfigBuilder;
pub use byte_size::{ByteSize, ByteSizeError};
pub use environment::{EnvironmentSource, MapEnvironment, ProcessEnvironment};
pub use error::ConfigError;
pub use interface::{AddressFamily, Interface, InterfaceError};
pub use job::{
    DEFAULT_HEAP_SIZE, DEFAULT_TIMEOUT, JobConfig, MAX_BACKEND_LEN, MAX_HEAP_SIZE, MAX_JOB_ID_LEN, MAX_PES,
    MIN_HEAP_SIZE,
};
pub use key::Key;
pub use known_names::UnknownName;
pub use log_level::LogLevel;
pub use rendezvous::{AddressError, Host, RendezvousAddress};
pub use seconds::{MAX_TIMEOUT, MIN_TIMEOUT, SecondsError, parse_seconds};
pub use secret::Secret;
pub use setting::{Setting, Source};
