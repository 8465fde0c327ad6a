//! What is said of made-up devices.

use transport_core::checks::{Finding, Level};

use super::*;
use crate::nic::{GidFacts, GidKind, PortFacts};
use crate::verbs::Errno;

const XSCALE: NicKind = NicKind { name: "XSCALE NIC", device_prefix: Some("xscale_"), ..NicKind::ROCE };

fn gid(index: u32, address: &str, kind: GidKind) -> GidFacts {
    let gid = address.parse::<std::net::IpAddr>().unwrap().into();
    GidFacts { index, gid, kind, netdev: Some("eth1".into()) }
}

fn port(active: bool, mtu_bytes: u32, gids: Vec<GidFacts>) -> PortFacts {
    let state = if active { "ACTIVE" } else { "DOWN" };
    PortFacts { number: 1, state: state.into(), active, ethernet: true, mtu_bytes, gids }
}

fn link(ip_mtu: Option<u32>) -> Link {
    Link { port: 1, megabits: Some(100_000), max_mtu: Some(4096), netdev: Some("eth1".into()), ip_mtu }
}

fn device(name: &str, port: PortFacts, link: Link) -> OpenDevice {
    OpenDevice {
        facts: DeviceFacts { name: name.into(), ports: vec![port] },
        provider: Some("/lib/libxscale-rdmav34.so".into()),
        links: vec![link],
    }
}

fn good(name: &str) -> OpenDevice {
    let gids = vec![gid(0, "fe80::1", GidKind::RoceV1), gid(3, "10.0.0.1", GidKind::RoceV2)];
    device(name, port(true, 4096, gids), link(Some(4200)))
}

fn choice(name: &str) -> Result<Choice, NicError> {
    Ok(Choice {
        device: name.into(),
        port: 1,
        mtu_bytes: 4096,
        gid: gid(3, "10.0.0.1", GidKind::RoceV2),
        reason: format!("{name} port 1, GID 3: the only one"),
    })
}

fn judge(
    open: &[OpenDevice],
    failed: &[(String, VerbsError)],
    undriven: &[&str],
    choice: &Result<Choice, NicError>,
) -> Section {
    devices(&Devices { open, failed, undriven, choice }, &XSCALE)
}

#[track_caller]
fn has(section: &Section, id: &str, level: Level, parts: &[&str]) {
    let of: Vec<&Finding> = section.findings.iter().filter(|finding| finding.id == id).collect();
    let [finding] = of.as_slice() else { panic!("{id}: {section:?}") };
    assert_eq!(finding.level, level, "{finding:?}");
    let text = format!("{} {}", finding.what, finding.remedy.as_deref().unwrap_or("-"));
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

fn cannot_open(name: &str) -> (String, VerbsError) {
    (name.into(), VerbsError::Open { device: name.into(), errno: Errno::ACCES, hint: "See." })
}

#[test]
fn a_good_device_is_told_in_full() {
    let section = judge(&[good("xscale_0")], &[], &[], &choice("xscale_0"));
    assert_eq!(section.level(), Level::Ok);
    has(&section, "device", Level::Ok, &["xscale_0: driven by /lib/libxscale-rdmav34.so"]);
    has(&section, "port", Level::Ok, &["xscale_0 port 1: ACTIVE, Ethernet, 100 Gbit/s, eth1"]);
    has(&section, "mtu", Level::Ok, &["packets of 4096 bytes"]);
    let gids = "GID 0 (fe80::1, RoCE v1, eth1), GID 3 (10.0.0.1, RoCE v2, eth1)";
    has(&section, "gids", Level::Ok, &[gids]);
    has(&section, "choice", Level::Ok, &["a job would use xscale_0 port 1, GID 3: the only one"]);
}

#[test]
fn what_the_system_does_not_tell_is_left_out() {
    let silent = Link { port: 1, megabits: None, max_mtu: None, netdev: None, ip_mtu: Some(1500) };
    let mut device = device("xscale_0", port(true, 1024, Vec::new()), silent);
    device.provider = None;
    let section = judge(std::slice::from_ref(&device), &[], &[], &choice("xscale_1"));
    has(&section, "device", Level::Ok, &["does not say which provider"]);
    has(&section, "port", Level::Ok, &["xscale_0 port 1: ACTIVE, Ethernet"]);
    let find = "ip addr add ADDRESS/BITS dev $(cat /sys/class/infiniband/xscale_0/ports/1/gid_attrs/ndevs/0)";
    has(&section, "gids", Level::Warn, &["no GID", find]);
    device.links.clear();
    let section = judge(std::slice::from_ref(&device), &[], &[], &choice("xscale_1"));
    assert!(section.findings.iter().all(|finding| !["mtu", "netdev"].contains(&finding.id)), "{section:?}");
    device.facts.ports.clear();
    let section = judge(&[device], &[], &[], &choice("xscale_1"));
    has(&section, "device", Level::Warn, &["no ports", "ibv_devinfo -v -d xscale_0"]);
}

#[test]
fn packets_and_their_network_device() {
    let with = |mtu, ip_mtu| {
        let gids = vec![gid(3, "10.0.0.1", GidKind::RoceV2)];
        judge(&[device("xscale_0", port(true, mtu, gids), link(ip_mtu))], &[], &[], &choice("xscale_0"))
    };
    let section = with(1024, Some(1500));
    has(&section, "mtu", Level::Ok, &["`ip link set eth1 mtu 4200`", "MTU of 1500", "1024 bytes"]);
    has(&with(1024, Some(4200)), "mtu", Level::Warn, &["room for 4096", "ip link set eth1 down &&"]);
    has(&with(512, Some(1000)), "mtu", Level::Warn, &["only 1000", "ip link set eth1 mtu 4200"]);
    has(&with(256, Some(100)), "mtu", Level::Ok, &["256 bytes"]);
    let section = with(1024, None);
    has(&section, "netdev", Level::Warn, &["(eth1) is not in this network namespace", "--net=host"]);
    has(&section, "mtu", Level::Ok, &["1024"]);
}

#[test]
fn a_port_that_cannot_be_used() {
    let down = device("xscale_0", port(false, 1024, Vec::new()), link(Some(1500)));
    let section = judge(std::slice::from_ref(&down), &[], &[], &choice("xscale_1"));
    has(&section, "port", Level::Warn, &["DOWN", "ip link set eth1 up"]);
    assert_eq!(section.findings.len(), 3, "nothing more is said: {section:?}");
    let section = judge(&[down], &[], &[], &Err(NicError::NoneActive { ports: "xscale_0:1".into() }));
    has(&section, "choice", Level::Fail, &["no port is an active Ethernet port", "rdma link show"]);
    let mut other = good("xscale_0");
    other.facts.ports[0].ethernet = false;
    let section = judge(&[other], &[], &[], &choice("xscale_1"));
    has(&section, "port", Level::Ok, &["InfiniBand", "does not use it"]);
}

#[test]
fn gids_that_no_router_forwards() {
    let local = vec![gid(0, "fe80::1", GidKind::RoceV1), gid(1, "fe80::1", GidKind::RoceV2)];
    let local = device("xscale_0", port(true, 4096, local), link(Some(4200)));
    let section = judge(std::slice::from_ref(&local), &[], &[], &choice("xscale_1"));
    has(
        &section,
        "gids",
        Level::Warn,
        &["none is RoCE v2 and routable", "ip addr add ADDRESS/BITS dev eth1"],
    );
    // Somebody allowed it.
    has(&judge(&[local], &[], &[], &choice("xscale_0")), "gids", Level::Ok, &["fe80::1"]);
}

#[test]
fn devices_of_another_kind_are_mentioned_only() {
    let open = [good("mlx5_0"), good("xscale_0")];
    let section = judge(&open, &[cannot_open("mlx5_1")], &["mlx5_2"], &choice("xscale_0"));
    assert_eq!(section.level(), Level::Ok);
    let others: Vec<&str> =
        section.findings.iter().filter(|f| f.id == "other-device").map(|f| f.what.as_str()).collect();
    assert_eq!(others.len(), 3);
    for (what, name) in others.iter().zip(["mlx5_0", "mlx5_1", "mlx5_2"]) {
        assert!(what.contains(name) && what.contains("is no XSCALE NIC"), "{what}");
    }
}

#[test]
fn what_cannot_be_used_fails_only_if_nothing_else_can() {
    let (failed, undriven) = ([cannot_open("xscale_1")], ["xscale_2"]);
    let section = judge(&[good("xscale_0")], &failed, &undriven, &choice("xscale_0"));
    has(&section, "not-opened", Level::Warn, &["xscale_1 cannot be opened", "usermod -aG rdma"]);
    has(&section, "no-provider", Level::Warn, &["the kernel has xscale_2", "ibverbs-providers"]);
    let ignored = crate::provider::ProviderError::Ignored { devices: "xscale_2".into() };
    // What the section of the plug-ins says fails there.
    for (choice, level) in [(NicError::NoDevices, Level::Fail), (ignored.into(), Level::Warn)] {
        let section = judge(&[], &failed, &undriven, &Err(choice));
        has(&section, "not-opened", Level::Fail, &["xscale_1"]);
        has(&section, "no-provider", level, &["xscale_2"]);
        assert!(section.findings.iter().all(|finding| finding.id != "choice"), "said twice: {section:?}");
    }
}

#[test]
fn a_driver_of_its_own_is_looked_for_by_its_name() {
    let remedy = driver_of(&NicKind::LIKE_XSCALE);
    assert_eq!(remedy, "find / -name 'libxscale*.so*' 2>/dev/null; ls /etc/libibverbs.d");
}

#[test]
fn no_device_and_too_many() {
    let section = judge(&[], &[], &[], &Err(NicError::NoDevices));
    has(&section, "choice", Level::Fail, &["no RDMA device", "rdma link show"]);
    // A device of another kind that does not open is not why.
    let section = judge(&[], &[cannot_open("mlx5_0")], &[], &Err(NicError::NoDevices));
    has(&section, "choice", Level::Fail, &["no RDMA device"]);
    let several = Err(NicError::Several {
        count: 2,
        local: "?".into(),
        candidates: "xscale_0:1; xscale_1:1".into(),
        example: "xscale_0:1".into(),
    });
    let section = judge(&[good("xscale_0"), good("xscale_1")], &[], &[], &several);
    assert_eq!(section.level(), Level::Warn);
    let choice = section.findings.last().unwrap();
    assert_eq!(choice.remedy.as_deref(), Some("export SHMEM_NIC=xscale_0:1"));
}
