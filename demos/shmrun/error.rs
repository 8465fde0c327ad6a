//! What can keep a job from starting or from being supervised.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why the launcher gave up. Each message says who, what, where and what to do next.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    /// The program is not there.
    #[error("there is no program {name:?}{place}; {remedy}")]
    ProgramNotFound {
        /// The program as the user wrote it.
        name: OsString,
        /// Where it was looked for, if the name does not say it: ` in ...`.
        place: &'static str,
        /// What the user can do.
        remedy: String,
    },
    /// The program is there and cannot be run.
    #[error("cannot run {path:?}: {reason}")]
    ProgramNotExecutable {
        /// The file that was found.
        path: PathBuf,
        /// Why it cannot be run, and what to do.
        reason: String,
    },
    /// The host to listen on is not an address and no name that can be resolved.
    #[error(
        "cannot find an address for --host {host}: {cause}; give an IP address of this host or leave --host out"
    )]
    HostUnknown {
        /// The host as the user wrote it.
        host: String,
        /// What the resolver said.
        cause: String,
    },
    /// The rendezvous could not be bound.
    #[error("cannot listen for the PEs on {host} port {port}: {cause}; {remedy}")]
    RendezvousUnavailable {
        /// The host as the user wrote it.
        host: String,
        /// The port asked for (0: any).
        port: u16,
        /// What the system said.
        cause: io::Error,
        /// What the user can do.
        remedy: &'static str,
    },
    /// Two pipes a PE are more than this process may hold.
    #[error(
        "{n_pes} PEs need {needed} open files and the hard limit is {limit}; \
         start fewer PEs or raise the limit (`ulimit -Hn {needed}`, as root)"
    )]
    TooManyOpenFiles {
        /// PEs asked for.
        n_pes: usize,
        /// Files that would be open.
        needed: u64,
        /// The hard limit of `RLIMIT_NOFILE`.
        limit: u64,
    },
    /// The system would not start another process.
    #[error(
        "cannot start PE {pe} of {n_pes}: {cause}; start fewer PEs or raise the limit (`ulimit -u`, `ulimit -n`)"
    )]
    PeNotStarted {
        /// The PE.
        pe: usize,
        /// PEs asked for.
        n_pes: usize,
        /// What the system said.
        cause: io::Error,
    },
    /// Something of the launcher's own could not be set up.
    #[error("cannot {what}: {cause}; nothing was left running")]
    System {
        /// What was attempted.
        what: &'static str,
        /// What the system said.
        cause: io::Error,
    },
}

impl LaunchError {
    /// For `map_err`: the launcher could not do `what`.
    pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self::System { what, cause: cause.into() }
    }

    /// The exit code: 127 and 126 as a shell has them for a program that is missing or cannot be run, else 1.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::ProgramNotFound { .. } => 127,
            Self::ProgramNotExecutable { .. } => 126,
            _ => 1,
        }
    }
}
