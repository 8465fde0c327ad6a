//! Whether the network is that of the host, which addresses this host has, and whether the rendezvous can be reached.

mod local_port;
mod lookup;
mod namespace;
mod remote;
mod rendezvous;

use std::net::IpAddr;
use std::time::Duration;

use super::Section;
use super::container::Signs;
use crate::config::{AddressFamily, Interface, RendezvousAddress};

/// Looks at the namespace of the network, at the addresses of this host, and at `rendezvous`, the address where PE 0
/// serves, with `ifname`, the interface to use, if they are known. Takes `timeout` at most for asking the network.
///
/// Where the rendezvous is an address of this host, its port is tried as PE 0 would, without listening on it; any other
/// is connected to, and let go at once.
#[must_use]
pub fn network(
    rendezvous: Option<&RendezvousAddress>,
    ifname: Option<&Interface>,
    timeout: Duration,
) -> Section {
    let mut section = Section::new("network", "Network");
    namespace::judge(&mut section, &namespace::Seen::by_this_process(), &Signs::of_this_process());
    let own = if_addrs::get_if_addrs().map(|all| all.into_iter().map(Own::from).collect::<Vec<_>>());
    let own = own.map_err(|error| error.to_string());
    judge_addresses(&mut section, own.as_deref().map_err(String::as_str));
    let own = own.unwrap_or_default();
    if let Some(ifname) = ifname {
        judge_interface(&mut section, ifname, &own);
    }
    if let Some(rendezvous) = rendezvous {
        rendezvous::judge(&mut section, rendezvous, ifname, &own, timeout);
    }
    section
}

/// An address of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Own {
    interface: String,
    index: Option<u32>,
    ip: IpAddr,
}

impl From<if_addrs::Interface> for Own {
    fn from(found: if_addrs::Interface) -> Self {
        Self { index: found.index, ip: found.ip(), interface: found.name }
    }
}

fn in_family(ip: IpAddr, family: Option<AddressFamily>) -> bool {
    family.is_none_or(|family| ip.is_ipv4() == (family == AddressFamily::Inet4))
}

fn list(own: &[Own]) -> String {
    own.iter().map(|own| format!("{} ({})", own.ip, own.interface)).collect::<Vec<_>>().join(", ")
}

fn judge_addresses(section: &mut Section, own: Result<&[Own], &str>) {
    const ID: &str = "addresses";
    match own {
        Err(error) => {
            section.warn(ID, format!("the addresses of this host cannot be listed: {error}"), "ip address");
        }
        Ok([]) => {
            let what = "no network address at all, not even 127.0.0.1: no rendezvous is possible here";
            section.fail(ID, what, "sudo ip link set lo up");
        }
        Ok(own) if own.iter().all(|own| own.ip.is_loopback()) => {
            let what =
                format!("only {}: PEs of other hosts can neither be reached nor reach this one", list(own));
            section.warn(ID, what, "ip address; ip link");
        }
        Ok(own) => section.ok(ID, list(own)),
    }
}

fn judge_interface(section: &mut Section, wanted: &Interface, own: &[Own]) {
    const ID: &str = "interface";
    let mut of_it = own.iter().filter(|own| own.interface == wanted.name);
    match of_it.find(|own| in_family(own.ip, wanted.family)) {
        Some(found) => section.ok(ID, format!("{wanted} has {}", found.ip)),
        None => section.fail(
            ID,
            format!("there is no interface {wanted} (SHMEM_UID_SOCK_IFNAME), or it has no such address"),
            "ip -brief address",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{Finding, Level};

    pub(super) fn own(all: &[(&str, u32, &str)]) -> Vec<Own> {
        let one = |&(interface, index, ip): &(&str, u32, &str)| Own {
            interface: interface.into(),
            index: Some(index),
            ip: ip.parse().unwrap(),
        };
        all.iter().map(one).collect()
    }

    pub(super) fn judged(judge: impl FnOnce(&mut Section)) -> Finding {
        let mut section = Section::new("network", "Network");
        judge(&mut section);
        assert_eq!(section.findings.len(), 1);
        section.findings.remove(0)
    }

    #[test]
    fn a_host_without_addresses_or_with_lo_only_is_told() {
        let lo = own(&[("lo", 1, "127.0.0.1"), ("lo", 1, "::1")]);
        let both = own(&[("lo", 1, "127.0.0.1"), ("eth0", 2, "10.0.0.7")]);
        for (own, level, part) in [
            (Err("no socket"), Level::Warn, "no socket"),
            (Ok(&[][..]), Level::Fail, "not even"),
            (Ok(&lo[..]), Level::Warn, "only 127.0.0.1 (lo), ::1 (lo)"),
            (Ok(&both[..]), Level::Ok, "10.0.0.7 (eth0)"),
        ] {
            let finding = judged(|section| judge_addresses(section, own));
            assert_eq!((finding.id, finding.level), ("addresses", level));
            assert!(finding.what.contains(part), "{}", finding.what);
        }
    }

    #[test]
    fn the_interface_must_be_there_with_an_address_of_the_family() {
        let own = own(&[("eth0", 2, "fe80::1"), ("eth0", 2, "10.0.0.7"), ("ib0", 3, "10.1.0.7")]);
        let judge = |wanted: &str| judged(|section| judge_interface(section, &wanted.parse().unwrap(), &own));
        for (wanted, level) in [
            ("eth0", Level::Ok),
            ("eth0:inet4", Level::Ok),
            ("eth0:inet6", Level::Ok),
            ("ib0:inet6", Level::Fail),
            ("eth1", Level::Fail),
        ] {
            assert_eq!(judge(wanted).level, level, "{wanted}");
        }
        assert_eq!(judge("ib0").what, "ib0 has 10.1.0.7");
    }

    #[test]
    fn this_host_is_looked_at_in_time() {
        let started = std::time::Instant::now();
        let rendezvous = "tcp://127.0.0.1:0".parse().unwrap();
        let section = network(Some(&rendezvous), None, Duration::from_secs(1));
        assert!(started.elapsed() < Duration::from_secs(10));
        let ids: Vec<_> = section.findings.iter().map(|finding| finding.id).collect();
        assert_eq!((section.id, ids.as_slice()), ("network", &["namespace", "addresses", "rendezvous"][..]));
        let none = network(None, Some(&"nosuchif0".parse().unwrap()), Duration::ZERO);
        assert_eq!(none.findings.last().map(|f| (f.id, f.level)), Some(("interface", Level::Fail)));
    }
}
