//! Why a job on shared memory cannot start.

use std::io;
use std::time::Duration;

use transport_core::PeList;
use transport_core::heap::SymHeap;

/// What can go wrong before there is a transport. Afterwards, errors are those of [`transport_core::Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopbackError {
    /// A job of no PEs.
    #[error("a job needs at least one PE; n_pes is 0")]
    NoPes,

    /// The heap's size cannot be had.
    #[error(
        "PE {my_pe}: a symmetric heap of {size} bytes is not possible; choose {min} to {max} by \
         SHMEM_HEAP_SIZE or --heap, the same on every PE",
        min = SymHeap::MIN_SIZE,
        max = SymHeap::MAX_SIZE
    )]
    HeapSize {
        /// The PE.
        my_pe: usize,
        /// Bytes asked for.
        size: u64,
    },

    /// The heap is larger than the machine's memory.
    #[error(
        "PE {my_pe}: a symmetric heap of {size} bytes is larger than what this machine has ({available} bytes by \
         {limit}); set SHMEM_HEAP_SIZE or --heap lower, the same on every PE"
    )]
    HeapLargerThanMemory {
        /// The PE.
        my_pe: usize,
        /// Bytes asked for.
        size: u64,
        /// Bytes there are.
        available: u64,
        /// What says so.
        limit: &'static str,
    },

    /// All heaps together cannot be addressed.
    #[error(
        "{n_pes} PEs with heaps of {heap_size} bytes need more addresses than a process has; \
         use fewer PEs, or set SHMEM_HEAP_SIZE or --heap lower"
    )]
    JobTooLarge {
        /// PEs.
        n_pes: usize,
        /// Bytes of each heap.
        heap_size: u64,
    },

    /// The system gives no memory.
    #[error(
        "PE {my_pe}: no {len} bytes of shared memory for the job's heaps: {source}. Set SHMEM_HEAP_SIZE or --heap \
         lower; see also `ulimit -v`, and the memory limit of the container"
    )]
    Memory {
        /// The PE.
        my_pe: usize,
        /// Bytes asked for, of all PEs together.
        len: u64,
        /// The system's word.
        source: io::Error,
    },

    /// PEs are on several hosts.
    #[error(
        "PE {my_pe}: the loopback backend needs all PEs on one host, but {odd} are not on that of PE 0. Start them there, \
         or choose a backend with a network by --backend or SHMEM_BACKEND"
    )]
    NotOneHost {
        /// The PE.
        my_pe: usize,
        /// Those elsewhere.
        odd: PeList,
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

    /// PE 0 has no memory to hand out.
    #[error("PE {my_pe}: PE 0 could not make the job's memory: {cause}")]
    NoJobMemory {
        /// The PE.
        my_pe: usize,
        /// What it said.
        cause: String,
    },

    /// The memory could not be handed from PE 0 to another PE.
    #[error(
        "PE {my_pe}: could not {step}: {source} (the limit is {after:?}). PEs need the same user and the same network namespace \
         (one container, or `--net=host`)"
    )]
    Handover {
        /// The PE.
        my_pe: usize,
        /// Which step.
        step: &'static str,
        /// The limit.
        after: Duration,
        /// The system's word.
        source: io::Error,
    },

    /// The rendezvous failed meanwhile.
    #[error(transparent)]
    Bootstrap(#[from] transport_core::bootstrap::BootstrapError),
}
