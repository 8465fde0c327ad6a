//! What tells a PE who it is: the environment the launcher gives it.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::Command;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use transport_core::config::Key;

use crate::error::LaunchError;
use crate::options::Options;

/// The number of the PE.
const PE: &str = Key::Pe.variable();
/// How many PEs the job has.
const N_PES: &str = Key::NPes.variable();
/// The number of the PE among those of its host.
const LOCAL_PE: &str = Key::LocalPe.variable();
/// How many PEs its host has.
const LOCAL_N_PES: &str = Key::LocalNPes.variable();
/// Where the PEs meet.
const SESSION: &str = Key::Rendezvous.variable();
/// What tells this job from any other, before or beside it.
pub(crate) const JOB_ID: &str = Key::JobId.variable();
/// The listening socket that PE 0 inherits.
pub(crate) const RENDEZVOUS_FD: &str = Key::ListenerFd.variable();
/// What only the PEs of this job know.
const SECRET: &str = Key::Secret.variable();
/// The backend.
const BACKEND: &str = Key::Backend.variable();
/// The size of the symmetric heap.
const HEAP_SIZE: &str = Key::HeapSize.variable();

/// The names that the launcher alone gives: `--env` may not set them.
pub(crate) const NAMES: [&str; 7] = [PE, N_PES, LOCAL_PE, LOCAL_N_PES, SESSION, JOB_ID, RENDEZVOUS_FD];

/// What all PEs of a job have in common.
#[derive(Debug)]
pub(crate) struct JobIdentity {
    /// How many PEs it has.
    n_pes: usize,
    /// Random, in hexadecimal: also what the processes of the job are found by at its end.
    job_id: String,
    /// The variables that are the same for all PEs, in the order in which they are set.
    variables: Vec<(OsString, OsString)>,
}

impl JobIdentity {
    /// A new job of `options.n_pes` PEs that meet at `session`.
    pub(crate) fn new(options: &Options, session: String) -> Result<Self, LaunchError> {
        let job_id = random_hex::<8>()?;
        let n_pes = options.n_pes.to_string();
        let mut variables: Vec<(OsString, OsString)> = vec![
            (N_PES.into(), n_pes.clone().into()),
            (LOCAL_N_PES.into(), n_pes.into()),
            (SESSION.into(), session.into()),
            (JOB_ID.into(), job_id.clone().into()),
        ];
        let has_secret =
            env::var_os(SECRET).is_some() || options.variables.iter().any(|(name, _)| name == SECRET);
        if !options.no_secret && !has_secret {
            variables.push((SECRET.into(), random_hex::<32>()?.into()));
        }
        let chosen = [(BACKEND, &options.backend), (HEAP_SIZE, &options.heap)];
        variables.extend(chosen.into_iter().filter_map(|(name, value)| Some((name.into(), value.clone()?))));
        variables.extend(options.variables.iter().cloned());
        Ok(Self { n_pes: options.n_pes, job_id, variables })
    }

    /// How many PEs the job has.
    pub(crate) fn n_pes(&self) -> usize {
        self.n_pes
    }

    /// What the processes of this job are found by.
    pub(crate) fn job_id(&self) -> &str {
        &self.job_id
    }

    /// Gives `command` the identity of `pe`. What else is in the environment stays: ours takes precedence.
    pub(crate) fn give(&self, pe: usize, command: &mut Command) {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env(PE, pe.to_string()).env(LOCAL_PE, pe.to_string());
        // Where shmrun runs inside a job of another launcher, that job's socket is not this job's.
        command.env_remove(RENDEZVOUS_FD);
    }
}

/// `N` random bytes from the system, in hexadecimal.
fn random_hex<const N: usize>() -> Result<String, LaunchError> {
    let mut bytes = [0u8; N];
    loop {
        match getrandom(&mut bytes[..], GetRandomFlags::empty()) {
            // Up to 256 bytes come whole; a shorter answer would be a broken system, and asking again is harmless.
            Ok(count) if count == N => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(LaunchError::system("draw a random job id")(errno)),
        }
    }
    Ok(bytes.iter().fold(String::with_capacity(2 * N), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
