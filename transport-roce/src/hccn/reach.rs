//! How the NIC of an NPU can be reached from the host.

use super::npu_nic::{NpuNic, npu_address};
use super::tool::Tool;
use crate::nic::{Choice, DeviceFacts, NicError, Want, Wish, choose, is_held};

/// How the NIC of an NPU can be reached from the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NpuReach {
    /// It is a verbs device of the host: the engine of this crate can use it.
    Verbs(Choice),
    /// No verbs device of the host has its address: only the NPU's own driver reaches it.
    ///
    /// This is where an engine over the HCCP library would start: it gets the NPU and the NIC's address, and makes its
    /// queue pairs through HCCP instead of libibverbs. This library does not have one yet, so that callers turn it into
    /// [`HccnError::NoVerbsDevice`](super::HccnError::NoVerbsDevice).
    HccpOnly {
        /// The NIC.
        nic: NpuNic,
    },
}

/// Asks `tool` for the NIC of `npu`, and looks for it among `devices`. `wish` says which GID of it to use.
///
/// # Errors
/// If the NIC has no address or is not well, or if its verbs device cannot be used.
pub(crate) fn locate(
    npu: u32,
    devices: &[DeviceFacts],
    wish: &Wish<'_>,
    tool: &Tool,
) -> Result<NpuReach, NicError> {
    let nic = npu_address(npu, tool)?;
    if !is_held(devices, nic.address) {
        return Ok(NpuReach::HccpOnly { nic });
    }
    let wish = Wish { want: Want::NpuAddress { npu, address: nic.address }, ..wish.clone() };
    Ok(NpuReach::Verbs(choose(devices, &wish)?))
}

#[cfg(test)]
mod tests {
    // The cases with a scripted tool are in `scripted`.
    use super::*;
    use crate::hccn::HccnError;

    #[test]
    fn the_error_of_a_nic_out_of_reach_says_what_is_missing() {
        let nic = NpuNic {
            npu: 3,
            address: "192.168.9.10".parse().unwrap(),
            netmask: None,
            health: crate::hccn::health::Health::Success,
        };
        let text = HccnError::no_verbs_device(&nic, &[]).to_string();
        for part in ["NPU 3", "192.168.9.10", "HCCP", "SHMEM_NIC", "no verbs device"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
