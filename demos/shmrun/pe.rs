//! One PE as the launcher sees it: a process that will end somehow, and the streams it writes.

use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;

use demos::signals::{name_of_signal, signal_exit_code};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use crate::lines::LineAssembler;
use crate::output::Target;
use crate::sweep::signal_group;

/// How a PE ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It exited with this code.
    Exited(u8),
    /// This signal killed it.
    Killed(i32),
}

impl Fate {
    /// The fate that `waitid` reports; `None` for a process that has not ended.
    fn from_status(status: &WaitIdStatus) -> Option<Self> {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(Self::Exited(u8::try_from(code & 0xff).unwrap_or(u8::MAX))),
            (None, Some(signal)) => Some(Self::Killed(signal)),
            (None, None) => None,
        }
    }

    /// The exit code a shell would show for it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Killed(signal) => signal_exit_code(signal),
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::Killed(signal) => write!(f, "killed by {}", name_of_signal(signal)),
        }
    }
}

/// A PE's process. It is reaped only with the job: until then no other process, and no other group, gets its number.
#[derive(Debug)]
pub(crate) struct Pe {
    /// The process.
    child: Child,
    /// How it ended; `None` while it runs.
    pub(crate) fate: Option<Fate>,
    /// Whether the launcher told it to end before it did.
    pub(crate) told_to_end: bool,
}

impl Pe {
    /// A PE that has just been started.
    pub(crate) fn new(child: Child) -> Self {
        Self { child, fate: None, told_to_end: false }
    }

    /// Its process, which leads a process group of the same number.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Looks whether it has ended; returns its fate if that is new.
    pub(crate) fn look(&mut self) -> Option<Fate> {
        if self.fate.is_some() {
            return None;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = loop {
            match waitid(WaitId::Pid(self.pid()), options) {
                Err(Errno::INTR) => {}
                answer => break answer.ok()?,
            }
        };
        self.fate = status.as_ref().and_then(Fate::from_status);
        self.fate
    }

    /// Sends `signal` to it and to what it started.
    pub(crate) fn signal(&self, signal: Signal) {
        signal_group(self.pid(), signal);
    }

    /// Lets the system forget it, if it has ended.
    pub(crate) fn reap(&mut self) {
        // Waiting for one that cannot be killed would be for ever.
        if self.look().or(self.fate).is_some() {
            let _ = self.child.wait();
        }
    }
}

/// The launcher's end of standard output or standard error of a PE.
#[derive(Debug)]
pub(crate) struct PeStream {
    /// The pipe; `None` once it has ended.
    source: Option<OwnedFd>,
    /// Where its lines go.
    pub(crate) target: Target,
    /// The line in the making.
    lines: LineAssembler,
}

impl PeStream {
    /// Lines from `source` to `target`.
    pub(crate) fn new(source: Option<OwnedFd>, target: Target, lines: LineAssembler) -> Self {
        Self { source, target, lines }
    }

    /// The pipe, to be polled.
    pub(crate) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(|source| source.as_fd())
    }

    /// Reads once, which does not block on a pipe that is ready, and appends the whole lines to `out`.
    pub(crate) fn read(&mut self, buffer: &mut [u8], out: &mut Vec<u8>) {
        let Some(source) = &self.source else { return };
        match rustix::io::read(source, &mut *buffer) {
            Ok(count) if count > 0 => self.lines.feed(&buffer[..count], out),
            Err(Errno::INTR | Errno::AGAIN) => {}
            // The end, or an error that leaves nothing more to read.
            Ok(_) | Err(_) => self.close(out),
        }
    }

    /// Ends the stream here; a line that has begun is shown as it is.
    pub(crate) fn close(&mut self, out: &mut Vec<u8>) {
        self.source = None;
        self.lines.finish(out);
    }
}
