//! Turns a rendezvous address into socket addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::time::Duration;

use super::error::BootstrapError;
use super::local_addresses;
use crate::config::{AddressFamily, Host, Interface, RendezvousAddress};

/// How long a name may take; resolvers themselves may take minutes.
const LOOKUP_LIMIT: Duration = Duration::from_secs(20);

/// The socket addresses of `rendezvous`, at least one, in the order in which to try them (IPv4 first).
pub(crate) async fn resolve(
    my_pe: usize,
    rendezvous: &RendezvousAddress,
    ifname: Option<&Interface>,
) -> Result<Vec<SocketAddr>, BootstrapError> {
    let port = rendezvous.port;
    match &rendezvous.host {
        Host::V4(address) => Ok(vec![SocketAddr::new(IpAddr::V4(*address), port)]),
        Host::V6 { address, scope } => {
            let scope_id = scope_id(my_pe, address, scope.as_deref(), ifname)?;
            Ok(vec![SocketAddr::V6(SocketAddrV6::new(*address, port, 0, scope_id))])
        }
        Host::Name { name, only_v6 } => {
            let only_v6 = *only_v6 || ifname.is_some_and(|i| i.family == Some(AddressFamily::Inet6));
            let only_v4 = ifname.is_some_and(|i| i.family == Some(AddressFamily::Inet4));
            let failed = |cause: String| BootstrapError::NameNotResolved { my_pe, name: name.clone(), cause };
            let lookup = tokio::time::timeout(LOOKUP_LIMIT, tokio::net::lookup_host((name.as_str(), port)));
            let mut found: Vec<SocketAddr> = match lookup.await {
                Ok(Ok(found)) => found.collect(),
                Ok(Err(error)) => return Err(failed(error.to_string())),
                Err(_) => return Err(failed(format!("no answer within {LOOKUP_LIMIT:?}"))),
            };
            found.retain(|address| if address.is_ipv6() { !only_v4 } else { !only_v6 });
            found.sort_by_key(SocketAddr::is_ipv6);
            found.dedup();
            if found.is_empty() {
                return Err(failed("it has no address of the family that was asked for".to_owned()));
            }
            Ok(found)
        }
    }
}

fn scope_id(
    my_pe: usize,
    address: &Ipv6Addr,
    scope: Option<&str>,
    ifname: Option<&Interface>,
) -> Result<u32, BootstrapError> {
    let name = match scope {
        Some(scope) => scope,
        None if address.is_unicast_link_local() => match ifname {
            Some(interface) => &interface.name,
            None => {
                let problem = format!(
                    "the link-local address {address} means nothing without its interface: \
                     write [{address}%interface]:port"
                );
                return Err(no_interface(my_pe, problem));
            }
        },
        None => return Ok(0),
    };
    name.parse()
        .ok()
        .or_else(|| local_addresses::index_of(name))
        .ok_or_else(|| no_interface(my_pe, format!("there is no interface {name:?}")))
}

pub(crate) fn no_interface(my_pe: usize, problem: String) -> BootstrapError {
    BootstrapError::Interface { my_pe, problem, local: local_addresses::describe() }
}

/// The address of the interface that was named.
pub(crate) fn interface_address(my_pe: usize, interface: &Interface) -> Result<IpAddr, BootstrapError> {
    local_addresses::address_of(interface).ok_or_else(|| {
        no_interface(my_pe, format!("there is no interface {interface}, or it has no address"))
    })
}

/// An address that stands for "here" made one that can be connected to.
pub(crate) fn connectable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        IpAddr::V6(ip) if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}
