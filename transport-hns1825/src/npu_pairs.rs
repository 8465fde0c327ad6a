//! Which NIC an NPU usually has, and what follows for NPUs that share one.

/// The device of each NPU of the usual machine with 8 NPUs and 4 NICs, in the order of the NPUs.
///
/// Where `/etc/hccl_rootinfo.json` tells the NICs, that counts instead.
pub const USUAL_DEVICES: [&str; 8] =
    ["hrn5_1", "hrn5_1", "hrn5_0", "hrn5_0", "hrn5_3", "hrn5_3", "hrn5_2", "hrn5_2"];

/// The usual device of `npu`, if it is one of the usual eight.
#[must_use]
pub fn usual_device(npu: u32) -> Option<&'static str> {
    USUAL_DEVICES.get(usize::try_from(npu).ok()?).copied()
}

/// What to know if two NPUs are behind one port.
pub const SHARED_PORT: &str = "an HNS 1825 NIC sends frames between two NPUs behind one port by way of the switch, which drops a frame \
                               that would leave by the port it came in by, unless the port's bridge is enabled";

/// How to find that port of the switch, and to enable the bridge there.
pub const ENABLE_PORT_BRIDGE: &str = "take the port's network device from `hiroce5 gids`, its MAC from `ip link show DEV`, and the switch's \
                                      port from `display mac-address | include MAC`; there: `system-view`, `interface PORT`, `port bridge \
                                      enable`, `commit`; `display current-configuration | include port bridge` shows it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_device_and_only_they() {
        assert_eq!(usual_device(0), usual_device(1));
        assert_ne!(usual_device(5), usual_device(6));
        assert_eq!((usual_device(6), usual_device(7)), (Some("hrn5_2"), Some("hrn5_2")));
        assert_eq!((usual_device(8), usual_device(u32::MAX)), (None, None));
        for npu in (0..8).step_by(2) {
            let users = USUAL_DEVICES.iter().filter(|device| Some(**device) == usual_device(npu));
            assert_eq!(users.count(), 2);
        }
    }
}
