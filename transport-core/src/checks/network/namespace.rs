//! Whose network this process sees: the host's, or one of its own, as a container has it by default.
//!
//! A RoCE device takes its addresses (GIDs) from the network interface that belongs to it, and that is in the host's
//! network.

use std::path::Path;

use crate::checks::Section;
use crate::checks::container::Signs;

/// `/proc/self/ns/net` in the host's network, where the kernel fixes the number (Linux 6.18 does).
const FIRST_NETWORK: &str = "net:[4026531833]";
/// `/proc/self/ns/pid` among the host's processes: fixed since there are such numbers.
const FIRST_PROCESSES: &str = "pid:[4026531836]";
/// Every network has the one setting, the host's alone the other.
const ANY_SETTING: &str = "/proc/sys/net/core/somaxconn";
const HOST_SETTING: &str = "/proc/sys/net/core/netdev_max_backlog";

/// What a process can see of it without rights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The name of this process' network.
    own: Option<String>,
    /// That of process 1, which only root may see.
    of_first: Option<String>,
    /// The name of this process' space of process numbers.
    processes: Option<String>,
    any_setting: bool,
    host_setting: bool,
    devices: Vec<Device>,
}

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Device {
    name: String,
    /// Its number, and that of the device that it is an end or a part of: another one for a `veth`.
    index: u32,
    link: u32,
}

/// Whose network it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Network {
    Host,
    Own,
    Unknown,
}

impl Seen {
    pub(super) fn by_this_process() -> Self {
        let link = |path: &str| Some(std::fs::read_link(path).ok()?.to_str()?.to_owned());
        let there = |path: &str| Path::new(path).exists();
        Self {
            own: link("/proc/self/ns/net"),
            of_first: link("/proc/1/ns/net"),
            processes: link("/proc/self/ns/pid"),
            any_setting: there(ANY_SETTING),
            host_setting: there(HOST_SETTING),
            devices: devices(Path::new("/sys/class/net")),
        }
    }

    fn network(&self) -> Network {
        if self.own.as_deref() == Some(FIRST_NETWORK) {
            return Network::Host;
        }
        if let (Some(own), Some(first)) = (&self.own, &self.of_first) {
            if own != first {
                return Network::Own;
            }
            // In a container, process 1 is the container's own and has the same network whatever that is.
            if self.processes.as_deref() == Some(FIRST_PROCESSES) {
                return Network::Host;
            }
        }
        match (self.host_setting, self.any_setting) {
            (true, _) => Network::Host,
            (false, true) => Network::Own,
            (false, false) if self.only_a_veth() => Network::Own,
            (false, false) => Network::Unknown,
        }
    }

    /// Whether there is nothing but `lo` and one end of a pair, whose other end is elsewhere.
    fn only_a_veth(&self) -> bool {
        let mut others = self.devices.iter().filter(|device| device.name != "lo");
        match (others.next(), others.next()) {
            (Some(only), None) => only.link != only.index && only.link != 0,
            _ => false,
        }
    }
}

/// The devices that `directory` (`/sys/class/net`) shows.
fn devices(directory: &Path) -> Vec<Device> {
    let number = |path: &Path| std::fs::read_to_string(path).ok()?.trim().parse().ok();
    let device = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let (index, link) = (number(&path.join("ifindex"))?, number(&path.join("iflink"))?);
        Some(Device { name: entry.file_name().to_string_lossy().into_owned(), index, link })
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(device).collect()
}

pub(super) fn judge(section: &mut Section, seen: &Seen, signs: &Signs) {
    const ID: &str = "namespace";
    let host_network = || {
        if signs.of_pod() {
            "kubectl explain pod.spec.hostNetwork".to_owned()
        } else {
            "docker run --net=host ...".to_owned()
        }
    };
    match (seen.network(), signs.of_container()) {
        (Network::Host, None) => section.ok(ID, "the network of the host"),
        (Network::Host, Some(sign)) => section.ok(ID, format!("in a container ({sign}), with the network of the host")),
        (Network::Own, Some(sign)) => section.warn(
            ID,
            format!(
                "in a container ({sign}) with a network of its own: RoCE needs that of the host, and PEs in several \
                 containers cannot share memory"
            ),
            host_network(),
        ),
        (Network::Own, None) => {
            section.ok(ID, "a network namespace of its own: RoCE works in it only if its network device is in it too");
        }
        (Network::Unknown, Some(sign)) => section.ok(
            ID,
            format!(
                "in a container ({sign}), and the system does not say whether its network is that of the host, which \
                 RoCE needs"
            ),
        ),
        (Network::Unknown, None) => section.ok(ID, "the system does not say whose network it is; no sign of a container"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;
    use crate::checks::Level;

    fn seen(own: &str, of_first: &str, processes: &str, host_setting: bool, any_setting: bool) -> Seen {
        let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Seen {
            own: name(own),
            of_first: name(of_first),
            processes: name(processes),
            any_setting,
            host_setting,
            devices: Vec::new(),
        }
    }

    fn device(name: &str, index: u32, link: u32) -> Device {
        Device { name: name.into(), index, link }
    }

    #[test]
    fn each_kernel_shows_it_in_its_way() {
        for (seen, expected) in [
            (seen(FIRST_NETWORK, "", "", false, true), Network::Host),
            (seen("net:[7]", "net:[8]", "", true, true), Network::Own),
            (seen("net:[7]", "net:[7]", FIRST_PROCESSES, false, true), Network::Host),
            // Process 1 is the container's own.
            (seen("net:[7]", "net:[7]", "pid:[9]", false, true), Network::Own),
            (seen("net:[7]", "net:[7]", "pid:[9]", true, true), Network::Host),
            (seen("net:[7]", "", FIRST_PROCESSES, true, true), Network::Host),
            (seen("net:[7]", "", FIRST_PROCESSES, false, true), Network::Own),
            (Seen::default(), Network::Unknown),
        ] {
            assert_eq!(seen.network(), expected, "{seen:?}");
        }
    }

    #[test]
    fn one_veth_alone_is_a_sign_of_its_own() {
        for (devices, expected) in [
            (vec![device("lo", 1, 1), device("eth0", 6, 7)], Network::Own),
            (vec![device("lo", 1, 1), device("eth0", 2, 2)], Network::Unknown),
            (vec![device("lo", 1, 1), device("sit0", 2, 0)], Network::Unknown),
            (vec![device("lo", 1, 1), device("eth0", 6, 7), device("eth1", 2, 2)], Network::Unknown),
            (vec![device("lo", 1, 1)], Network::Unknown),
        ] {
            let seen = Seen { devices, ..Seen::default() };
            assert_eq!(seen.network(), expected, "{seen:?}");
        }
    }

    #[test]
    fn only_a_container_without_the_network_of_the_host_warns() {
        let in_docker = Signs { docker_file: true, ..Signs::default() };
        let in_pod = Signs { kubernetes: true, ..Signs::default() };
        let (host, own) = (seen(FIRST_NETWORK, "", "", true, true), seen("net:[7]", "", "", false, true));
        for (seen, signs, level, remedy) in [
            (&host, &Signs::default(), Level::Ok, None),
            (&host, &in_docker, Level::Ok, None),
            (&own, &Signs::default(), Level::Ok, None),
            (&own, &in_docker, Level::Warn, Some("docker run --net=host ...")),
            (&own, &in_pod, Level::Warn, Some("kubectl explain pod.spec.hostNetwork")),
            (&Seen::default(), &in_docker, Level::Ok, None),
            (&Seen::default(), &Signs::default(), Level::Ok, None),
        ] {
            let finding = judged(|section| judge(section, seen, signs));
            assert_eq!((finding.id, finding.level), ("namespace", level), "{}", finding.what);
            assert_eq!(finding.remedy.as_deref(), remedy);
        }
    }

    #[test]
    fn the_devices_of_a_directory_are_read_and_rubbish_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        for (name, index, link) in [("eth0", "6\n", "7\n"), ("bad", "x", "7"), ("empty", "", "")] {
            let device = directory.path().join(name);
            std::fs::create_dir(&device).unwrap();
            std::fs::write(device.join("ifindex"), index).unwrap();
            std::fs::write(device.join("iflink"), link).unwrap();
        }
        std::fs::write(directory.path().join("bonding_masters"), "").unwrap();
        assert_eq!(devices(directory.path()), [device("eth0", 6, 7)]);
        assert_eq!(devices(&directory.path().join("absent")), []);
        let _ = Seen::by_this_process().network();
    }
}
