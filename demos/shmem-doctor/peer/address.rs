//! The other host, as the user names it.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

use transport_core::config::{Host, RendezvousAddress};

use super::remedy::Failure;
use crate::resolve::{bare, resolve};

/// The port at which two doctors meet.
pub(crate) const DEFAULT_PORT: u16 = 18515;

/// Host and port; displays as `--peer` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerAddress {
    /// A name or an address.
    pub(crate) host: Host,
    /// Where the doctors meet.
    pub(crate) port: u16,
}

impl PeerAddress {
    /// Reads `host`, `ip`, `host:port`, `v6`, `[v6]` or `[v6]:port`; an IPv6 address may have a scope.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let full = if is_bare_v6(text) {
            format!("[{text}]:{DEFAULT_PORT}")
        } else if text.ends_with(']') || (!text.is_empty() && !text.contains(':')) {
            format!("{text}:{DEFAULT_PORT}")
        } else {
            text.to_owned()
        };
        let wrong = |why: &str| {
            format!("--peer is {text:?}: {why}; give the other host's name or address, e.g. 192.168.0.2")
        };
        let parsed: RendezvousAddress = full.parse().map_err(|error| wrong(&format!("{error}")))?;
        if parsed.port == 0 {
            return Err(wrong("port 0 is none where two hosts could meet"));
        }
        let unspecified = match &parsed.host {
            Host::V4(ip) => ip.is_unspecified(),
            Host::V6 { address, .. } => address.is_unspecified(),
            Host::Name { .. } => false,
        };
        if unspecified {
            return Err(wrong("it stands for every address of this host and names none of another"));
        }
        Ok(Self { host: parsed.host, port: parsed.port })
    }

    /// The scope of a link-local address.
    pub(super) fn scope(&self) -> Option<&str> {
        match &self.host {
            Host::V6 { scope, .. } => scope.as_deref(),
            _ => None,
        }
    }

    /// The host alone, as it can be typed.
    pub(super) fn bare(&self) -> String {
        bare(&self.host)
    }

    /// Its socket addresses, as [`resolve()`] answers.
    pub(super) fn resolve(&self, limit: Duration) -> Result<Vec<SocketAddr>, Failure> {
        resolve(&self.host, self.port, limit).map_err(|why| Failure {
            what: format!("{} cannot be resolved: {why}", self.bare()),
            remedy: format!("getent hosts {}", self.bare()),
        })
    }
}

/// Whether it is an IPv6 address without brackets, so that all of its colons are its own.
fn is_bare_v6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// A host and a port as `--peer` takes them.
pub(super) fn show(host: &str, port: u16) -> String {
    match (port == DEFAULT_PORT, host.contains(':')) {
        (true, _) => host.to_owned(),
        (false, true) => format!("[{host}]:{port}"),
        (false, false) => format!("{host}:{port}"),
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show(&self.bare(), self.port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_shown_as_it_can_be_typed() {
        for (text, host, port, shown) in [
            ("10.0.0.2", "10.0.0.2", 18515, "10.0.0.2"),
            ("10.0.0.2:18515", "10.0.0.2", 18515, "10.0.0.2"),
            ("10.0.0.2:77", "10.0.0.2", 77, "10.0.0.2:77"),
            ("node-2", "node-2", 18515, "node-2"),
            ("node-2.lan:7000", "node-2.lan", 7000, "node-2.lan:7000"),
            ("fd00::2", "fd00::2", 18515, "fd00::2"),
            ("[fd00::2]", "fd00::2", 18515, "fd00::2"),
            ("[fd00::2]:9", "fd00::2", 9, "[fd00::2]:9"),
            ("fe80::1%eth0", "fe80::1%eth0", 18515, "fe80::1%eth0"),
            ("[fe80::1%eth0]:9", "fe80::1%eth0", 9, "[fe80::1%eth0]:9"),
            ("::1", "::1", 18515, "::1"),
        ] {
            let peer = PeerAddress::parse(text).unwrap();
            assert_eq!(
                (peer.bare().as_str(), peer.port, peer.to_string().as_str()),
                (host, port, shown),
                "{text}"
            );
            assert_eq!(PeerAddress::parse(&peer.to_string()), Ok(peer));
        }
    }

    #[test]
    fn what_is_no_host_is_refused_with_the_text() {
        for text in [
            "",
            ":",
            "10.0.0",
            "10.0.0.2:",
            "10.0.0.2:x",
            "10.0.0.2:70000",
            "10.0.0.2:0",
            "a b",
            "[10.0.0.2]",
            "[::1",
            "0.0.0.0",
            "::",
            "-x",
            "udp://10.0.0.2:1",
        ] {
            let error = PeerAddress::parse(text).unwrap_err();
            assert!(error.contains("--peer") && error.contains(&format!("{text:?}")), "{text}: {error}");
        }
    }

    #[test]
    fn names_resolve_ipv4_first_and_unknown_ones_say_so() {
        let found = PeerAddress::parse("127.0.0.1:9").unwrap().resolve(Duration::from_secs(5)).unwrap();
        assert_eq!(found, ["127.0.0.1:9".parse().unwrap()]);
        let failure =
            PeerAddress::parse("no-such-host.invalid").unwrap().resolve(Duration::from_secs(20)).unwrap_err();
        assert!(failure.what.contains("no-such-host.invalid"), "{failure:?}");
        assert_eq!(failure.remedy, "getent hosts no-such-host.invalid");
    }
}
