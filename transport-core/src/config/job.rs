//! The configuration itself.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::builder::JobConfigBuilder;
use super::byte_size::ByteSize;
use super::environment::ProcessEnvironment;
use super::error::ConfigError;
use super::interface::Interface;
use super::key::Key;
use super::known_names::UnknownName;
use super::log_level::LogLevel;
use super::rendezvous::RendezvousAddress;
use super::secret::Secret;
use super::setting::{Setting, Source};
use crate::collectives::AllGatherAlgorithm;

/// The smallest symmetric heap.
pub const MIN_HEAP_SIZE: ByteSize = ByteSize::new(64 << 10);
/// The largest symmetric heap.
pub const MAX_HEAP_SIZE: ByteSize = ByteSize::new(40 << 30);
/// The symmetric heap if nobody says anything.
pub const DEFAULT_HEAP_SIZE: ByteSize = ByteSize::new(1 << 30);
/// The deadline of a call if nobody says anything.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// The most bytes of a job id.
pub const MAX_JOB_ID_LEN: usize = 256;
/// The most bytes of a backend's name.
pub const MAX_BACKEND_LEN: usize = 64;
/// The most PEs a job can have.
pub const MAX_PES: usize = 1 << 16;

/// Everything that a PE must know to take part in its job, and where each value came from.
///
/// Displays one line for each value, for `--verbose`; the secret is not shown.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobConfig {
    /// This PE's number, below `n_pes`.
    pub my_pe: Setting<usize>,
    /// How many PEs the job has, 1 to [`MAX_PES`].
    pub n_pes: Setting<usize>,
    /// This PE's number among those of its host, if the launcher tells.
    pub local_pe: Setting<Option<usize>>,
    /// How many PEs of the job are on this host, if the launcher tells.
    pub local_n_pes: Setting<Option<usize>>,
    /// Where PE 0 serves the rendezvous.
    pub rendezvous: Setting<RendezvousAddress>,
    /// The network interface to use, if it matters.
    pub ifname: Setting<Option<Interface>>,
    /// How much to log.
    pub log_level: Setting<LogLevel>,
    /// The backend's name; the program has its own default.
    pub backend: Setting<Option<String>>,
    /// Bytes of the symmetric heap, [`MIN_HEAP_SIZE`]`..=`[`MAX_HEAP_SIZE`].
    pub heap_size: Setting<ByteSize>,
    /// How AllGathers are done whose algorithm the program leaves open; [`Auto`](AllGatherAlgorithm::Auto): by size, PE count and
    /// backend.
    pub all_gather: Setting<AllGatherAlgorithm>,
    /// Deadline of every call.
    pub timeout: Setting<Duration>,
    /// What all PEs must know to be let in, if anything.
    pub secret: Setting<Option<Secret>>,
    /// Tells this job from others that may use the same address; may be empty.
    pub job_id: Setting<String>,
    /// On PE 0: the number of an inherited socket that listens already.
    pub listener_fd: Setting<Option<i32>>,
    /// Where PE 0 publishes its real address, and where the others look for it if the port is 0.
    pub rendezvous_file: Setting<Option<PathBuf>>,
    pub(super) unknown: Vec<UnknownName>,
}

impl JobConfig {
    /// Begins a configuration that reads the environment of this process; see [`JobConfigBuilder`].
    #[must_use]
    pub fn builder() -> JobConfigBuilder {
        JobConfigBuilder::new(ProcessEnvironment)
    }

    /// The configuration that the environment of this process gives.
    ///
    /// # Errors
    /// If something is missing or wrong; see [`ConfigError`].
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::builder().build()
    }

    /// Variables that begin with `SHMEM_` and that nobody reads, each a warning to log.
    #[must_use]
    pub fn unknown_names(&self) -> &[UnknownName] {
        &self.unknown
    }

    /// One line for each value with its source, for `--verbose`.
    #[must_use]
    pub fn describe(&self) -> String {
        self.to_string()
    }

    fn row(&self, key: Key) -> (String, &Source) {
        fn or_none<T: fmt::Display>(setting: &Setting<Option<T>>) -> (String, &Source) {
            (setting.value.as_ref().map_or_else(|| "none".to_owned(), T::to_string), &setting.source)
        }
        fn plain<T: fmt::Display>(setting: &Setting<T>) -> (String, &Source) {
            (setting.value.to_string(), &setting.source)
        }
        match key {
            Key::Pe => plain(&self.my_pe),
            Key::NPes => plain(&self.n_pes),
            Key::LocalPe => or_none(&self.local_pe),
            Key::LocalNPes => or_none(&self.local_n_pes),
            Key::Rendezvous => plain(&self.rendezvous),
            Key::Ifname => or_none(&self.ifname),
            Key::LogLevel => plain(&self.log_level),
            Key::Backend => or_none(&self.backend),
            Key::HeapSize => plain(&self.heap_size),
            Key::AllGather => plain(&self.all_gather),
            Key::Timeout => (format!("{} s", self.timeout.value.as_secs_f64()), &self.timeout.source),
            Key::Secret => or_none(&self.secret),
            Key::JobId => (format!("{:?}", self.job_id.value), &self.job_id.source),
            Key::ListenerFd => or_none(&self.listener_fd),
            Key::RendezvousFile => {
                let (file, source) = (&self.rendezvous_file.value, &self.rendezvous_file.source);
                (file.as_ref().map_or_else(|| "none".to_owned(), |path| path.display().to_string()), source)
            }
        }
    }
}

impl fmt::Display for JobConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in Key::ALL.into_iter().enumerate() {
            let (value, source) = self.row(key);
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{:<18} {value} ({source})", key.title())?;
        }
        Ok(())
    }
}
