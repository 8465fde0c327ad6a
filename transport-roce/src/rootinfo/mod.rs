//! Which NIC belongs to an NPU of an Ascend950 host, as the machine's root info file tells.
//!
//! The NICs there are the host's own, and [`FILE`] says which address each NPU talks through. [`RootInfo::read`] reads the
//! file, [`RootInfo::nic_address`] looks an NPU up. One NPU has one address: where the file gives none or several, the
//! error shows them, and nothing is guessed.

mod error;
mod file;
mod read;
mod root_info;
mod shown;
#[cfg(test)]
mod tests;

pub use error::RootInfoError;
pub(crate) use root_info::RootInfo;

/// Where an Ascend950 host keeps it.
pub(crate) const FILE: &str = "/etc/hccl_rootinfo.json";
