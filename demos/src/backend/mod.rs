//! Which backend a job runs on.

mod choice;
mod examine;
#[cfg(feature = "loopback")]
mod loopback;
#[cfg(feature = "verbs")]
mod verbs;

use transport_core::Transport;
use transport_core::bootstrap::{Bootstrap, BootstrapError, JoinSpec};
use transport_core::config::JobConfig;

pub use choice::{Choice, LOOPBACK, Skipped, choose};
pub use examine::{Needs, examine, may_be_meant, usable};

use crate::job_options::JobOptions;

#[cfg(not(any(feature = "loopback", feature = "roce", feature = "xscale", feature = "hns1825")))]
compile_error!(
    "these programs need at least one backend: build with `--features loopback`, `roce`, `xscale` or `hns1825`"
);

/// The backends of this build, the preferred one first.
pub const BACKENDS: &[&str] = &[
    #[cfg(feature = "loopback")]
    transport_loopback::Loopback::BACKEND,
    #[cfg(feature = "xscale")]
    transport_xscale::BACKEND,
    #[cfg(feature = "hns1825")]
    transport_hns1825::BACKEND,
    #[cfg(feature = "roce")]
    transport_roce::Roce::BACKEND,
];

/// The backend of this build with this name, in small letters or capitals.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    BACKENDS.iter().copied().find(|known| name.eq_ignore_ascii_case(known))
}

/// Variables that backends of this build read, besides those of the job.
pub(crate) fn variables() -> Vec<&'static str> {
    #[cfg_attr(not(feature = "verbs"), allow(unused_mut))]
    let mut all = Vec::new();
    #[cfg(feature = "verbs")]
    all.extend_from_slice(transport_roce::RoceSettings::variables());
    all
}

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
    #[error("backend {name:?} ({origin}) is not in this build, which has {}; {}", BACKENDS.join(", "), choice::how_to_have(name))]
    NoSuchBackend {
        /// What was asked for.
        name: String,
        /// By whom.
        origin: String,
    },

    /// No backend of this build can run here.
    #[error("no backend of this build can run here: {}. Choose one by --backend or SHMEM_BACKEND", list(.0))]
    NoneUsable(Vec<Skipped>),

    /// The PEs did not come together.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),

    /// The loopback backend did not start.
    #[cfg(feature = "loopback")]
    #[error(transparent)]
    Loopback(#[from] transport_loopback::LoopbackError),

    /// A setting of the backends over NICs.
    #[cfg(feature = "verbs")]
    #[error(transparent)]
    RoceSettings(#[from] transport_roce::SettingsError),

    /// A backend over NICs did not start.
    #[cfg(feature = "verbs")]
    #[error(transparent)]
    Roce(#[from] transport_roce::RoceError),
}

impl StartError {
    /// The exit code of a program that could not start for it: [`WRONG`](crate::WRONG) where an option or a variable is wrong.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoSuchBackend { .. } => crate::WRONG,
            #[cfg(feature = "verbs")]
            Self::RoceSettings(_) => crate::WRONG,
            _ => 1,
        }
    }
}

fn list(skipped: &[Skipped]) -> String {
    skipped.iter().map(Skipped::to_string).collect::<Vec<_>>().join("; ")
}

/// Joins the job that `config` describes, and runs `job` on its backend.
///
/// # Errors
///
/// [`StartError`] if there is no transport; what happens afterwards is the job's own.
pub fn run<J: Job>(config: &JobConfig, options: &JobOptions, job: J) -> Result<J::Output, StartError> {
    let Choice { backend, reason, skipped } = choose(config, options)?;
    tracing::info!("backend {backend}: {reason}; this build has {}", BACKENDS.join(", "));
    for skipped in &skipped {
        // A NIC that is there and not used is hardly what is wanted.
        if skipped.present {
            tracing::warn!("backend {skipped}");
        } else {
            tracing::info!("backend {skipped}");
        }
    }
    let names_nic =
        options.device.is_some() || std::env::var_os("SHMEM_NIC").is_some_and(|nic| !nic.is_empty());
    if names_nic && backend == choice::LOOPBACK {
        tracing::warn!("a NIC is named, but the backend is {backend}, which uses none; choose by --backend");
    }
    match backend {
        #[cfg(feature = "loopback")]
        transport_loopback::Loopback::BACKEND => Ok(job.run(loopback::join(config)?)),
        #[cfg(feature = "verbs")]
        other => match verbs::kind(other) {
            Some(kind) => Ok(job.run(verbs::join(kind, config, options)?)),
            None => Err(choice::no_such(other, config)),
        },
        #[cfg(not(feature = "verbs"))]
        _ => Err(choice::no_such(backend, config)),
    }
}

/// Meets the other PEs, who must all have chosen `backend`.
async fn rendezvous(config: &JobConfig, backend: &str) -> Result<Bootstrap, BootstrapError> {
    let mut spec = JoinSpec::try_from(config)?;
    spec.backend = backend.to_owned();
    Bootstrap::join(spec).await
}
