//! What a verbs call could not do, and what to do next.

use super::errno::Errno;
use super::memory_limit::LockedMemory;
use super::queue_pair_states::QueuePairState;
use crate::abi::LoadError;

/// Why a verbs object cannot be had, asked or changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum VerbsError {
    /// There is no libibverbs.
    #[error(transparent)]
    Library(#[from] LoadError),

    /// The devices cannot be listed.
    #[error(
        "the RDMA devices of this machine cannot be listed: {errno}. Look at /sys/class/infiniband and /dev/infiniband, \
         and whether the kernel module ib_uverbs is loaded (`modprobe ib_uverbs`); IBV_SHOW_WARNINGS=1 makes the library \
         say more"
    )]
    DeviceList {
        /// The system's word.
        errno: Errno,
    },

    /// A device cannot be opened.
    #[error("{device} cannot be opened: {errno}. {hint}")]
    Open {
        /// The device.
        device: String,
        /// The system's word.
        errno: Errno,
        /// What to do next.
        hint: &'static str,
    },

    /// A device does not answer.
    #[error(
        "{device} does not tell its {what}: {errno}. See `ibv_devinfo -v -d {device}` and `dmesg`; a device that was \
         reset or removed must be opened again"
    )]
    Query {
        /// The device.
        device: String,
        /// What was asked.
        what: String,
        /// The system's word.
        errno: Errno,
    },

    /// An object cannot be made.
    #[error("{device} cannot make {what}: {errno}. {hint}")]
    Create {
        /// The device.
        device: String,
        /// Which object, with its sizes.
        what: String,
        /// The system's word.
        errno: Errno,
        /// What to do next.
        hint: &'static str,
    },

    /// Memory cannot be locked, which registering does.
    #[error("{device} cannot register {needed} bytes of memory: {errno}. {memory}")]
    MemoryLock {
        /// The device.
        device: String,
        /// Bytes.
        needed: u64,
        /// The system's word.
        errno: Errno,
        /// The limit, what is locked already, and what to do next.
        memory: LockedMemory,
    },

    /// Memory cannot be registered, for another reason.
    #[error(
        "{device} cannot register {len} bytes at {address:#x} for {access}: {errno}. The memory must be mapped readable and \
         writable, of ordinary pages, and the device must take regions of that size (max_mr_size of `ibv_devinfo -v`)"
    )]
    Register {
        /// The device.
        device: String,
        /// Where.
        address: u64,
        /// How much.
        len: u64,
        /// For what.
        access: String,
        /// The system's word.
        errno: Errno,
    },

    /// A completion queue fails.
    #[error(
        "{device}: cannot {doing} its completion queue: {errno}. The queue is lost; see `dmesg` for a reset of the device, \
         and start the job again"
    )]
    CompletionQueue {
        /// The device.
        device: String,
        /// What was tried.
        doing: &'static str,
        /// The system's word.
        errno: Errno,
    },

    /// A queue pair does not change its state.
    #[error("{device}: queue pair {qp} does not go to {to}: {errno}. {hint}")]
    Modify {
        /// The device.
        device: String,
        /// The queue pair's number.
        qp: u32,
        /// The state it should have.
        to: QueuePairState,
        /// The system's word.
        errno: Errno,
        /// What to do next.
        hint: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_why_and_what_next() {
        let error = VerbsError::Create {
            device: "xscale_0".into(),
            what: "a queue pair".into(),
            errno: Errno::NOMEM,
            hint: "Free some.",
        };
        assert_eq!(
            error.to_string(),
            "xscale_0 cannot make a queue pair: Cannot allocate memory (os error 12). Free some."
        );
        let error = VerbsError::DeviceList { errno: Errno::NOSYS };
        assert!(error.to_string().contains("modprobe ib_uverbs"), "{error}");
    }
}
