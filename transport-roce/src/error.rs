//! Why a job on RoCE NICs cannot start, and what a NIC can do wrong later.

use std::io;
use std::time::Duration;

use transport_core::PeList;
use transport_core::heap::SymHeap;

use crate::nic::NicError;
use crate::verbs::VerbsError;

/// What can go wrong with this backend. After the start, peers that cannot be reached are
/// [`transport_core::Error::PeerLost`], with the completion status in its cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RoceError {
    /// The library, a device, or an object of it.
    #[error("PE {my_pe}: {source}")]
    Verbs {
        /// The PE.
        my_pe: usize,
        /// What and where.
        source: VerbsError,
    },

    /// No NIC, no GID, or NICs that do not fit each other.
    #[error("PE {my_pe}: {source}")]
    Nic {
        /// The PE.
        my_pe: usize,
        /// What and where.
        source: NicError,
    },

    /// This host is not fit for the job, as a check found that `shmem-doctor` makes too.
    #[error("PE {my_pe}: {what}; try `{remedy}`")]
    Unfit {
        /// The PE.
        my_pe: usize,
        /// What was found.
        what: String,
        /// What to type.
        remedy: String,
    },

    /// The heap's size cannot be had.
    #[error(
        "PE {my_pe}: a symmetric heap of {size} bytes is not possible; choose {min} to {max} by SHMEM_HEAP_SIZE or --heap, \
         the same on every PE",
        min = SymHeap::MIN_SIZE,
        max = SymHeap::MAX_SIZE
    )]
    HeapSize {
        /// The PE.
        my_pe: usize,
        /// Bytes asked for.
        size: u64,
    },

    /// The heaps of this host do not fit into its memory, where all of them must lie while the job runs.
    #[error(
        "PE {my_pe}: the symmetric heaps of the {pes} PEs of host {host} need {needed} bytes, all of them in memory at once, since \
         the NIC writes there; it has {available} bytes by {limit}. Set SHMEM_HEAP_SIZE or --heap lower, the same on every PE"
    )]
    HeapsLargerThanMemory {
        /// The PE.
        my_pe: usize,
        /// PEs on its host.
        pes: usize,
        /// The host.
        host: String,
        /// Bytes of all their heaps.
        needed: u64,
        /// Bytes there are.
        available: u64,
        /// What says so.
        limit: &'static str,
    },

    /// The system gives no memory.
    #[error(
        "PE {my_pe}: no {len} bytes for the heap: {source}. Set SHMEM_HEAP_SIZE or --heap lower; see also `ulimit -v`"
    )]
    Memory {
        /// The PE.
        my_pe: usize,
        /// Bytes asked for.
        len: u64,
        /// The system's word.
        source: io::Error,
    },

    /// PEs are of different programs.
    #[error(
        "PE {my_pe}: {odd} run another version of this library than PE 0; start the same program everywhere"
    )]
    OtherVersion {
        /// The PE.
        my_pe: usize,
        /// Those that differ.
        odd: PeList,
    },

    /// PEs were started with different settings.
    #[error(
        "PE {my_pe}: {odd} have {what} {theirs}, PE 0 has {ours}; set it alike everywhere (a launcher may not pass the \
         environment on)"
    )]
    SettingsDiffer {
        /// The PE.
        my_pe: usize,
        /// Those that differ.
        odd: PeList,
        /// The variable.
        what: &'static str,
        /// What the first of them has.
        theirs: String,
        /// What PE 0 has.
        ours: String,
    },

    /// More PEs share a NIC's address than its kind allows.
    #[error(
        "PE {my_pe}: the {} {pes} use {place}, but an address of an {name} serves at most {limit}. Start \
         fewer on that host, or spread them over its NICs by --device or SHMEM_NIC",
        pes.len()
    )]
    TooManyPes {
        /// The PE.
        my_pe: usize,
        /// The NIC, its host and its address.
        place: String,
        /// Who uses it.
        pes: PeList,
        /// How many may.
        limit: usize,
        /// What such a NIC is called.
        name: &'static str,
    },

    /// The device cannot have so many queue pairs with requests under way.
    #[error(
        "PE {my_pe}: {device} has completion queues of at most {max_completions}, too few for {links} queue pairs with {needed} requests \
         each. Use fewer PEs, or a smaller SHMEM_ROCE_QPS"
    )]
    TooManyLinks {
        /// The PE.
        my_pe: usize,
        /// The device.
        device: String,
        /// What it can have.
        max_completions: u32,
        /// Queue pairs of this PE.
        links: usize,
        /// The fewest requests that make sense.
        needed: u32,
    },

    /// The connections took too long.
    #[error(
        "PE {my_pe}: the start took longer than {after:?}, and there is no connection to {missing} yet. If others came late, raise the \
         limit by SHMEM_TIMEOUT (--timeout). Else: the NIC asks the network for each peer's address; is the peer's interface \
         up, and the network between the NICs the right one?"
    )]
    ConnectTimeout {
        /// The PE.
        my_pe: usize,
        /// The limit.
        after: Duration,
        /// Whom it was not connected to.
        missing: PeList,
    },

    /// A connection that was left for later could not be made.
    #[error("PE {my_pe}: could not connect to PE {pe} at {address}: {cause} (SHMEM_ROCE_CONNECT=first-use)")]
    LateConnect {
        /// The PE.
        my_pe: usize,
        /// The other.
        pe: usize,
        /// Where it listens.
        address: String,
        /// What went wrong.
        cause: String,
    },

    /// The connections are made but nothing gets through.
    #[error(
        "PE {my_pe}: the NICs are connected, but the first barrier over them failed: {source}. Check that UDP port 4791 passes \
         between the NICs (firewall, container network), that their MTU does, and that the GIDs (see --verbose) are of one network"
    )]
    FirstBarrier {
        /// The PE.
        my_pe: usize,
        /// How.
        source: transport_core::Error,
    },

    /// A send queue stayed full.
    #[error(
        "{op} on PE {my_pe}: the queue to PE {pe} stayed full for {after:?}, with {in_flight} requests under way. Is the peer, or its \
         link, very slow or stopped? SHMEM_ROCE_QUEUE_DEPTH sets the size, SHMEM_TIMEOUT (--timeout) the limit"
    )]
    NoRoom {
        /// The call.
        op: &'static str,
        /// The PE.
        my_pe: usize,
        /// The peer.
        pe: usize,
        /// The limit.
        after: Duration,
        /// Requests under way.
        in_flight: u64,
    },

    /// A peer sent what cannot be understood.
    #[error("PE {my_pe}: PE {pe} sent a {what} that cannot be read; start the same program everywhere")]
    Garbled {
        /// The PE.
        my_pe: usize,
        /// Who sent it.
        pe: usize,
        /// What it was to be.
        what: &'static str,
    },

    /// A thread, a socket or an event could not be had.
    #[error("PE {my_pe}: could not {step}: {source}; see `ulimit -u` and `ulimit -n`")]
    System {
        /// The PE.
        my_pe: usize,
        /// Which step.
        step: &'static str,
        /// The system's word.
        source: io::Error,
    },

    /// The rendezvous failed meanwhile.
    #[error(transparent)]
    Bootstrap(#[from] transport_core::bootstrap::BootstrapError),
}
