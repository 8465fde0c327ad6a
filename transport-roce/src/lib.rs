//! The RoCE backend: symmetric memory over the RDMA NICs of a cluster, by libibverbs.
//!
//! - [`Fabric`] joins this process, as one PE, to the others of its job, and gives a [`Roce`], which implements
//!   [`Transport`](transport_core::Transport).
//! - [`RoceSettings`] say which NIC and GID, and how its queue pairs are set up.
//!
//! `libibverbs.so.1` is opened when a job first needs it: a program with this backend starts on machines that have none.
//! From the bottom up, the rooms are `abi` (the C interface that is used), `verbs` (safe objects over it), `nic`, `hccn` and
//! `settings` (which NIC, and why), `connect` (getting queue pairs together) and `engine` (what is posted and completes).

mod abi;
mod bounded_file;
pub mod checks;
mod connect;
mod engine;
mod error;
mod fabric;
mod hccn;
mod introductions;
mod kind;
mod nic;
mod open;
mod plug_ins;
mod provider;
mod roce;
mod rootinfo;
mod seen;
mod settings;
mod shared_nic;
mod verbs;

pub use abi::LoadError;
pub use error::RoceError;
pub use fabric::Fabric;
pub use hccn::{HccnError, Health, NpuNic};
pub use kind::{NicKind, PlugInNames};
pub use nic::{Family, Gid, NicError, Refusal};
pub use open::{is_present, usable};
pub use plug_ins::{AbiNumbers, Instead, PlugInError};
pub use provider::ProviderError;
pub use roce::Roce;
pub use rootinfo::RootInfoError;
pub use settings::{ConnectMode, GidAllow, NicWish, RoceSettings, RoceSettingsBuilder, SettingsError};
pub use verbs::{Errno, LockedMemory, QueuePairState, VerbsError};
