//! What can go wrong when a job gets together: who, what, where and what to do next.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::fault::{CallKind, JobFault};

/// The error of every call of a [`Bootstrap`](super::Bootstrap). `Clone`, since a job that has failed keeps saying so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// Arguments that no job can have.
    #[error("PE {my_pe}: cannot join: {problem}")]
    InvalidSpec {
        /// The PE that called.
        my_pe: usize,
        /// What is wrong and how it would be right.
        problem: String,
    },

    /// What all PEs are told.
    #[error("PE {my_pe}: {fault}")]
    Job {
        /// The PE that reports.
        my_pe: usize,
        /// What ended the job.
        fault: JobFault,
    },

    /// Another socket listens there.
    #[error(
        "PE 0: the rendezvous address {address} is in use{holder}. Is another job, or a second PE 0 of this one, running? \
         Take another port, or port 0 with SHMEM_RENDEZVOUS_FILE; `ss -ltnp 'sport = :{port}'` shows who has it",
        port = address.port()
    )]
    AddressInUse {
        /// The address.
        address: SocketAddr,
        /// ` by process N (name)` if it can be seen, else empty.
        holder: String,
    },

    /// The address is another host's.
    #[error(
        "PE 0: the rendezvous address {address} is not one of this host, where PE 0 must run; \
         this host has {local}. Give PE 0's own address, or start PE 0 on the host that has it"
    )]
    AddressNotLocal {
        /// The address.
        address: SocketAddr,
        /// What addresses there are.
        local: String,
    },

    /// A port that only root may open.
    #[error(
        "PE 0: no right to listen at {address}: ports below 1024 are the administrator's (CAP_NET_BIND_SERVICE); \
         take a port from 1024 to 65535"
    )]
    PortNotPermitted {
        /// The address.
        address: SocketAddr,
    },

    /// Any other trouble with listening.
    #[error("PE 0: cannot listen at {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        cause: String,
    },

    /// The launcher's socket is no use.
    #[error(
        "PE 0: the inherited listener (SHMEM_RENDEZVOUS_FD) cannot be used: {problem}; \
         a launcher must pass a TCP socket that listens already, or not set the variable"
    )]
    InheritedListener {
        /// What is wrong with it.
        problem: String,
    },

    /// The host name has no address.
    #[error(
        "PE {my_pe}: the rendezvous host {name:?} cannot be resolved: {cause}; correct the name, or give its address"
    )]
    NameNotResolved {
        /// The PE that asked.
        my_pe: usize,
        /// The name.
        name: String,
        /// What the resolver says.
        cause: String,
    },

    /// No such interface, or none with a fitting address.
    #[error(
        "PE {my_pe}: {problem}; this host has {local}. Correct SHMEM_UID_SOCK_IFNAME or the address' scope"
    )]
    Interface {
        /// The PE that asked.
        my_pe: usize,
        /// What is wrong.
        problem: String,
        /// What interfaces there are.
        local: String,
    },

    /// The file that publishes PE 0's address cannot be written.
    #[error(
        "PE 0: cannot publish the rendezvous address in {path:?}: {cause}; SHMEM_RENDEZVOUS_FILE must name a file that PE 0 may create"
    )]
    Publish {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },

    /// No connection until the deadline.
    #[error(
        "PE {my_pe}: no connection to the rendezvous at {address} within {after:?}: {cause}. Does PE 0 run, and is this its \
         address? Does a firewall, or a container without the host's network, stand between?"
    )]
    Unreachable {
        /// The PE that tried.
        my_pe: usize,
        /// Where.
        address: String,
        /// How long.
        after: Duration,
        /// How the last try ended.
        cause: String,
    },

    /// Connected, but silent.
    #[error(
        "PE {my_pe}: the rendezvous at {address} does not answer ({doing}) after {after:?}. Is it PE 0 that listens there, \
         and does it run, or is it stopped?"
    )]
    NoAnswer {
        /// The PE that waits.
        my_pe: usize,
        /// Where.
        address: String,
        /// What it waited for.
        doing: String,
        /// How long.
        after: Duration,
    },

    /// What answers is something else.
    #[error(
        "PE {my_pe}: what answers at {address} is no rendezvous of this library: it {problem}. \
         Is this PE 0's address and port?"
    )]
    NotARendezvous {
        /// The PE that asked.
        my_pe: usize,
        /// Where.
        address: String,
        /// What it did.
        problem: String,
    },

    /// This PE does not belong to the job that is served there.
    #[error("PE {my_pe}: the rendezvous at {address} and this PE do not belong together: {reason}")]
    Refused {
        /// The PE that was refused.
        my_pe: usize,
        /// By whom.
        address: String,
        /// Why, and what to do.
        reason: String,
    },

    /// More than an allgather takes.
    #[error(
        "PE {my_pe}: allgather of {len} bytes; the bootstrap takes at most {max} from each PE, so use the transport for more"
    )]
    PayloadTooLarge {
        /// The PE that called.
        my_pe: usize,
        /// Bytes given.
        len: usize,
        /// The most.
        max: usize,
    },

    /// This PE has left.
    #[error("PE {my_pe}: {call} after leave: this PE has left the job")]
    HasLeft {
        /// The PE that called.
        my_pe: usize,
        /// What it called.
        call: CallKind,
    },

    /// The thread that does the bootstrap's I/O is not there.
    #[error("PE {my_pe}: the bootstrap's own thread cannot run: {cause}")]
    Thread {
        /// The PE.
        my_pe: usize,
        /// Why.
        cause: String,
    },
}

impl BootstrapError {
    /// The PE that this error blames, if it is one PE that is gone.
    #[must_use]
    pub fn lost_pe(&self) -> Option<usize> {
        match self {
            Self::Job { fault: JobFault::PeerLost { pe, .. } | JobFault::Aborted { pe, .. }, .. } => {
                Some(*pe)
            }
            _ => None,
        }
    }

    /// What ended the job, if this says so.
    #[must_use]
    pub fn fault(&self) -> Option<&JobFault> {
        match self {
            Self::Job { fault, .. } => Some(fault),
            _ => None,
        }
    }
}
