//! From a host to its addresses, in bounded time.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use transport_core::config::Host;

/// A host without brackets, with its scope.
pub(crate) fn bare(host: &Host) -> String {
    match host {
        Host::V4(ip) => ip.to_string(),
        Host::V6 { address, scope: None } => address.to_string(),
        Host::V6 { address, scope: Some(scope) } => format!("{address}%{scope}"),
        Host::Name { name, .. } => name.clone(),
    }
}

/// The socket addresses of `host`, at least one, IPv4 first, as the rendezvous tries them. `Err` says why there is none.
/// Waits no longer than `limit` for the resolver, which itself may take minutes.
pub(crate) fn resolve(host: &Host, port: u16, limit: Duration) -> Result<Vec<SocketAddr>, String> {
    if let Host::V4(ip) = host {
        return Ok(vec![SocketAddr::new(IpAddr::V4(*ip), port)]);
    }
    // The system's resolver knows how to read a scope, too.
    let (text, only_v6) = (bare(host), matches!(host, Host::Name { only_v6: true, .. }));
    let (answer, answered) = channel();
    let lookup = move || {
        // Nobody listens any more if it took too long.
        let _ = answer.send((text.as_str(), port).to_socket_addrs().map(Vec::from_iter));
    };
    thread::Builder::new().name("resolver".to_owned()).spawn(lookup).map_err(|error| error.to_string())?;
    let mut found = match answered.recv_timeout(limit) {
        Ok(found) => found.map_err(|error| error.to_string())?,
        Err(RecvTimeoutError::Timeout) => return Err(format!("no answer within {limit:?}")),
        Err(RecvTimeoutError::Disconnected) => return Err("the resolver ended".to_owned()),
    };
    found.retain(|address| address.is_ipv6() || !only_v6);
    found.sort_by_key(SocketAddr::is_ipv6);
    if found.is_empty() {
        Err("it has no address of the family that was asked for".to_owned())
    } else {
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use transport_core::config::RendezvousAddress;

    use super::*;

    fn find(text: &str) -> Result<Vec<SocketAddr>, String> {
        let RendezvousAddress { host, port } = text.parse().unwrap();
        resolve(&host, port, Duration::from_secs(20))
    }

    #[test]
    fn addresses_are_themselves_and_unknown_names_are_errors() {
        assert_eq!(find("127.0.0.1:9"), Ok(vec!["127.0.0.1:9".parse().unwrap()]));
        assert_eq!(find("[::1]:9"), Ok(vec!["[::1]:9".parse().unwrap()]));
        assert_eq!(find("[fe80::1%1]:9"), Ok(vec!["[fe80::1%1]:9".parse().unwrap()]));
        assert!(find("no-such-host.invalid:9").is_err());
    }

    #[test]
    fn ipv4_comes_first() {
        let found = find("localhost:9").unwrap();
        assert!(found.is_sorted_by_key(SocketAddr::is_ipv6) && found[0].ip().is_loopback(), "{found:?}");
    }
}
