//! The socket on which PE 0 serves.

use std::io;
use std::net::{IpAddr, SocketAddr};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpListener;

use super::error::BootstrapError;
use super::join_spec::JoinSpec;
use super::{local_addresses, port_holder, resolve};

/// All PEs may knock at the same moment.
const BACKLOG: i32 = 1024;

/// Opens the listener, or takes the inherited one; with the address by which others reach it.
pub(crate) async fn open(spec: &mut JoinSpec) -> Result<(TcpListener, SocketAddr), BootstrapError> {
    let listener = match spec.listener.take() {
        Some(inherited) => check_inherited(inherited, spec.rendezvous.port)?,
        None => bind(spec).await?,
    };
    let refused = |error: io::Error| BootstrapError::InheritedListener { problem: error.to_string() };
    let local = listener.local_addr().map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let listener = TcpListener::from_std(listener).map_err(refused)?;
    Ok((listener, advertised(local, spec)))
}

fn check_inherited(
    listener: std::net::TcpListener,
    port: u16,
) -> Result<std::net::TcpListener, BootstrapError> {
    let bad = |problem: String| Err(BootstrapError::InheritedListener { problem });
    match listener.local_addr() {
        Ok(local) if port != 0 && local.port() != port => {
            bad(format!("it listens at {local}, but the rendezvous' port is {port}"))
        }
        Ok(_) => {
            // Launchers tend to leave the default, where hundreds of PEs at once lose a second to retransmission.
            if let Err(error) = SockRef::from(&listener).listen(BACKLOG) {
                tracing::debug!("bootstrap: the inherited listener keeps its backlog: {error}");
            }
            Ok(listener)
        }
        Err(error) => bad(error.to_string()),
    }
}

async fn bind(spec: &JoinSpec) -> Result<std::net::TcpListener, BootstrapError> {
    let mut addresses = resolve::resolve(spec.my_pe, &spec.rendezvous, spec.ifname.as_ref()).await?;
    if let Some(interface) = &spec.ifname {
        for address in addresses.iter_mut().filter(|address| address.ip().is_unspecified()) {
            address.set_ip(resolve::interface_address(spec.my_pe, interface)?);
        }
    }
    let mut first_error = None;
    for address in addresses {
        match bind_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => first_error = first_error.or(Some(explain(address, &error))),
        }
    }
    // There is always one address.
    Err(first_error.unwrap_or_else(|| BootstrapError::NameNotResolved {
        my_pe: spec.my_pe,
        name: spec.rendezvous.to_string(),
        cause: "it has no address".to_owned(),
    }))
}

fn bind_one(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of an earlier job that linger in TIME_WAIT do not matter; a live listener still does.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // `[::]` is for everybody, any other address for itself.
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn explain(address: SocketAddr, error: &io::Error) -> BootstrapError {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            BootstrapError::AddressInUse { address, holder: port_holder::describe(address.port()) }
        }
        io::ErrorKind::AddrNotAvailable => {
            BootstrapError::AddressNotLocal { address, local: local_addresses::describe() }
        }
        io::ErrorKind::PermissionDenied if address.port() < 1024 => {
            BootstrapError::PortNotPermitted { address }
        }
        _ => BootstrapError::Listen { address, cause: error.to_string() },
    }
}

/// The listener's address, with a real one in the wildcard's place.
fn advertised(local: SocketAddr, spec: &JoinSpec) -> SocketAddr {
    if !local.ip().is_unspecified() {
        return local;
    }
    let by_interface = spec.ifname.as_ref().and_then(local_addresses::address_of);
    let ip: Option<IpAddr> = by_interface.or_else(|| local_addresses::reachable(local.is_ipv6()));
    ip.map_or_else(|| resolve::connectable(local), |ip| SocketAddr::new(ip, local.port()))
}
