//! The long options that every program of a job takes, and the configuration they make.

use clap::Args;
use transport_core::config::{JobConfig, JobConfigBuilder, Key};

/// Options beside a program's own. What is not given comes from the environment, else from the default.
#[derive(Debug, Clone, Args)]
pub struct JobOptions {
    /// Backend [environment: SHMEM_BACKEND]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,

    /// Symmetric heap of each PE, e.g. 512MiB [environment: SHMEM_HEAP_SIZE; default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    pub heap: Option<String>,

    /// Limit of every wait, in seconds [environment: SHMEM_TIMEOUT; default: 120]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<String>,

    /// Verbs device of a backend over NICs, e.g. mlx5_0 or xscale_0:1; npu: that of the NPU [environment: SHMEM_NIC]
    #[cfg_attr(not(feature = "verbs"), arg(hide = true))]
    #[arg(long, value_name = "NAME[:PORT]")]
    pub device: Option<String>,

    /// Show every setting with its source, and log more
    #[arg(long, short)]
    pub verbose: bool,

    /// The NPU of this PE, if the program knows it, and what tells it.
    #[arg(skip)]
    pub npu: Option<(&'static str, u32)>,

    /// How many PEs are on this host, if the program knows it.
    #[arg(skip)]
    pub pes_here: Option<usize>,
}

impl JobOptions {
    /// A configuration in which these options override the environment; the program may add its own.
    #[must_use]
    pub fn configure(&self) -> JobConfigBuilder {
        JobConfig::builder()
            .with_optional_argument(Key::Backend, "--backend", self.backend.clone())
            .with_optional_argument(Key::HeapSize, "--heap", self.heap.clone())
            .with_optional_argument(Key::Timeout, "--timeout", self.timeout.clone())
            .with_known_names(&crate::backend::variables())
    }
}
