//! Runs a program that may hang or print without end: both are bounded.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

/// The most bytes of output that are kept; more than that is no answer of `hccn_tool`.
const MAX_OUTPUT: usize = 64 << 10;
/// How often is looked whether the program has ended, in case somebody else holds its output open.
const TICK: Duration = Duration::from_millis(20);
/// How long a killed program may take to end.
const REAP_LIMIT: Duration = Duration::from_secs(1);

/// How a run ended, with what it printed (both streams, in the order in which they came).
#[derive(Debug)]
pub(super) struct Run {
    pub(super) end: End,
    pub(super) output: String,
}

#[derive(Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    /// It was killed at the time limit.
    TimedOut,
    /// It was killed because it printed too much.
    TooMuch,
}

/// Runs `command` for at most `limit`. What it started goes with it when it is killed.
///
/// # Errors
/// If it cannot be started or watched.
pub(super) fn run(mut command: Command, limit: Duration) -> io::Result<Run> {
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let mut output = Vec::new();
    let end = watch(&mut child, &mut output, deadline);
    if !matches!(end, Ok(End::Exited(_))) {
        kill(&mut child);
    }
    // Garbage is shown as far as it can be.
    Ok(Run { end: end?, output: String::from_utf8_lossy(&output).into_owned() })
}

fn watch(child: &mut Child, output: &mut Vec<u8>, deadline: Instant) -> io::Result<End> {
    let mut pipes: Vec<Box<dyn Pipe>> = Vec::new();
    pipes.extend(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>));
    pipes.extend(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>));
    let mut ended = None;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() && ended.is_none() {
            return Ok(End::TimedOut);
        }
        // After its end only what is there already is read: a child of its own may hold the pipe open for ever.
        let wait = if ended.is_some() { Duration::ZERO } else { left.min(TICK) };
        let read = read_ready(&mut pipes, output, wait)?;
        if output.len() > MAX_OUTPUT {
            output.truncate(MAX_OUTPUT);
            return Ok(End::TooMuch);
        }
        match ended {
            Some(status) if !read => return Ok(End::Exited(status)),
            Some(_) => {}
            None => ended = child.try_wait()?,
        }
    }
}

/// Reads once from each pipe that has something within `wait`; whether there was anything.
fn read_ready(pipes: &mut Vec<Box<dyn Pipe>>, output: &mut Vec<u8>, wait: Duration) -> io::Result<bool> {
    if pipes.is_empty() {
        // Its output is closed, so only its end is waited for.
        std::thread::sleep(wait.min(Duration::from_millis(1)));
        return Ok(false);
    }
    let ready: Vec<bool> = {
        let mut polled: Vec<PollFd<'_>> =
            pipes.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)).collect();
        let limit = Timespec::try_from(wait).map_err(io::Error::other)?;
        match poll(&mut polled, Some(&limit)) {
            Ok(_) => polled.iter().map(|fd| !fd.revents().is_empty()).collect(),
            Err(rustix::io::Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    };
    let mut read = false;
    let mut open = Vec::with_capacity(pipes.len());
    for (mut pipe, ready) in pipes.drain(..).zip(ready) {
        let mut buffer = [0; 4096];
        if !ready {
            open.push(pipe);
            continue;
        }
        // A ready pipe does not block; 0 bytes are its end.
        match pipe.read(&mut buffer) {
            Ok(0) => {}
            Ok(n) => {
                read = true;
                output.extend_from_slice(buffer.get(..n).unwrap_or_default());
                open.push(pipe);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => open.push(pipe),
            Err(error) => return Err(error),
        }
    }
    *pipes = open;
    Ok(read)
}

/// Kills `child` with its group, and reaps it.
fn kill(child: &mut Child) {
    // Once it is reaped its number may be another's.
    if matches!(child.try_wait(), Ok(Some(_))) {
        return;
    }
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It leads a group of its own, and is not reaped yet.
        if let Err(error) = kill_process_group(pid, Signal::KILL) {
            tracing::debug!(%error, "hccn_tool's group could not be killed");
        }
    }
    // Once more by itself, in case that the group could not be.
    if let Err(error) = child.kill() {
        tracing::debug!(%error, "hccn_tool could not be killed");
    }
    let deadline = Instant::now() + REAP_LIMIT;
    while matches!(child.try_wait(), Ok(None)) {
        // One that hangs in the driver dies only when the driver lets go of it; nobody waits for that.
        if Instant::now() >= deadline {
            tracing::warn!(
                "hccn_tool (process {}) was killed but does not end; is the driver stuck?",
                child.id()
            );
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A pipe that can be waited for.
trait Pipe: Read + AsFd {}
impl<P: Read + AsFd> Pipe for P {}
