//! The role between the launcher and a PE's program: prepares its own process, then becomes the program.

use std::env::{self, ArgsOs};
use std::ffi::{OsStr, OsString};
use std::iter::Skip;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::{Errno, dup};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::bind;
use crate::identity::RENDEZVOUS_FD;
use crate::open_files::{FormerLimit, set_soft_limit};
use crate::say;

/// The first argument of a `shmrun` in this role.
pub(crate) const ROLE: &str = "__become_pe";

/// Stands for "none" among the arguments.
const NONE: &str = "-";

/// What the launcher tells the process that is to become a PE.
#[derive(Debug)]
pub(crate) struct Orders {
    /// The number of the PE, for messages.
    pub(crate) pe: usize,
    /// The process that started this one and with which it ends.
    pub(crate) launcher: Pid,
    /// The limit on open files to go back to.
    pub(crate) open_files: FormerLimit,
    /// Whether it runs on one processor, by its number.
    pub(crate) bind_to_core: bool,
    /// Whether standard input is the listening socket of the rendezvous.
    pub(crate) has_rendezvous: bool,
    /// The program's file.
    pub(crate) program: PathBuf,
    /// The program's name for itself and its arguments.
    pub(crate) command: Vec<OsString>,
}

impl Orders {
    /// As arguments of this role.
    pub(crate) fn write(&self, command: &mut Command) {
        let open_files = self.open_files.map_or(NONE.to_owned(), |limit| limit.to_string());
        command
            .arg(ROLE)
            .arg(self.pe.to_string())
            .arg(self.launcher.as_raw_nonzero().to_string())
            .arg(open_files);
        command.arg(self.bind_to_core.to_string());
        command.arg(self.has_rendezvous.to_string()).arg(&self.program).args(&self.command);
    }

    /// From the arguments of this role; `None` if the launcher did not write them.
    fn read(mut arguments: Skip<ArgsOs>) -> Option<Self> {
        let mut next = || arguments.next()?.into_string().ok();
        let pe = next()?.parse().ok()?;
        let launcher = Pid::from_raw(next()?.parse().ok()?)?;
        let open_files = match next()? {
            none if none == NONE => None,
            limit => Some(limit.parse().ok()?),
        };
        let bind_to_core = next()?.parse().ok()?;
        let has_rendezvous = next()?.parse().ok()?;
        let program = arguments.next()?.into();
        let command = arguments.collect();
        Some(Self { pe, launcher, open_files, bind_to_core, has_rendezvous, program, command })
    }
}

/// Becomes the PE's program. Returns only if that is impossible, with the exit code a shell would give.
pub(crate) fn become_pe(arguments: Skip<ArgsOs>) -> ExitCode {
    let Some(orders) = Orders::read(arguments) else {
        say("shmrun: this way of calling shmrun is its own; see `shmrun --help`");
        return ExitCode::from(demos::WRONG);
    };
    if orders.bind_to_core
        && let Err(errno) = bind::bind_to_core(orders.pe)
    {
        say(&format!("shmrun: PE {} cannot be bound to a processor: {errno}; leave --bind out", orders.pe));
        return ExitCode::from(126);
    }
    let errno = match prepare_and_exec(&orders) {
        Ok(never) => match never {},
        Err(errno) => errno,
    };
    let remedy = match errno {
        Errno::NOENT => "the interpreter or loader that it names is missing",
        Errno::NOEXEC => "it is no program for this machine, or a script without `#!`",
        _ => "check the file and the limits of this shell (`ulimit -a`)",
    };
    let (pe, program) = (orders.pe, orders.program.display());
    say(&format!("shmrun: PE {pe} cannot become {program}: {errno}; {remedy}"));
    ExitCode::from(if errno == Errno::NOENT { 127 } else { 126 })
}

/// Ties this process to the launcher, puts its files in order and replaces it by the program.
fn prepare_and_exec(orders: &Orders) -> Result<std::convert::Infallible, Errno> {
    // The kernel ends the PE when the launcher goes, whatever the launcher dies of; if it is gone already, now.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(orders.launcher) {
        return Err(Errno::SRCH);
    }
    if let Some(limit) = orders.open_files {
        set_soft_limit(limit)?;
    }
    let mut program = Command::new(&orders.program);
    let mut command = orders.command.iter();
    program.arg0(command.next().map_or(OsStr::new(""), OsString::as_os_str)).args(command);
    program.stdin(Stdio::null());
    // The socket came as standard input, so no other child could inherit it. Here it gets a number that stays.
    let rendezvous = match orders.has_rendezvous {
        true => Some(dup(std::io::stdin())?),
        false => None,
    };
    if let Some(listener) = &rendezvous {
        program.env(RENDEZVOUS_FD, listener.as_raw_fd().to_string());
    }
    Err(Errno::from_io_error(&program.exec()).unwrap_or(Errno::INVAL))
}

/// The file of this very program, even if its name now belongs to another one.
pub(crate) fn own_program() -> PathBuf {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { link } else { env::current_exe().unwrap_or(link) }
}
