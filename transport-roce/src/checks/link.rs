//! The link below a port: its speed, its network device, and the packets that this one would allow.

use std::fs;
use std::path::Path;

use crate::nic::PortFacts;
use crate::verbs::{Context, Mtu};

/// What RoCE adds to a payload, as the kernel reckons: GRH 40, UDP 8, BTH 12, XRC 4, atomics 28, ICRC 4 bytes.
const HEADERS: u32 = 96;

/// The link below a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The port.
    pub(crate) port: u8,
    /// Millions of bits a second, if they are known.
    pub(crate) megabits: Option<u32>,
    /// The largest payload of a packet that the device can have, bytes.
    pub(crate) max_mtu: Option<u32>,
    /// Its network device, if the kernel tells.
    pub(crate) netdev: Option<String>,
    /// The network device's own MTU, bytes; `None` if this network namespace does not have it.
    pub(crate) ip_mtu: Option<u32>,
}

impl Link {
    /// Looks at the link of `port` of an open device.
    pub(crate) fn of(context: &Context, port: &PortFacts) -> Self {
        let attributes = context.port(port.number).ok();
        let netdev = port.gids.iter().find_map(|entry| entry.netdev.clone());
        let netdev = netdev.or_else(|| netdev_of(Path::new("/sys"), context.name(), port.number));
        Self {
            port: port.number,
            megabits: attributes.as_ref().and_then(crate::verbs::PortAttributes::megabits),
            max_mtu: attributes.and_then(|port| port.max_mtu).map(Mtu::bytes),
            ip_mtu: netdev.as_deref().and_then(|netdev| ip_mtu(Path::new("/sys"), netdev)),
            netdev,
        }
    }

    /// The largest payload that the network device's MTU leaves room for, bytes; also no more than the device can have.
    pub(crate) fn allowed_mtu(&self) -> Option<u32> {
        let room = self.ip_mtu?.saturating_sub(HEADERS);
        let fits = |mtu: &u32| *mtu <= room && self.max_mtu.is_none_or(|max| *mtu <= max);
        Mtu::ALL.into_iter().map(Mtu::bytes).filter(fits).max()
    }
}

/// The MTU that a network device must have at least for packets of the largest payload.
pub(crate) const fn needed_ip_mtu(payload: u32) -> u32 {
    // To the hundred above, as people set it: 4200 for 4096.
    (payload + HEADERS).next_multiple_of(100)
}

/// The network device of a port of a device, by what the kernel says in `sys`.
fn netdev_of(sys: &Path, device: &str, port: u8) -> Option<String> {
    let device = sys.join("class/infiniband").join(device);
    let word = |path: &Path| {
        let text = fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let by_gid = word(&device.join(format!("ports/{port}/gid_attrs/ndevs/0")));
    // Of a card with several ports each network device tells whose it is, counted from 0.
    let by_card = || {
        let entries = fs::read_dir(device.join("device/net")).ok()?.flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let number = |name: &String| word(&device.join("device/net").join(name).join("dev_port"));
        let own = names.iter().find(|name| number(name) == Some(port.saturating_sub(1).to_string()));
        own.or(names.first()).cloned()
    };
    // Soft-RoCE names the network device that it was added to.
    by_gid.or_else(by_card).or_else(|| word(&device.join("parent")))
}

fn ip_mtu(sys: &Path, netdev: &str) -> Option<u32> {
    fs::read_to_string(sys.join("class/net").join(netdev).join("mtu")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(ip_mtu: u32, max_mtu: Option<u32>) -> Link {
        Link { port: 1, megabits: None, max_mtu, netdev: Some("eth1".into()), ip_mtu: Some(ip_mtu) }
    }

    #[test]
    fn what_a_link_leaves_room_for() {
        for (ip_mtu, allowed) in [
            (0, None),
            (300, None),
            (352, Some(256)),
            (1119, Some(512)),
            (1120, Some(1024)),
            (1500, Some(1024)),
            (4191, Some(2048)),
            (4192, Some(4096)),
            (9000, Some(4096)),
        ] {
            assert_eq!(link(ip_mtu, None).allowed_mtu(), allowed, "{ip_mtu}");
        }
        assert_eq!(link(9000, Some(2048)).allowed_mtu(), Some(2048));
        assert_eq!(Link { ip_mtu: None, ..link(0, None) }.allowed_mtu(), None);
        assert_eq!((needed_ip_mtu(4096), needed_ip_mtu(2048), needed_ip_mtu(1024)), (4200, 2200, 1200));
    }

    #[test]
    fn where_the_kernel_names_the_network_device() {
        let sys = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = sys.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let of = |device, port| netdev_of(sys.path(), device, port);
        file("class/infiniband/xscale_0/ports/1/gid_attrs/ndevs/0", "eth7\n");
        file("class/infiniband/hrn5_0/device/net/ens1f1/dev_port", "1\n");
        file("class/infiniband/hrn5_0/device/net/ens1f0/dev_port", "0\n");
        file("class/infiniband/rxe_0/parent", "eth0\n");
        assert_eq!(of("xscale_0", 1).as_deref(), Some("eth7"));
        assert_eq!(of("xscale_0", 2), None);
        assert_eq!(of("hrn5_0", 1).as_deref(), Some("ens1f0"));
        assert_eq!(of("hrn5_0", 2).as_deref(), Some("ens1f1"));
        assert_eq!(of("hrn5_0", 3).as_deref(), Some("ens1f0"));
        assert_eq!(of("rxe_0", 1).as_deref(), Some("eth0"));
        assert_eq!(of("nobody", 1), None);
        file("class/net/eth0/mtu", "1500\n");
        file("class/net/eth1/mtu", "many\n");
        assert_eq!(ip_mtu(sys.path(), "eth0"), Some(1500));
        assert_eq!((ip_mtu(sys.path(), "eth1"), ip_mtu(sys.path(), "eth2")), (None, None));
    }
}
