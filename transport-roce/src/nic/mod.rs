//! Which NIC, port and GID this PE uses, and why.
//!
//! Nothing here talks to a device: another module fills in the facts, and the choice is a pure function of them, so
//! that every case can be tested without hardware.

mod agreement;
mod choice;
mod choose;
mod describe;
mod error;
mod facts;
mod find;
mod gid;
mod gid_choice;
mod local_address;
mod near_name;
mod npu_lookup;
mod port_choice;
mod refusal;
mod remedy;
#[cfg(test)]
mod tests;
mod wish;

pub(crate) use agreement::{PeerNic, agree};
pub(crate) use choice::Choice;
pub(crate) use choose::choose;
pub(crate) use describe::devices as describe_devices;
pub use error::NicError;
pub(crate) use facts::{DeviceFacts, GidFacts, GidKind, PortFacts};
pub(crate) use find::find_nic;
pub use gid::Gid;
pub(crate) use local_address::towards;
pub(crate) use npu_lookup::NpuLookup;
pub(crate) use port_choice::{is_held, is_held_by};
pub use refusal::Refusal;
pub use wish::Family;
pub(crate) use wish::{Want, Wish};
