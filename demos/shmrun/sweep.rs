//! Ending every process of a job, also those that left its process groups: they are known by the job id that all of
//! them inherited in their environment.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::identity::JOB_ID;

/// How often to look again: a process may start another between being seen and being killed.
const ROUNDS: usize = 100;

/// How long a killed process may take to go before it is looked for again.
const PAUSE: Duration = Duration::from_millis(5);

/// Sends `signal` to the process group that `leader` leads. A group that has ended needs none.
pub(crate) fn signal_group(leader: Pid, signal: Signal) {
    // ESRCH: nobody is left. EPERM: all of them changed their user and are no longer ours to signal.
    let _ = kill_process_group(leader, signal);
}

/// Kills all processes whose environment says that they belong to job `job_id`, and waits until they are gone.
///
/// Gives up after half a second on those that cannot be killed (stuck in the kernel).
pub(crate) fn kill_job(job_id: &str) {
    let mark = format!("{JOB_ID}={job_id}");
    for round in 0..ROUNDS {
        if round > 0 {
            sleep(PAUSE);
        }
        if !kill_marked(mark.as_bytes()) {
            return;
        }
    }
}

/// Kills each process that has `mark` in its environment. Returns whether there was one.
fn kill_marked(mark: &[u8]) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let mut found = false;
    for process in processes.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            found |= kill_if_marked(pid, mark) == Ok(true);
        }
    }
    found
}

/// Kills `pid` if it has `mark` in its environment, and returns whether it has.
fn kill_if_marked(pid: Pid, mark: &[u8]) -> Result<bool, Errno> {
    // Opened before the look at the environment, so that it is the process looked at that is killed.
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let environment = fs::read(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if !environment.split(|&byte| byte == 0).any(|variable| variable == mark) {
        return Ok(false);
    }
    pidfd_send_signal(&process, Signal::KILL)?;
    Ok(true)
}
