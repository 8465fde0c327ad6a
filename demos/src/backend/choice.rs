//! The choice among the backends of this build.

use std::fmt;

use transport_core::config::JobConfig;

use super::examine::usable;
use super::{BACKENDS, StartError, named};
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
    /// This host has a NIC for it, so that it may be meant.
    pub present: bool,
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
/// [`StartError::NoSuchBackend`], [`StartError::NoneUsable`], or a wrong setting of a backend that may be meant.
pub fn choose(config: &JobConfig, options: &JobOptions) -> Result<Choice, StartError> {
    if let Some(name) = &config.backend.value {
        let backend = named(name).ok_or_else(|| no_such(name, config))?;
        return Ok(Choice { backend, reason: config.backend.source.to_string(), skipped: Vec::new() });
    }
    let here = options.pes_here.or(config.local_n_pes.value);
    let n_pes = config.n_pes.value;
    let several_hosts = here.is_some_and(|here| here < n_pes);
    // Who names a NIC means it; in the environment it may be there for other jobs, of several hosts.
    let names_nic = options.device.is_some();
    #[cfg(feature = "verbs")]
    let names_nic = if names_nic || several_hosts {
        let settings = super::verbs::settings(options)?;
        if let Some(kind) = super::verbs::kind_of_named(&settings) {
            let reason = format!("{} names a NIC of its kind", settings.nic.source);
            return Ok(Choice { backend: kind.backend, reason, skipped: Vec::new() });
        }
        settings.nic.value != transport_roce::NicWish::Auto
    } else {
        names_nic
    };
    let (mut order, mut skipped) = (BACKENDS.to_vec(), Vec::new());
    if several_hosts || names_nic {
        // Stable: those with a network keep their order.
        order.sort_by_key(|backend| *backend == LOOPBACK);
    }
    order.retain(|backend| *backend != LOOPBACK || !names_nic);
    for backend in order {
        match usable(backend, options) {
            Ok(()) => {
                let reason = match here {
                    _ if names_nic => "a NIC is named".to_owned(),
                    Some(here) if several_hosts => format!("{here} of {n_pes} PEs are on this host"),
                    _ => "the first of this build that can run here".to_owned(),
                };
                return Ok(Choice { backend, reason, skipped });
            }
            Err(reason) => skipped.push(Skipped { backend, reason, present: is_present(backend) }),
        }
    }
    Err(StartError::NoneUsable(skipped))
}

/// Whether this host has a NIC for `backend`.
#[cfg_attr(not(feature = "verbs"), allow(unused_variables))]
pub(super) fn is_present(backend: &str) -> bool {
    #[cfg(feature = "verbs")]
    if let Some(kind) = super::verbs::kind(backend) {
        return transport_roce::is_present(kind);
    }
    false
}

/// The backend that needs no NIC, whether this build has it or not.
pub const LOOPBACK: &str = "loopback";

/// All backends that there are, whether this build has them or not; each is a cargo feature of the same name.
const ALL: [&str; 4] = [LOOPBACK, "roce", "xscale", "hns1825"];

/// How to get a build that has backend `name`.
pub(super) fn how_to_have(name: &str) -> String {
    if let Some(known) = ALL.iter().find(|known| name.eq_ignore_ascii_case(known)) {
        return format!("build with `--features demos/{known}`, or choose one of these");
    }
    format!("there are {}; each is a cargo feature", ALL.join(", "))
}

pub(super) fn no_such(name: &str, config: &JobConfig) -> StartError {
    StartError::NoSuchBackend { name: name.to_owned(), origin: config.backend.source.to_string() }
}
