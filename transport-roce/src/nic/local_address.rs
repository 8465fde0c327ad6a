//! This host's address towards the rendezvous: the best hint at which NIC the peers reach it by.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::wish::Local;

/// Any port will do, since nothing is sent; but some systems refuse 0.
const DISCARD_PORT: u16 = 9;

/// The local address from which packets to `rendezvous` would leave; none if it is on loopback or out of reach.
///
/// A UDP socket is connected, which sends nothing, and its own address read.
pub(crate) fn towards(rendezvous: SocketAddr) -> Option<IpAddr> {
    let mut target = rendezvous;
    let ip = target.ip().to_canonical();
    // PE 0 may serve on all addresses: then nothing says by which one it is reached.
    if ip.is_loopback() || ip.is_unspecified() {
        return None;
    }
    // Setting it would drop the scope of a link-local one.
    if ip != target.ip() {
        target.set_ip(ip);
    }
    if target.port() == 0 {
        target.set_port(DISCARD_PORT);
    }
    match source_address(target) {
        Ok(source) if source.is_unspecified() => None,
        // A packet to an address of this very host may leave by loopback: then that address is our own.
        Ok(source) if source.is_loopback() => Some(ip),
        Ok(source) => Some(source.to_canonical()),
        Err(error) => {
            tracing::debug!(%error, rendezvous = %target, "no way to the rendezvous by UDP");
            None
        }
    }
}

/// As [`towards`], with why there is none.
pub(super) fn local(rendezvous: Option<SocketAddr>) -> Local {
    match rendezvous {
        Some(rendezvous) if rendezvous.ip().to_canonical().is_loopback() => Local::Loopback,
        Some(rendezvous) => towards(rendezvous).map_or(Local::Unknown, Local::Address),
        None => Local::Unknown,
    }
}

fn source_address(target: SocketAddr) -> std::io::Result<IpAddr> {
    let any: IpAddr =
        if target.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(target)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::super::gid::Gid;
    use super::*;

    fn at(text: &str) -> Local {
        local(Some(text.parse().unwrap()))
    }

    #[test]
    fn loopback_and_the_wildcard_tell_no_nic() {
        assert_eq!(at("127.0.0.1:8899"), Local::Loopback);
        assert_eq!(at("[::1]:8899"), Local::Loopback);
        assert_eq!(at("[::ffff:127.0.0.1]:8899"), Local::Loopback);
        assert_eq!(at("0.0.0.0:8899"), Local::Unknown);
        assert_eq!(at("[::]:8899"), Local::Unknown);
        assert_eq!(local(None), Local::Unknown);
        assert_eq!(towards("127.0.0.1:1".parse().unwrap()), None);
    }

    #[test]
    fn an_address_of_this_host_is_its_own_answer() {
        // Link-local ones would need a scope; a host without network has none at all, and then nothing is tested.
        let own = if_addrs::get_if_addrs().unwrap().into_iter().map(|interface| interface.ip());
        for ip in own.filter(|ip| !ip.is_loopback() && !Gid::from(*ip).is_link_local()) {
            assert_eq!(towards(SocketAddr::new(ip, 8899)), Some(ip));
            assert_eq!(towards(SocketAddr::new(ip, 0)), Some(ip), "port 0");
        }
    }
}
