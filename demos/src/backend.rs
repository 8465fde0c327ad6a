//! Which backend a job runs on.

use transport_core::bootstrap::{Bootstrap, BootstrapError, JoinSpec};
use transport_core::config::JobConfig;
use transport_core::{Transport, wait};

#[cfg(not(feature = "loopback"))]
compile_error!("these programs need at least one backend: build with `--features loopback`");

/// The backends of this build, the preferred one first.
pub const BACKENDS: &[&str] = &[
    #[cfg(feature = "loopback")]
    transport_loopback::Loopback::BACKEND,
];

/// Work that runs on any backend.
pub trait Job {
    /// What it comes to.
    type Output;

    /// Does it, as this PE of the job.
    fn run<X: Transport>(self, transport: X) -> Self::Output;
}

/// Why a job did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A backend that this build does not have.
    #[error("backend {name:?} ({origin}) is not in this build, which has {}; the README lists the backends there are and the feature of each", BACKENDS.join(", "))]
    NoSuchBackend {
        /// What was asked for.
        name: String,
        /// By whom.
        origin: String,
    },

    /// The PEs did not come together.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),

    /// The loopback backend did not start.
    #[cfg(feature = "loopback")]
    #[error(transparent)]
    Loopback(#[from] transport_loopback::LoopbackError),
}

/// The backend that `config` asks for, else the preferred one.
///
/// # Errors
///
/// [`StartError::NoSuchBackend`].
pub fn backend_name(config: &JobConfig) -> Result<&'static str, StartError> {
    match &config.backend.value {
        None => Ok(BACKENDS[0]),
        Some(name) => {
            BACKENDS.iter().find(|known| *known == name).copied().ok_or_else(|| no_such(name, config))
        }
    }
}

fn no_such(name: &str, config: &JobConfig) -> StartError {
    StartError::NoSuchBackend { name: name.to_owned(), origin: config.backend.source.to_string() }
}

/// Joins the job that `config` describes, and runs `job` on its backend.
///
/// # Errors
///
/// [`StartError`] if there is no transport; what happens afterwards is the job's own.
pub fn run<J: Job>(config: &JobConfig, job: J) -> Result<J::Output, StartError> {
    let backend = backend_name(config)?;
    tracing::info!("backend {backend}; this build has {}", BACKENDS.join(", "));
    match backend {
        #[cfg(feature = "loopback")]
        transport_loopback::Loopback::BACKEND => {
            let heap_size = config.heap_size.value.bytes();
            let processes = transport_loopback::Processes::new(heap_size).timeout(config.timeout.value);
            let transport = wait::block_on(async {
                let mut spec = JoinSpec::try_from(config)?;
                spec.backend = backend.to_owned();
                let bootstrap = Bootstrap::join(spec).await?;
                Ok::<_, StartError>(processes.connect(bootstrap).await?)
            })?;
            Ok(job.run(transport))
        }
        _ => Err(no_such(backend, config)),
    }
}
