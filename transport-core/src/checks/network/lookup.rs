//! The socket addresses of a rendezvous, within a time.

use std::net::{IpAddr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

use super::{Own, in_family};
use crate::config::{AddressFamily, Host, Interface, RendezvousAddress};

/// Why there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotFound {
    pub(super) what: String,
    /// What to type to see more.
    pub(super) remedy: String,
}

/// The socket addresses of `rendezvous`, at least one, IPv4 first, as a PE finds them.
pub(super) fn addresses(
    rendezvous: &RendezvousAddress,
    ifname: Option<&Interface>,
    own: &[Own],
    limit: Duration,
) -> Result<Vec<SocketAddr>, NotFound> {
    let port = rendezvous.port;
    match &rendezvous.host {
        Host::V4(address) => Ok(vec![SocketAddr::new(IpAddr::V4(*address), port)]),
        Host::V6 { address, scope } => {
            let local = address.is_unicast_link_local();
            let scope =
                scope.as_deref().or_else(|| ifname.filter(|_| local).map(|ifname| ifname.name.as_str()));
            if local && scope.is_none() {
                return Err(NotFound {
                    what: format!("the link-local address {address} means nothing without its interface"),
                    remedy: format!(
                        "export SHMEM_UID_SESSION_ID=tcp://[{address}%{}]:{port}",
                        first_device(own)
                    ),
                });
            }
            let scope_id = scope.map_or(Ok(0), |scope| index_of(scope, own))?;
            Ok(vec![SocketAddr::V6(SocketAddrV6::new(*address, port, 0, scope_id))])
        }
        Host::Name { name, only_v6 } => {
            let family = ifname.and_then(|ifname| ifname.family);
            let family = if *only_v6 { Some(AddressFamily::Inet6) } else { family };
            let host = (name.clone(), port);
            let found = within(limit, move || Ok(host.to_socket_addrs()?.collect()));
            let remedy = format!("getent ahosts {name}");
            match found.map(|found| in_order(found, family)) {
                Ok(found) if found.is_empty() => Err(NotFound {
                    what: format!("the name {name} has no address of the family asked for"),
                    remedy,
                }),
                Ok(found) => Ok(found),
                Err(cause) => {
                    Err(NotFound { what: format!("the name {name} could not be looked up: {cause}"), remedy })
                }
            }
        }
    }
}

/// A device that a link-local address could be of.
fn first_device(own: &[Own]) -> &str {
    own.iter().find(|own| !own.ip.is_loopback()).map_or("eth0", |own| &own.interface)
}

fn index_of(scope: &str, own: &[Own]) -> Result<u32, NotFound> {
    let by_name = || own.iter().find(|own| own.interface == scope)?.index;
    scope.parse().ok().or_else(by_name).ok_or_else(|| NotFound {
        what: format!("the address has the scope {scope:?}, and no interface of that name has an address"),
        remedy: "ip -brief address".to_owned(),
    })
}

fn in_order(mut found: Vec<SocketAddr>, family: Option<AddressFamily>) -> Vec<SocketAddr> {
    found.retain(|address| in_family(address.ip(), family));
    found.sort_by_key(SocketAddr::is_ipv6);
    found.dedup();
    found
}

/// What `ask` finds, unless it takes longer: a resolver may take minutes, and its thread then ends with the program.
fn within(
    limit: Duration,
    ask: impl FnOnce() -> std::io::Result<Vec<SocketAddr>> + Send + 'static,
) -> Result<Vec<SocketAddr>, String> {
    let (answer, found) = mpsc::channel();
    let thread = std::thread::Builder::new().name("shmem-lookup".into()).spawn(move || {
        // Nobody listens any more if it took too long.
        let _ = answer.send(ask());
    });
    thread.map_err(|error| error.to_string())?;
    match found.recv_timeout(limit) {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {limit:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::own;
    use super::*;

    const SOON: Duration = Duration::from_secs(5);

    fn look_up(text: &str, ifname: Option<&str>) -> Result<Vec<SocketAddr>, NotFound> {
        let ifname = ifname.map(|name| name.parse().unwrap());
        let own = own(&[("lo", 1, "127.0.0.1"), ("eth0", 4, "10.0.0.1")]);
        addresses(&text.parse().unwrap(), ifname.as_ref(), &own, SOON)
    }

    #[test]
    fn numbers_need_no_lookup() {
        assert_eq!(look_up("tcp://10.1.2.3:8899", None).unwrap(), ["10.1.2.3:8899".parse().unwrap()]);
        assert_eq!(look_up("tcp://[::1]:8899", Some("eth0")).unwrap(), ["[::1]:8899".parse().unwrap()]);
        let scoped = |text, ifname| match look_up(text, ifname).unwrap().as_slice() {
            [SocketAddr::V6(address)] => address.scope_id(),
            other => panic!("{other:?}"),
        };
        assert_eq!(scoped("tcp://[fe80::1%eth0]:1", None), 4);
        assert_eq!(scoped("tcp://[fe80::1%9]:1", None), 9);
        assert_eq!(scoped("tcp://[fe80::1]:1", Some("eth0")), 4);
    }

    #[test]
    fn a_link_local_address_needs_an_interface_that_is_there() {
        let error = look_up("tcp://[fe80::1]:7", None).unwrap_err();
        assert_eq!(error.remedy, "export SHMEM_UID_SESSION_ID=tcp://[fe80::1%eth0]:7");
        let error = look_up("tcp://[fe80::1%eth7]:7", None).unwrap_err();
        assert!(error.what.contains("\"eth7\"") && error.remedy == "ip -brief address", "{error:?}");
        assert_eq!(first_device(&[]), "eth0");
    }

    #[test]
    fn names_are_looked_up_and_those_of_nobody_are_told() {
        assert!(look_up("tcp://localhost:7", Some("lo:inet4")).unwrap().iter().all(SocketAddr::is_ipv4));
        let error = look_up("tcp://no-such-host.invalid:7", None).unwrap_err();
        assert!(error.what.contains("no-such-host.invalid"));
        assert_eq!(error.remedy, "getent ahosts no-such-host.invalid");
    }

    #[test]
    fn the_family_is_chosen_and_ipv4_comes_first() {
        let all: Vec<SocketAddr> = ["[::1]:1", "1.2.3.4:1", "1.2.3.4:1"].map(|a| a.parse().unwrap()).to_vec();
        assert_eq!(in_order(all.clone(), None), [all[1], all[0]]);
        assert_eq!(in_order(all.clone(), Some(AddressFamily::Inet6)), [all[0]]);
        assert_eq!(in_order(all[..1].to_vec(), Some(AddressFamily::Inet4)), []);
    }

    #[test]
    fn nobody_waits_for_a_slow_resolver() {
        let (end, ended) = mpsc::channel::<()>();
        let slow = within(Duration::from_millis(10), move || {
            let _ = ended.recv();
            Ok(Vec::new())
        });
        assert_eq!(slow.unwrap_err(), "no answer within 10ms");
        drop(end);
        assert!(within(SOON, || Err(std::io::ErrorKind::NotFound.into())).is_err());
    }
}
