//! The socket at which the PEs meet: bound here and inherited by PE 0, so no other process can take the port between.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs as _};

use crate::error::LaunchError;

/// Hundreds of PEs connect at once, long before PE 0 accepts the first; the system cuts this to what it allows.
const BACKLOG: i32 = 4096;

/// A listening socket and the address under which the PEs reach it.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    /// Where it listens.
    address: SocketAddr,
    /// The socket, for PE 0.
    pub(crate) listener: TcpListener,
}

impl Rendezvous {
    /// The address as the PEs are told it.
    pub(crate) fn session(&self) -> String {
        format!("tcp://{}", self.address)
    }
}

/// Listens on `port` of `host`, an IP address or a name of this host; port 0 takes a free one.
pub(crate) fn bind(host: &str, port: u16) -> Result<Rendezvous, LaunchError> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let unknown = |cause: String| LaunchError::HostUnknown { host: host.to_owned(), cause };
    let addresses: Vec<SocketAddr> =
        (bare, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?.collect();
    if addresses.is_empty() {
        return Err(unknown("the name has no address".to_owned()));
    }
    let unavailable = |cause: io::Error| LaunchError::RendezvousUnavailable {
        host: host.to_owned(),
        port,
        remedy: remedy(&cause),
        cause,
    };
    let listener = TcpListener::bind(&addresses[..]).map_err(unavailable)?;
    rustix::net::listen(&listener, BACKLOG).map_err(|errno| unavailable(errno.into()))?;
    let mut address = listener.local_addr().map_err(unavailable)?;
    // "Every address of this host" is where to listen, not where to connect to.
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    Ok(Rendezvous { address, listener })
}

/// What the user can do about an address that cannot be bound.
fn remedy(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::AddrInUse => {
            "another process has this port: choose another, or leave --port out for a free one"
        }
        io::ErrorKind::AddrNotAvailable => "this is no address of this host: `ip address` lists those it has",
        io::ErrorKind::PermissionDenied => "ports below 1024 need a privilege: choose one from 1024 up",
        _ => "choose another address or port, or leave --host and --port out",
    }
}
