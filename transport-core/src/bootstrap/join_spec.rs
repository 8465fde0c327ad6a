//! What a PE needs to join its job.

use std::net::TcpListener;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use socket2::{SockRef, Type};

use super::error::BootstrapError;
use crate::collectives::AllGatherAlgorithm;
use crate::config::{
    DEFAULT_HEAP_SIZE, DEFAULT_TIMEOUT, Interface, JobConfig, MAX_BACKEND_LEN, MAX_JOB_ID_LEN, MAX_PES,
    MAX_TIMEOUT, MIN_TIMEOUT, RendezvousAddress, Secret,
};

/// What a PE needs to join its job; made of a [`JobConfig`] by `try_from`, or by [`new`](Self::new).
#[derive(Debug)]
pub struct JoinSpec {
    /// This PE's number, below `n_pes`.
    pub my_pe: usize,
    /// How many PEs the job has. Equal on all.
    pub n_pes: usize,
    /// Where PE 0 serves. With port 0, PE 0 takes any free port and publishes it in `rendezvous_file`.
    pub rendezvous: RendezvousAddress,
    /// Bytes of the symmetric heap. Equal on all; only compared here.
    pub heap_size: u64,
    /// Tells this job from others; at most [`MAX_JOB_ID_LEN`] bytes.
    pub job_id: String,
    /// The backend's name. Equal on all; at most [`MAX_BACKEND_LEN`] bytes.
    pub backend: String,
    /// How AllGathers are done whose algorithm the program leaves open. Equal on all.
    pub all_gather: AllGatherAlgorithm,
    /// Deadline for joining and for each collective call.
    pub timeout: Duration,
    /// What all PEs must know to be let in, if anything.
    pub secret: Option<Secret>,
    /// The interface to use, if it matters.
    pub ifname: Option<Interface>,
    /// On PE 0: a socket that listens already.
    pub listener: Option<TcpListener>,
    /// Where PE 0 publishes its address, and where the others look for it if the port is 0.
    pub rendezvous_file: Option<PathBuf>,
}

impl JoinSpec {
    /// Heap 1 GiB, deadline 120 s, and nothing else given.
    #[must_use]
    pub fn new(my_pe: usize, n_pes: usize, rendezvous: RendezvousAddress) -> Self {
        Self {
            my_pe,
            n_pes,
            rendezvous,
            heap_size: DEFAULT_HEAP_SIZE.bytes(),
            job_id: String::new(),
            backend: String::new(),
            all_gather: AllGatherAlgorithm::Auto,
            timeout: DEFAULT_TIMEOUT,
            secret: None,
            ifname: None,
            listener: None,
            rendezvous_file: None,
        }
    }

    /// Finds what no job can have, before anything is opened.
    pub(crate) fn validate(&self) -> Result<(), BootstrapError> {
        let Self { my_pe, n_pes, .. } = *self;
        let bad = |problem: String| Err(BootstrapError::InvalidSpec { my_pe, problem });
        if n_pes == 0 || n_pes > MAX_PES {
            return bad(format!("n_pes is {n_pes}; a job has 1 to {MAX_PES} PEs"));
        }
        if my_pe >= n_pes {
            return bad(format!("n_pes is {n_pes}, so pe_id must be below {n_pes}"));
        }
        for (what, len, max) in
            [("job id", self.job_id.len(), MAX_JOB_ID_LEN), ("backend", self.backend.len(), MAX_BACKEND_LEN)]
        {
            if len > max {
                return bad(format!("the {what} has {len} bytes; at most {max} are possible"));
            }
        }
        if !(MIN_TIMEOUT..=MAX_TIMEOUT).contains(&self.timeout) {
            return bad(format!("the timeout is {:?}; it must be 1 ms to one year", self.timeout));
        }
        if self.rendezvous.port == 0 && self.rendezvous_file.is_none() && n_pes > 1 && self.listener.is_none()
        {
            return bad(format!(
                "the rendezvous {} has port 0, which needs a file (SHMEM_RENDEZVOUS_FILE) to publish the real port in; \
                 or give a port, the same on every PE",
                self.rendezvous
            ));
        }
        Ok(())
    }
}

impl TryFrom<&JobConfig> for JoinSpec {
    type Error = BootstrapError;

    /// Takes the inherited socket, if there is one, into its own hands: this succeeds once for each.
    fn try_from(config: &JobConfig) -> Result<Self, BootstrapError> {
        Ok(Self {
            my_pe: config.my_pe.value,
            n_pes: config.n_pes.value,
            rendezvous: config.rendezvous.value.clone(),
            heap_size: config.heap_size.value.bytes(),
            job_id: config.job_id.value.clone(),
            backend: config.backend.value.clone().unwrap_or_default(),
            all_gather: config.all_gather.value,
            timeout: config.timeout.value,
            secret: config.secret.value.clone(),
            ifname: config.ifname.value.clone(),
            listener: config.listener_fd.value.map(inherit).transpose()?,
            rendezvous_file: config.rendezvous_file.value.clone(),
        })
    }
}

/// Descriptors that have been taken: the number may since stand for something else.
static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

fn inherit(fd: RawFd) -> Result<TcpListener, BootstrapError> {
    let bad = |problem: String| Err(BootstrapError::InheritedListener { problem });
    if fd < 3 {
        return bad(format!(
            "{fd} is no descriptor that a launcher would pass (0 to 2 are standard input and output)"
        ));
    }
    // SAFETY: `fd` is not -1, and is borrowed for the next call alone, to which the system answers EBADF if it is not
    // open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    let probe = match borrowed.try_clone_to_owned() {
        Ok(probe) => probe,
        Err(error) => return bad(format!("descriptor {fd} is not open ({error})")),
    };
    let socket = SockRef::from(&probe);
    match (socket.r#type(), socket.is_listener(), socket.local_addr()) {
        (Err(error), ..) => return bad(format!("descriptor {fd} is no socket ({error})")),
        (Ok(Type::STREAM), Ok(true), Ok(address)) if address.as_socket().is_some() => {}
        (Ok(Type::STREAM), Ok(false), _) => {
            return bad(format!("descriptor {fd} is a socket that does not listen"));
        }
        _ => return bad(format!("descriptor {fd} is a socket, but not of TCP")),
    }
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.contains(&fd) {
        return bad(format!("descriptor {fd} was taken by an earlier job of this process"));
    }
    taken.push(fd);
    // SAFETY: `fd` is an open, listening TCP socket, given to us by name in the configuration to own; `TAKEN` sees to it
    // that nothing here owns it twice.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    // Children of this PE must not keep the port.
    if let Err(error) = SockRef::from(&owned).set_cloexec(true) {
        tracing::debug!("bootstrap: descriptor {fd} stays open in children: {error}");
    }
    Ok(TcpListener::from(owned))
}
