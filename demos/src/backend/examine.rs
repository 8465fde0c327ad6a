//! The checks of a backend, by the same options as those of a job.

use std::net::SocketAddr;

use transport_core::checks::Section;

use super::StartError;
use crate::job_options::JobOptions;

/// What a job would need of this host.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// Bytes of each PE's symmetric heap.
    pub heap_bytes: u64,
    /// PEs on this host.
    pub pes_here: usize,
    /// Where PE 0 serves the rendezvous, if that is known: it tells which NIC is used.
    pub rendezvous: Option<SocketAddr>,
}

/// The checks of `backend`, which must be one of [`BACKENDS`](super::BACKENDS); of another there are none.
///
/// # Errors
///
/// [`StartError`] if a setting is wrong.
#[cfg_attr(not(feature = "verbs"), allow(unused_variables))]
pub fn examine(backend: &str, options: &JobOptions, needs: Needs) -> Result<Vec<Section>, StartError> {
    #[cfg(feature = "loopback")]
    if backend == transport_loopback::Loopback::BACKEND {
        return Ok(vec![transport_loopback::checks::examine(needs.heap_bytes, needs.pes_here)]);
    }
    #[cfg(feature = "verbs")]
    if let Some(kind) = super::verbs::kind(backend) {
        let settings = super::verbs::settings(options)?;
        let Needs { heap_bytes, pes_here, rendezvous } = needs;
        return Ok(transport_roce::checks::examine(kind, &settings, heap_bytes, pes_here, rendezvous));
    }
    Ok(Vec::new())
}

/// Whether this host has a NIC that only `backend` is for, or `backend` is for no certain kind of NIC.
#[must_use]
#[cfg_attr(not(feature = "verbs"), allow(unused_variables))]
pub fn may_be_meant(backend: &str) -> bool {
    #[cfg(feature = "verbs")]
    if let Some(kind) = super::verbs::kind(backend) {
        return kind.device_prefix.is_none() || transport_roce::is_present(kind);
    }
    true
}

/// Whether `backend` could run here by its NICs alone, else why not: a short form of [`examine`].
///
/// # Errors
///
/// Why not.
#[cfg_attr(not(feature = "verbs"), allow(unused_variables))]
pub fn usable(backend: &str, options: &JobOptions) -> Result<(), String> {
    #[cfg(feature = "verbs")]
    if let Some(kind) = super::verbs::kind(backend) {
        let settings = super::verbs::settings(options).map_err(|error| error.to_string())?;
        return transport_roce::usable(kind, &settings).map_err(|error| error.to_string());
    }
    Ok(())
}
