//! The guard: a process that outlives the launcher by a moment, and ends what is left of the job if the launcher was
//! killed before it could do so itself.
//!
//! The kernel ends each PE with the launcher (see `become_pe`), but not what the PEs started. The guard holds the read
//! end of a pipe; its end without a farewell means that the launcher died.

use std::env::ArgsOs;
use std::io::{Read as _, Write as _};
use std::iter::Skip;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};

use crate::become_pe::own_program;
use crate::error::LaunchError;
use crate::{say, sweep};

/// The first argument of a `shmrun` in this role.
pub(crate) const ROLE: &str = "__guard";

/// What the launcher writes when it has ended the job itself.
const FAREWELL: &[u8] = b".";

/// The launcher's side. Dropping it without [`Guard::dismiss`] makes the guard end the job.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts the guard of job `job_id`.
    pub(crate) fn start(job_id: &str) -> Result<Self, LaunchError> {
        let mut command = Command::new(own_program());
        // Not named like the launcher: who kills all `shmrun` by name does not mean the one that cleans up after it.
        command.arg0("shm-job-guard").arg(ROLE).arg(job_id).env_clear().current_dir("/");
        // A group of its own: Ctrl-C at the terminal is not for the guard.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(LaunchError::system("start the process that guards the job"))
    }

    /// The job has ended and nothing is left of it; ends the guard as well.
    pub(crate) fn dismiss(mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            // Should the guard be gone already, there is nothing to dismiss.
            let _ = pipe.write_all(FAREWELL);
        }
        let _ = self.0.wait();
    }
}

/// The guard's side: waits until the launcher ends, and if it said no farewell kills the job.
pub(crate) fn watch(mut arguments: Skip<ArgsOs>) -> ExitCode {
    let Some(job_id) = arguments.next().and_then(|job_id| job_id.into_string().ok()) else {
        say("shmrun: this way of calling shmrun is its own; see `shmrun --help`");
        return ExitCode::from(demos::WRONG);
    };
    let mut last_words = Vec::new();
    let _ = std::io::stdin().lock().read_to_end(&mut last_words);
    if last_words != FAREWELL {
        sweep::kill_job(&job_id);
    }
    ExitCode::SUCCESS
}
