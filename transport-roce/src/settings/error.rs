//! What can be wrong with a setting: the value, where it came from, and what to do.

use std::ffi::OsString;

use transport_core::config::Source;

/// Why no [`RoceSettings`](super::RoceSettings) could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Not UTF-8 where text is needed.
    #[error(
        "{what} is {value:?} ({origin}), which is not UTF-8 text; correct it, or unset it for the default"
    )]
    NotText {
        /// What it is to be.
        what: &'static str,
        /// What was given.
        value: OsString,
        /// Where it came from.
        origin: Source,
    },

    /// Not a number, or outside of what is possible.
    #[error(
        "{what} is {value:?} ({origin}); it is a whole number from {min} to {max}{note}. Correct it, or unset it for \
         the default ({default})"
    )]
    Number {
        /// What it is to be.
        what: &'static str,
        /// What was given.
        value: String,
        /// Where it came from.
        origin: Source,
        /// The least.
        min: u32,
        /// The most.
        max: u32,
        /// What else it must be, or what the number stands for; may be empty.
        note: &'static str,
        /// What it is if nobody says anything.
        default: String,
    },

    /// The NIC's name is not one that a device can have.
    #[error(
        "NIC is {value:?} ({origin}), which names no device; write its name (letters, digits, _ - . and at most 64 of \
         them) with an optional port, e.g. mlx5_0 or mlx5_0:1, or npu for the NIC of this PE's NPU"
    )]
    NicName {
        /// What was given.
        value: String,
        /// Where it came from.
        origin: Source,
    },

    /// The NIC's port is not a number that a port can have.
    #[error(
        "NIC is {value:?} ({origin}), with something else than a port after the colon; write a number from 1 to 255 \
         there, e.g. mlx5_0:1, or leave out the colon and let the port be found"
    )]
    NicPort {
        /// What was given.
        value: String,
        /// Where it came from.
        origin: Source,
    },

    /// Something that cannot be allowed.
    #[error(
        "GID allow is {value:?} ({origin}), and {item:?} is not known; write v1, link-local, or both with a comma \
         between them"
    )]
    GidAllow {
        /// What was given.
        value: String,
        /// The item of the list that is not known.
        item: String,
        /// Where it came from.
        origin: Source,
    },

    /// No mode of connecting.
    #[error("connect is {value:?} ({origin}); write start or first-use, or unset it for the default (start)")]
    Connect {
        /// What was given.
        value: String,
        /// Where it came from.
        origin: Source,
    },

    /// The queue would be full before anything tells that it can be emptied.
    #[error(
        "signal every is {value} ({origin}), but the queue depth is {queue_depth} ({queue_origin}) and at least two \
         signals must fit in a queue; set SHMEM_ROCE_SIGNAL_EVERY to {} or less, or raise SHMEM_ROCE_QUEUE_DEPTH",
        queue_depth / 2
    )]
    SignalTooRare {
        /// What was given.
        value: u32,
        /// Where it came from.
        origin: Source,
        /// How many work requests a queue holds.
        queue_depth: u32,
        /// Where that came from.
        queue_origin: Source,
    },
}
