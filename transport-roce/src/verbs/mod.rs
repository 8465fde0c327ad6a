//! Safe objects over libibverbs: each keeps its parents alive, and is destroyed before them.
//!
//! What the library promises to be thread-safe is `Sync` here. Only the posting of requests stays `unsafe`, because a
//! device reads and writes memory by address while nobody watches.

mod completion_queue;
mod context;
mod errno;
mod error;
mod gid;
mod library;
mod mappings;
mod memory_limit;
mod memory_region;
mod mtu;
mod port;
mod protection_domain;
mod queue_pair;
mod queue_pair_states;
mod remedy;
mod requests;
mod status;
#[cfg(test)]
mod tests_on_device;

pub use errno::Errno;
pub use error::VerbsError;
pub use memory_limit::LockedMemory;
pub use queue_pair_states::QueuePairState;

pub(crate) use completion_queue::{CompletionQueue, WorkCompletion};
pub(crate) use context::{Context, DeviceAttributes};
pub(crate) use gid::GidKind;
pub(crate) use library::Library;
pub(crate) use memory_limit::status_bytes;
pub(crate) use memory_region::{Access, MemoryRegion};
pub(crate) use mtu::Mtu;
pub(crate) use port::{LinkLayer, PortAttributes, PortState};
pub(crate) use protection_domain::ProtectionDomain;
pub(crate) use queue_pair::{QueuePair, QueueSizes};
pub(crate) use queue_pair_states::{Route, SendTimers};
pub(crate) use requests::{Chain, Flags, LocalBytes, PostError, Remote};
pub(crate) use status::Status;
