//! Room for the pipes of many PEs: the limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::LaunchError;

/// What the launcher holds beside two pipes a PE: its own streams, signals, guard, and what starting one PE takes.
const OWN_FILES: u64 = 40;

/// The soft limit as it was before the launcher raised it, for the PEs to have it back; `None` if it was not raised.
pub(crate) type FormerLimit = Option<u64>;

/// Raises the soft limit on open files as far as `n_pes` PEs need.
pub(crate) fn make_room_for(n_pes: usize) -> Result<FormerLimit, LaunchError> {
    let needed = (n_pes as u64).saturating_mul(2).saturating_add(OWN_FILES);
    let limits = getrlimit(Resource::Nofile);
    let Some(soft) = limits.current.filter(|&soft| soft < needed) else { return Ok(None) };
    if let Some(limit) = limits.maximum.filter(|&hard| hard < needed) {
        return Err(LaunchError::TooManyOpenFiles { n_pes, needed, limit });
    }
    set_soft_limit(needed).map_err(LaunchError::system("raise the limit on open files"))?;
    Ok(Some(soft))
}

/// Sets the soft limit on open files of this process.
pub(crate) fn set_soft_limit(soft: u64) -> rustix::io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum })
}
