//! Where PE 0 serves the rendezvous: `tcp://host:port` in all its forms.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::interface::is_interface_name;

/// The host part of a [`RendezvousAddress`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// An IPv6 address with the scope that a link-local one needs (`%eth0` or `%2`).
    V6 {
        /// The address.
        address: Ipv6Addr,
        /// Interface name or number, without the `%`.
        scope: Option<String>,
    },
    /// A name, to be looked up when it is used.
    Name {
        /// The name.
        name: String,
        /// Whether only IPv6 addresses of it count (`tcp6://`).
        only_v6: bool,
    },
}

/// An address of the rendezvous. Parses `tcp://host:port`, `tcp6://[v6]:port`, `ip:port`, `[v6%scope]:port` and
/// `name:port`; displays with the scheme. Port 0 asks PE 0 to take any free one and to publish it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RendezvousAddress {
    /// The host.
    pub host: Host,
    /// The TCP port.
    pub port: u16,
}

/// The right forms, for the errors to show.
const FORMS: &str = "write tcp://IP:port, tcp://[IPv6]:port or tcp://name:port, e.g. tcp://192.168.0.1:8899";

/// Why a text is no [`RendezvousAddress`]. Every one quotes the text and shows the right form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Nothing there.
    #[error("the address {0:?} is empty; {FORMS}")]
    Empty(String),
    /// Another scheme than tcp or tcp6.
    #[error("the address {text:?} has the unknown scheme {scheme:?}; {FORMS}")]
    UnknownScheme {
        /// The text.
        text: String,
        /// Its scheme.
        scheme: String,
    },
    /// No `:port`.
    #[error("the address {0:?} has no port; {FORMS}")]
    NoPort(String),
    /// The port is not 0..=65535.
    #[error("the address {text:?} has the port {port:?}, which is not a number from 0 to 65535; {FORMS}")]
    BadPort {
        /// The text.
        text: String,
        /// What stands in the port's place.
        port: String,
    },
    /// An IPv6 address without brackets, where no one can tell address from port.
    #[error("the address {text:?} holds an IPv6 address without brackets; write tcp://{bracketed}")]
    Unbracketed {
        /// The text.
        text: String,
        /// What is most likely meant.
        bracketed: String,
    },
    /// A bracket without its partner, or something between `]` and the port.
    #[error(
        "the address {0:?} has unmatched or misplaced brackets; an IPv6 address is written tcp://[IPv6]:port, e.g. tcp://[::1]:8899"
    )]
    Brackets(String),
    /// What is in brackets is no IPv6 address.
    #[error(
        "the address {text:?} has {host:?} in brackets, which is no IPv6 address; only those have brackets: {FORMS}"
    )]
    NotIpv6 {
        /// The text.
        text: String,
        /// What is in the brackets.
        host: String,
    },
    /// The scope after `%` can be no interface.
    #[error(
        "the address {text:?} has the scope {scope:?}, which is no interface; write its name or number, e.g. tcp://[fe80::1%eth0]:8899"
    )]
    BadScope {
        /// The text.
        text: String,
        /// What stands after `%`.
        scope: String,
    },
    /// Looks like an IPv4 address and is none.
    #[error(
        "the address {text:?} has the host {host:?}, which is no IPv4 address (four numbers from 0 to 255); {FORMS}"
    )]
    NotIpv4 {
        /// The text.
        text: String,
        /// The host.
        host: String,
    },
    /// Neither an address nor a possible host name.
    #[error(
        "the address {text:?} has the host {host:?}, which is neither an IP address nor a host name; {FORMS}"
    )]
    BadHost {
        /// The text.
        text: String,
        /// The host.
        host: String,
    },
    /// `tcp6://` with an IPv4 address.
    #[error(
        "the address {text:?} asks for IPv6 (tcp6) but gives the IPv4 address {host}; write tcp://{host}:port or tcp6://[IPv6]:port"
    )]
    FamilyConflict {
        /// The text.
        text: String,
        /// The IPv4 address.
        host: Ipv4Addr,
    },
}

impl RendezvousAddress {
    /// The same host with another port.
    #[must_use]
    pub fn with_port(&self, port: u16) -> Self {
        Self { host: self.host.clone(), port }
    }
}

impl From<std::net::SocketAddr> for RendezvousAddress {
    fn from(address: std::net::SocketAddr) -> Self {
        let host = match address {
            std::net::SocketAddr::V4(v4) => Host::V4(*v4.ip()),
            std::net::SocketAddr::V6(v6) => {
                Host::V6 { address: *v6.ip(), scope: (v6.scope_id() != 0).then(|| v6.scope_id().to_string()) }
            }
        };
        Self { host, port: address.port() }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => write!(f, "{address}"),
            Self::V6 { address, scope: None } => write!(f, "[{address}]"),
            Self::V6 { address, scope: Some(scope) } => write!(f, "[{address}%{scope}]"),
            Self::Name { name, .. } => f.write_str(name),
        }
    }
}

impl fmt::Display for RendezvousAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if matches!(self.host, Host::Name { only_v6: true, .. }) { "tcp6" } else { "tcp" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl FromStr for RendezvousAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let owned = || text.to_owned();
        let (only_v6, rest) = split_scheme(text)?;
        if rest.is_empty() {
            return Err(AddressError::Empty(owned()));
        }
        let (host, port) = match rest.strip_prefix('[') {
            Some(inside) => {
                let (host, after) = inside.split_once(']').ok_or_else(|| AddressError::Brackets(owned()))?;
                let port = match after.strip_prefix(':') {
                    Some(port) => port,
                    None if after.is_empty() => return Err(AddressError::NoPort(owned())),
                    None => return Err(AddressError::Brackets(owned())),
                };
                (parse_v6(text, host)?, port)
            }
            None => split_unbracketed(text, rest, only_v6)?,
        };
        Ok(Self { host, port: parse_port(text, port)? })
    }
}

/// Takes the scheme off; true if it asks for IPv6.
fn split_scheme(text: &str) -> Result<(bool, &str), AddressError> {
    match text.split_once("://") {
        None => Ok((false, text)),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("tcp") => Ok((false, rest)),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("tcp6") => Ok((true, rest)),
        Some((scheme, _)) => {
            Err(AddressError::UnknownScheme { text: text.to_owned(), scheme: scheme.to_owned() })
        }
    }
}

/// Splits `host:port` that does not begin with a bracket.
fn split_unbracketed<'t>(text: &str, rest: &'t str, only_v6: bool) -> Result<(Host, &'t str), AddressError> {
    if rest.contains(['[', ']']) {
        return Err(AddressError::Brackets(text.to_owned()));
    }
    let Some((host, port)) = rest.rsplit_once(':') else {
        return Err(AddressError::NoPort(text.to_owned()));
    };
    if host.contains(':') {
        return Err(unbracketed(text, rest, host, port));
    }
    Ok((parse_host(text, host, only_v6)?, port))
}

/// The error for more than one colon outside of brackets, with the best guess at what was meant.
fn unbracketed(text: &str, rest: &str, host: &str, port: &str) -> AddressError {
    // `fe80::1:8899` is itself an address, but who writes a rendezvous means a port at its end.
    let bracketed = match (parse_v6(text, host), parse_v6(text, rest)) {
        (Ok(_), _) => format!("[{host}]:{port}"),
        (Err(_), Ok(_)) => format!("[{rest}]:port"),
        (Err(_), Err(_)) => {
            return AddressError::BadHost { text: text.to_owned(), host: host.to_owned() };
        }
    };
    AddressError::Unbracketed { text: text.to_owned(), bracketed }
}

fn parse_v6(text: &str, host: &str) -> Result<Host, AddressError> {
    let (address, scope) = match host.split_once('%') {
        Some((address, scope)) => (address, Some(scope)),
        None => (host, None),
    };
    let address: Ipv6Addr = address
        .parse()
        .map_err(|_| AddressError::NotIpv6 { text: text.to_owned(), host: host.to_owned() })?;
    match scope {
        Some(scope) if !is_interface_name(scope) => {
            Err(AddressError::BadScope { text: text.to_owned(), scope: scope.to_owned() })
        }
        scope => Ok(Host::V6 { address, scope: scope.map(str::to_owned) }),
    }
}

fn parse_host(text: &str, host: &str, only_v6: bool) -> Result<Host, AddressError> {
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        if only_v6 {
            return Err(AddressError::FamilyConflict { text: text.to_owned(), host: address });
        }
        return Ok(Host::V4(address));
    }
    let last_label = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    if !last_label.is_empty() && last_label.bytes().all(|b| b.is_ascii_digit()) {
        // Name servers have no top-level domain of digits: this is an address with a slip in it.
        return Err(AddressError::NotIpv4 { text: text.to_owned(), host: host.to_owned() });
    }
    if !is_host_name(host) {
        return Err(AddressError::BadHost { text: text.to_owned(), host: host.to_owned() });
    }
    Ok(Host::Name { name: host.to_owned(), only_v6 })
}

/// Letters, digits, `-` and `_` (which container networks use) in labels of 1 to 63, at most 253 in all.
fn is_host_name(host: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    host.len() <= 253 && host.strip_suffix('.').unwrap_or(host).split('.').all(label)
}

fn parse_port(text: &str, port: &str) -> Result<u16, AddressError> {
    if port.is_empty() {
        return Err(AddressError::NoPort(text.to_owned()));
    }
    // `parse` would take a plus sign.
    port.bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| port.parse().ok())
        .flatten()
        .ok_or_else(|| AddressError::BadPort { text: text.to_owned(), port: port.to_owned() })
}
