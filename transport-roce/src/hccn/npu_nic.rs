//! The NIC of an NPU: its address and how it fares.

use std::net::IpAddr;

use super::error::HccnError;
use super::health::{Health, Severity};
use super::parse::{self, Address};
use super::tool::Tool;

/// The NIC of an NPU, as `hccn_tool` tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NpuNic {
    /// The physical NPU.
    pub npu: u32,
    /// The NIC's address.
    pub address: IpAddr,
    /// Its netmask as the tool writes it, if it does.
    pub netmask: Option<String>,
    /// What the NPU's own check of its network says.
    pub health: Health,
}

/// Asks `tool` for the NIC of `npu`: its address, its link and its health.
///
/// A health that says nothing either way is a warning in the log.
///
/// # Errors
/// If the tool gives no answer, or if the NIC has no address, no link or bad health.
pub(crate) fn npu_address(npu: u32, tool: &Tool) -> Result<NpuNic, HccnError> {
    let answer = tool.get(npu, "-ip")?;
    let (address, netmask) = match parse::address(&answer.text) {
        Address::Set { address, netmask } => (address, netmask),
        Address::Unset => return Err(HccnError::NoAddress { npu }),
        Address::NotUnderstood => return Err(answer.not_understood()),
    };
    // Before the health, which would only say that nothing answers.
    if link_is_down(npu, tool)? {
        return Err(HccnError::LinkDown { npu, address });
    }
    let answer = tool.get(npu, "-net_health")?;
    let health = parse::health(&answer.text).ok_or_else(|| answer.not_understood())?;
    match health.severity() {
        Severity::Well => {}
        Severity::Unknown => {
            tracing::warn!(
                "whether the network of NPU {npu} ({address}) is well is not known: net health status {health}, that is, \
                 {}",
                health.meaning()
            );
        }
        Severity::Bad => return Err(HccnError::Unhealthy { npu, address, health }),
    }
    let nic = NpuNic { npu, address, netmask, health };
    tracing::debug!(?nic, "hccn_tool told of the NPU's NIC");
    Ok(nic)
}

/// Whether the tool says so; that a tool does not know the question is not held against the NIC.
fn link_is_down(npu: u32, tool: &Tool) -> Result<bool, HccnError> {
    match tool.get(npu, "-link") {
        Ok(answer) => Ok(parse::link_is_up(&answer.text) == Some(false)),
        // The next question would hang as well.
        Err(error @ HccnError::TimedOut { .. }) => Err(error),
        Err(error) => {
            tracing::debug!("the link of NPU {npu} is not known: {error}");
            Ok(false)
        }
    }
}
