//! The values that can be set, and the variable of the environment for each.

/// A value of [`JobConfig`](super::JobConfig) that arguments and the environment can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Key {
    /// This PE's number, from 0.
    Pe,
    /// How many PEs the job has.
    NPes,
    /// This PE's number among those of its host.
    LocalPe,
    /// How many PEs of the job are on this host.
    LocalNPes,
    /// Where PE 0 serves the rendezvous.
    Rendezvous,
    /// The network interface to use.
    Ifname,
    /// How much to log.
    LogLevel,
    /// The backend's name.
    Backend,
    /// Bytes of the symmetric heap.
    HeapSize,
    /// How AllGathers are done whose algorithm the program leaves open.
    AllGather,
    /// Deadline of a call, seconds.
    Timeout,
    /// What all PEs of the job must know to be let in.
    Secret,
    /// Tells this job from others.
    JobId,
    /// A listening socket that PE 0 inherits.
    ListenerFd,
    /// Where PE 0 publishes its address.
    RendezvousFile,
}

impl Key {
    /// All of them, in the order in which they are described.
    pub const ALL: [Self; 15] = [
        Self::Pe,
        Self::NPes,
        Self::LocalPe,
        Self::LocalNPes,
        Self::Rendezvous,
        Self::Ifname,
        Self::LogLevel,
        Self::Backend,
        Self::HeapSize,
        Self::AllGather,
        Self::Timeout,
        Self::Secret,
        Self::JobId,
        Self::ListenerFd,
        Self::RendezvousFile,
    ];

    /// The variable of the environment that sets it.
    #[must_use]
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Pe => "SHMEM_PE",
            Self::NPes => "SHMEM_N_PES",
            Self::LocalPe => "SHMEM_LOCAL_PE",
            Self::LocalNPes => "SHMEM_LOCAL_N_PES",
            Self::Rendezvous => "SHMEM_UID_SESSION_ID",
            Self::Ifname => "SHMEM_UID_SOCK_IFNAME",
            Self::LogLevel => "SHMEM_LOG_LEVEL",
            Self::Backend => "SHMEM_BACKEND",
            Self::HeapSize => "SHMEM_HEAP_SIZE",
            Self::AllGather => "SHMEM_ALLGATHER",
            Self::Timeout => "SHMEM_TIMEOUT",
            Self::Secret => "SHMEM_SECRET",
            Self::JobId => "SHMEM_JOB_ID",
            Self::ListenerFd => "SHMEM_RENDEZVOUS_FD",
            Self::RendezvousFile => "SHMEM_RENDEZVOUS_FILE",
        }
    }

    /// What people call it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Pe => "pe_id",
            Self::NPes => "n_pes",
            Self::LocalPe => "local pe_id",
            Self::LocalNPes => "local n_pes",
            Self::Rendezvous => "rendezvous",
            Self::Ifname => "interface",
            Self::LogLevel => "log level",
            Self::Backend => "backend",
            Self::HeapSize => "heap size",
            Self::AllGather => "AllGather",
            Self::Timeout => "timeout",
            Self::Secret => "secret",
            Self::JobId => "job id",
            Self::ListenerFd => "inherited listener",
            Self::RendezvousFile => "rendezvous file",
        }
    }
}
