//! The choice among the backends of this build.

use std::fmt;

use transport_core::config::JobConfig;

use super::{BACKENDS, StartError};
use crate::job_options::JobOptions;

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The backend's name.
    pub backend: &'static str,
    /// For the log.
    pub reason: String,
    /// Those that would have come first.
    pub skipped: Vec<Skipped>,
}

/// A backend that was not chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The backend's name.
    pub backend: &'static str,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not used: {}", self.backend, self.reason)
    }
}

/// The backend that `config` asks for. If it asks for none: loopback where all PEs seem to be on one host, else one with a
/// network first; of these the first that can run here. All PEs must come to the same, which the rendezvous checks.
///
/// # Errors
///
/// [`StartError::NoSuchBackend`], [`StartError::NoneUsable`].
pub fn choose(config: &JobConfig, options: &JobOptions) -> Result<Choice, StartError> {
    if let Some(name) = &config.backend.value {
        let known = BACKENDS.iter().find(|known| *known == name).copied();
        let backend = known.ok_or_else(|| no_such(name, config))?;
        return Ok(Choice { backend, reason: config.backend.source.to_string(), skipped: Vec::new() });
    }
    // Who names a NIC means it.
    if let Some(roce) = BACKENDS.iter().copied().find(|&known| known == ROCE && options.device.is_some()) {
        return Ok(Choice { backend: roce, reason: "--device names a NIC".to_owned(), skipped: Vec::new() });
    }
    let here = options.pes_here.or(config.local_n_pes.value);
    let n_pes = config.n_pes.value;
    let several_hosts = here.is_some_and(|here| here < n_pes);
    let (mut order, mut skipped) = (BACKENDS.to_vec(), Vec::new());
    if several_hosts {
        // Stable: those with a network keep their order.
        order.sort_by_key(|backend| *backend == LOOPBACK);
    }
    for backend in order {
        match usable(backend, options) {
            Ok(()) => {
                let reason = match here {
                    Some(here) if several_hosts => format!("{here} of {n_pes} PEs are on this host"),
                    _ => "the first of this build that can run here".to_owned(),
                };
                return Ok(Choice { backend, reason, skipped });
            }
            Err(reason) => skipped.push(Skipped { backend, reason }),
        }
    }
    Err(StartError::NoneUsable(skipped))
}

const LOOPBACK: &str = "loopback";
pub(super) const ROCE: &str = "roce";

pub(super) fn no_such(name: &str, config: &JobConfig) -> StartError {
    StartError::NoSuchBackend { name: name.to_owned(), origin: config.backend.source.to_string() }
}

/// Whether a backend can run on this host, else why not.
#[cfg_attr(not(feature = "roce"), allow(unused_variables))]
fn usable(backend: &str, options: &JobOptions) -> Result<(), String> {
    #[cfg(feature = "roce")]
    if backend == transport_roce::Roce::BACKEND {
        let settings = super::roce::settings(options).map_err(|error| error.to_string())?;
        return transport_roce::usable(&settings).map_err(|error| error.to_string());
    }
    Ok(())
}
