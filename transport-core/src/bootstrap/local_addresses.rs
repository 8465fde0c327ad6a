//! The network interfaces of this host.

use std::net::IpAddr;

use crate::config::{AddressFamily, Interface};

fn all() -> Vec<if_addrs::Interface> {
    if_addrs::get_if_addrs().unwrap_or_default()
}

/// Every interface with its addresses, for an error to show.
pub(crate) fn describe() -> String {
    let list: Vec<String> = all().iter().map(|i| format!("{} ({})", i.ip(), i.name)).collect();
    if list.is_empty() { "no network address at all".to_owned() } else { list.join(", ") }
}

/// The number of an interface, as a scope id needs it.
pub(crate) fn index_of(name: &str) -> Option<u32> {
    all().into_iter().find(|interface| interface.name == name)?.index
}

fn in_family(ip: IpAddr, family: Option<AddressFamily>) -> bool {
    match family {
        None => true,
        Some(AddressFamily::Inet4) => ip.is_ipv4(),
        Some(AddressFamily::Inet6) => ip.is_ipv6(),
    }
}

/// An address of this interface in the family it asks for; IPv4 before IPv6, link-local ones last.
pub(crate) fn address_of(wanted: &Interface) -> Option<IpAddr> {
    let mut found: Vec<if_addrs::Interface> =
        all().into_iter().filter(|i| i.name == wanted.name && in_family(i.ip(), wanted.family)).collect();
    found.sort_by_key(|interface| (interface.is_link_local(), interface.ip().is_ipv6()));
    found.first().map(if_addrs::Interface::ip)
}

/// An address by which other hosts may reach this one; loopback if there is no other.
pub(crate) fn reachable(v6: bool) -> Option<IpAddr> {
    let mut found: Vec<if_addrs::Interface> =
        all().into_iter().filter(|interface| interface.ip().is_ipv6() == v6).collect();
    found.sort_by_key(|interface| (interface.is_loopback(), interface.is_link_local()));
    found.first().map(if_addrs::Interface::ip)
}
