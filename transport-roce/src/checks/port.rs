//! A port of a verbs device: its state, its packets, its network device and its GIDs.

use transport_core::checks::Section;

use super::link::{Link, needed_ip_mtu};
use crate::nic::{Choice, GidFacts, GidKind, NicError, PortFacts};

/// The largest payload of a packet that RoCE has.
const LARGEST: u32 = 4096;
/// The payload over a link of the usual 1500 bytes.
const USUAL: u32 = 1024;

/// What is known about a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Port<'a> {
    /// Its device.
    pub(super) device: &'a str,
    /// Its state and GIDs.
    pub(super) facts: &'a PortFacts,
    /// Its link.
    pub(super) link: Option<&'a Link>,
    /// What a job would use.
    pub(super) choice: &'a Result<Choice, NicError>,
}

impl Port<'_> {
    fn netdev(&self) -> Option<&str> {
        self.link.and_then(|link| link.netdev.as_deref())
    }

    /// For a command that needs the network device: its name, or how to find it.
    fn netdev_word(&self) -> String {
        let find = || {
            let (device, port) = (self.device, self.facts.number);
            format!("$(cat /sys/class/infiniband/{device}/ports/{port}/gid_attrs/ndevs/0)")
        };
        self.netdev().map_or_else(find, str::to_owned)
    }
}

/// Judges. What stops a job is the choice's to tell, so that nothing is a failure here.
pub(super) fn port(section: &mut Section, port: &Port<'_>) {
    state(section, port);
    // Nothing more can be said of a port that carries nothing, or no RoCE.
    if port.facts.ethernet && port.facts.active {
        network(section, port);
        mtu(section, port);
        gids(section, port);
    }
}

fn state(section: &mut Section, port: &Port<'_>) {
    let (device, facts) = (port.device, port.facts);
    let layer = if facts.ethernet { "Ethernet" } else { "InfiniBand" };
    let speed = port
        .link
        .and_then(|link| link.megabits)
        .map_or_else(String::new, |megabits| format!(", {} Gbit/s", f64::from(megabits) / 1000.0));
    let netdev = port.netdev().map_or_else(String::new, |netdev| format!(", {netdev}"));
    let what = format!("{device} port {}: {}, {layer}{speed}{netdev}", facts.number, facts.state);
    if !facts.ethernet {
        section.ok("port", format!("{what}; this backend speaks RoCE, over Ethernet, and does not use it"));
    } else if facts.active {
        section.ok("port", what);
    } else {
        let what = format!("{what}; nothing can be sent over it: is its network device up, its cable in?");
        section.warn("port", what, format!("ip link set {} up", port.netdev_word()));
    }
}

/// A port may work although its network device is somewhere else, but not with GIDs that come and go with its addresses.
fn network(section: &mut Section, port: &Port<'_>) {
    let Some(link) = port.link else { return };
    if link.ip_mtu.is_none() {
        let named = link.netdev.as_ref().map_or_else(String::new, |netdev| format!(" ({netdev})"));
        let what = format!(
            "{} port {}: its network device{named} is not in this network namespace, as in a container with a network of its \
             own; its addresses may be of no use here",
            port.device, port.facts.number
        );
        section.warn("netdev", what, "docker run --net=host --device=/dev/infiniband IMAGE");
    }
}

fn mtu(section: &mut Section, port: &Port<'_>) {
    let (device, number, active) = (port.device, port.facts.number, port.facts.mtu_bytes);
    let Some(link) = port.link else { return };
    let what = format!("{device} port {number}: packets of {active} bytes");
    let netdev = port.netdev_word();
    let most = link.max_mtu.unwrap_or(LARGEST);
    let (Some(ip_mtu), Some(allowed)) = (link.ip_mtu, link.allowed_mtu()) else {
        section.ok("mtu", what);
        return;
    };
    if active < allowed {
        let what = format!(
            "{what}, although {netdev} (MTU {ip_mtu}) has room for {allowed}: they are slower than need be"
        );
        section.warn("mtu", what, format!("ip link set {netdev} down && ip link set {netdev} up"));
    } else if active < USUAL && active < most {
        let what = format!("{what}: {netdev} has an MTU of only {ip_mtu}, less than the usual 1500");
        section.warn("mtu", what, format!("ip link set {netdev} mtu {}", needed_ip_mtu(most)));
    } else if active < most {
        // The switch must pass them too, and few do before they are told; so it is no warning.
        let needed = needed_ip_mtu(most);
        section.ok(
            "mtu",
            format!(
                "{what}, as {netdev} has an MTU of {ip_mtu}; with `ip link set {netdev} mtu {needed}` on all hosts, and a \
                 switch that passes such frames, they would have {most} and large transfers be faster"
            ),
        );
    } else {
        section.ok("mtu", what);
    }
}

fn gids(section: &mut Section, port: &Port<'_>) {
    let (device, facts) = (port.device, port.facts);
    let used: Vec<&GidFacts> = facts.gids.iter().filter(|entry| !entry.gid.is_zero()).collect();
    let list: Vec<String> = used.iter().map(ToString::to_string).collect();
    let list = if list.is_empty() { "no GID".to_owned() } else { list.join(", ") };
    let what = format!("{device} port {}: {list}", facts.number);
    let routable = |entry: &&GidFacts| {
        entry.kind == GidKind::RoceV2 && entry.gid.is_usable() && !entry.gid.is_link_local()
    };
    let chosen = matches!(port.choice, Ok(choice) if choice.device == device && choice.port == facts.number);
    if chosen || used.iter().any(routable) {
        section.ok("gids", what);
    } else {
        let what =
            format!("{what}; none is RoCE v2 and routable, as {} has no IP address", port.netdev_word());
        section.warn("gids", what, format!("ip addr add ADDRESS/BITS dev {}", port.netdev_word()));
    }
}
