//! The on-die NICs of Ascend A2 and A3, as `hccn_tool` tells of them.
//!
//! Each NPU there has a NIC of its own, which the host sets up by `hccn_tool` and not by `ip`. [`npu_nic`] asks the
//! tool; [`locate`] looks for the address among the verbs devices. The texts are read by pure functions.

mod error;
mod excerpt;
mod health;
mod npu_nic;
mod parse;
mod reach;
mod remedy;
mod run;
#[cfg(test)]
pub(crate) mod scripted;
mod tool;

pub use error::HccnError;
pub use health::Health;
pub use npu_nic::NpuNic;
pub(crate) use npu_nic::npu_address;
pub(crate) use reach::{NpuReach, locate};
pub(crate) use tool::Tool;
