//! A child process that cannot outlast its deadline, with all that it started.

use std::io::Read;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, set_parent_process_death_signal,
};

use crate::interrupt;

/// How long a launcher may take to end what it started, once told to.
const GRACE: Duration = Duration::from_secs(3);
/// How long its pipes may take to end after it.
const DRAIN: Duration = Duration::from_secs(3);

/// What a wait was ended by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    /// The child's end.
    Ended,
    /// The clock.
    Late,
    /// A signal that this program is to end.
    Interrupted,
}

/// What became of a child.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) out: String,
    pub(crate) err: String,
    /// From its start to its end.
    pub(crate) took: Duration,
    /// Nothing: it was killed at its deadline.
    pub(crate) status: Option<ExitStatus>,
}

/// A child that runs. Killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    started: Instant,
    out: Receiver<String>,
    err: Receiver<String>,
    ended: bool,
}

impl Running {
    /// Starts it as the leader of a process group of its own, which gets a SIGTERM if this program goes first.
    ///
    /// # Errors
    ///
    /// If the system cannot, or this program was told to end.
    pub(crate) fn start(mut command: Command) -> std::io::Result<Self> {
        if let Some(signal) = interrupt::signal() {
            return Err(interrupted(signal));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // SAFETY: between fork and exec it does one system call, which takes no lock and no memory.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
        }
        let started = Instant::now();
        let mut child = command.spawn()?;
        let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
        Ok(Self { child, started, out, err, ended: false })
    }

    /// Waits for its end, but not past `deadline` after its start.
    ///
    /// # Errors
    ///
    /// If the system cannot, or this program is told to end; it is killed then.
    pub(crate) fn wait(mut self, deadline: Duration) -> std::io::Result<Ended> {
        let waited = self.wait_until(self.started + deadline, interrupt::source())?;
        let took = self.started.elapsed();
        if let (Waited::Interrupted, Some(signal)) = (waited, interrupt::signal()) {
            return Err(interrupted(signal));
        }
        let in_time = waited == Waited::Ended;
        if !in_time {
            self.kill();
        }
        let status = self.child.wait()?;
        self.ended = true;
        // A grandchild may keep a pipe open; what it holds is not waited for any longer than this.
        let text = |from: &Receiver<String>| from.recv_timeout(DRAIN).unwrap_or_default();
        Ok(Ended { out: text(&self.out), err: text(&self.err), took, status: in_time.then_some(status) })
    }

    /// Until its end, but not past `end`, nor once `interrupt` is readable.
    fn wait_until(&self, end: Instant, interrupt: Option<BorrowedFd<'_>>) -> std::io::Result<Waited> {
        let pidfd = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            let mut files = vec![PollFd::new(&pidfd, PollFlags::IN)];
            files.extend(interrupt.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)));
            match poll(&mut files, Some(&left)) {
                Ok(0) if Instant::now() >= end => return Ok(Waited::Late),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) if files[0].revents().is_empty() => return Ok(Waited::Interrupted),
                Ok(_) => return Ok(Waited::Ended),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Asks it to end, then kills it and what is left of what it started: launchers give their processes groups of their own.
    fn kill(&mut self) {
        let pid = Pid::from_child(&self.child);
        let below = Process::all_below(pid);
        let _ = kill_process_group(pid, Signal::TERM);
        let _ = self.wait_until(Instant::now() + GRACE, None);
        // It is not reaped yet, so its number is still its own.
        let _ = kill_process_group(pid, Signal::KILL);
        for process in below.iter().filter(|process| process.still_runs()) {
            let _ = kill_process(process.pid, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

fn interrupted(signal: i32) -> std::io::Error {
    std::io::Error::other(format!("ended by {}", demos::signals::name_of_signal(signal)))
}

/// Reads it to its end on a thread of its own, so that its writer never waits.
fn drain(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is shown.
        let _ = from.map(|mut from| from.read_to_end(&mut bytes));
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

/// A process, told apart from a later one of the same number by when it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: Pid,
    parent: i32,
    started: u64,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Self::parse(pid, &stat)
    }

    /// The name stands in parentheses and may hold anything; see proc_pid_stat(5).
    fn parse(pid: i32, stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let (parent, started) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
        Some(Self { pid: Pid::from_raw(pid)?, parent, started })
    }

    fn all_below(pid: Pid) -> Vec<Self> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let all: Vec<Self> = pids.filter_map(Self::read).collect();
        let (mut below, mut parents) = (Vec::new(), vec![pid.as_raw_nonzero().get()]);
        while let Some(parent) = parents.pop() {
            let children = all.iter().filter(|process| process.parent == parent);
            below.extend(children.clone());
            parents.extend(children.map(|process| process.pid.as_raw_nonzero().get()));
        }
        below
    }

    fn still_runs(&self) -> bool {
        Self::read(self.pid.as_raw_nonzero().get()).is_some_and(|now| now.started == self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_it_writes_and_how_it_ends_is_known() {
        let running = Running::start(shell("echo out; echo err >&2; exit 3")).unwrap();
        let ended = running.wait(Duration::from_secs(60)).unwrap();
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("out\n", "err\n"));
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
    }

    #[test]
    fn past_its_deadline_nothing_of_it_is_left() {
        // The grandchild has a group of its own, as a launcher's processes have.
        let script = "set -m; sleep 600 & echo $!; trap '' TERM; wait; wait";
        let ended = Running::start(shell(script)).unwrap().wait(Duration::from_millis(300)).unwrap();
        assert!(ended.status.is_none());
        let grandchild: i32 = ended.out.trim().parse().unwrap();
        let begun = Instant::now();
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
            // Dead but not yet reaped by whoever adopted it is dead.
            !stat.is_empty() && !stat.contains(") Z ")
        };
        while runs() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{grandchild} still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let mut stat = "7 (a) b (c) S 5".to_owned();
        (0..17).for_each(|_| stat.push_str(" 0"));
        stat.push_str(" 99 0");
        let process = Process::parse(7, &stat).unwrap();
        assert_eq!((process.parent, process.started), (5, 99));
        assert_eq!(Process::parse(7, "7 (x"), None);
    }
}
