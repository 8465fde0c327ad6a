//! The address of the rendezvous: found, and then tried as PE 0 or as any other PE would.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use super::{Own, in_family, local_port, lookup, remote};
use crate::checks::Section;
use crate::config::{Interface, RendezvousAddress};

pub(super) fn judge(
    section: &mut Section,
    rendezvous: &RendezvousAddress,
    ifname: Option<&Interface>,
    own: &[Own],
    limit: Duration,
) {
    const ID: &str = "rendezvous";
    let started = Instant::now();
    let addresses = match lookup::addresses(rendezvous, ifname, own, limit) {
        Ok(addresses) => addresses,
        Err(error) => return section.fail(ID, error.what, error.remedy),
    };
    if let Some(&address) = addresses.iter().find(|address| is_local(**address, own)) {
        return local_port::judge(section, of_interface(address, ifname, own));
    }
    if rendezvous.port == 0 {
        // PE 0 chooses the port over there, and says in a file which.
        let listed: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
        let what = format!("{}: of another host, where PE 0 takes any free port", listed.join(", "));
        return section.ok(ID, what);
    }
    remote::judge(section, &addresses, limit.saturating_sub(started.elapsed()));
}

/// Whether `address` is one of this host.
fn is_local(mut address: SocketAddr, own: &[Own]) -> bool {
    let ip = address.ip();
    // Link-local addresses are not in the list.
    address.set_port(0);
    let can_be_bound = || local_port::bind(address).is_ok();
    ip.is_loopback()
        || ip.is_unspecified()
        || own.iter().any(|own| own.ip == ip)
        || (is_link_local(ip) && can_be_bound())
}

/// With the address of the interface in the place of one that stands for all, as PE 0 does it.
fn of_interface(mut address: SocketAddr, ifname: Option<&Interface>, own: &[Own]) -> SocketAddr {
    if let Some(ifname) = ifname.filter(|_| address.ip().is_unspecified()) {
        let mut found =
            own.iter().filter(|own| own.interface == ifname.name && in_family(own.ip, ifname.family));
        // A link-local address needs more than an address to serve at.
        if let Some(own) = found.find(|own| own.ip.is_ipv4() == address.is_ipv4() && !is_link_local(own.ip)) {
            address.set_ip(own.ip);
        }
    }
    address
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(_) => false,
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{judged, own};
    use super::*;
    use crate::checks::Level;

    fn host() -> Vec<Own> {
        own(&[
            ("lo", 1, "127.0.0.1"),
            ("eth0", 2, "fe80::7"),
            ("eth0", 2, "fd00::7"),
            ("eth0", 2, "10.0.0.7"),
        ])
    }

    #[test]
    fn own_addresses_are_local() {
        for (ip, expected) in [
            ("127.0.0.5", true),
            ("0.0.0.0", true),
            ("::", true),
            ("10.0.0.7", true),
            ("fd00::7", true),
            ("10.0.0.8", false),
            ("fe80::dead:beef", false),
        ] {
            let address = SocketAddr::new(ip.parse().unwrap(), 8899);
            assert_eq!(is_local(address, &host()), expected, "{ip}");
        }
    }

    #[test]
    fn the_interface_narrows_an_address_that_stands_for_all() {
        for (address, ifname, expected) in [
            ("0.0.0.0:1", Some("eth0"), "10.0.0.7:1"),
            ("[::]:1", Some("eth0"), "[fd00::7]:1"),
            ("0.0.0.0:1", Some("eth0:inet6"), "0.0.0.0:1"),
            ("0.0.0.0:1", Some("eth9"), "0.0.0.0:1"),
            ("0.0.0.0:1", None, "0.0.0.0:1"),
            ("127.0.0.1:1", Some("eth0"), "127.0.0.1:1"),
        ] {
            let ifname = ifname.map(|name| name.parse().unwrap());
            let got = of_interface(address.parse().unwrap(), ifname.as_ref(), &host());
            assert_eq!(got, expected.parse().unwrap(), "{address}");
        }
    }

    #[test]
    fn each_kind_of_rendezvous_gets_its_own_look() {
        let limit = Duration::from_secs(2);
        for (rendezvous, level, part) in [
            ("tcp://127.0.0.1:0", Level::Ok, "any free port"),
            ("tcp://10.9.9.9:0", Level::Ok, "10.9.9.9: of another host"),
            ("tcp://255.255.255.255:9", Level::Fail, "cannot be reached"),
            ("tcp://no-such-host.invalid:9", Level::Fail, "could not be looked up"),
            ("tcp://[fe80::1]:9", Level::Fail, "link-local"),
        ] {
            let finding =
                judged(|section| judge(section, &rendezvous.parse().unwrap(), None, &host(), limit));
            assert_eq!((finding.id, finding.level), ("rendezvous", level), "{}", finding.what);
            assert!(finding.what.contains(part), "{}", finding.what);
        }
    }
}
