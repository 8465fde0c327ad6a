//! Which of the two hosts serves the rendezvous: both must come to the same without having spoken.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use super::remedy::Failure;

/// What this host does in the job.
#[derive(Debug)]
pub(super) struct Role {
    /// 0 serves, 1 comes.
    pub(super) pe: usize,
    /// This host's address towards the other; its port is that of the meeting.
    pub(super) mine: SocketAddr,
    /// The other's.
    pub(super) theirs: SocketAddr,
    /// PE 0 of two on one host holds the port from the start.
    pub(super) listener: Option<TcpListener>,
    /// The other is this very host.
    pub(super) same_host: bool,
}

impl Role {
    /// Where PE 0 serves.
    pub(super) fn rendezvous(&self) -> SocketAddr {
        if self.pe == 0 { self.mine } else { self.theirs }
    }
}

/// This host's role towards the first of these addresses to which there is a way: the lower address is PE 0. On one host,
/// who gets the port is.
pub(super) fn of(addresses: &[SocketAddr]) -> Result<Role, Failure> {
    let mut last = None;
    for &theirs in addresses {
        match source_towards(theirs) {
            Ok(mine) => return decide(mine, theirs),
            Err(error) => last = Some((theirs.ip(), error)),
        }
    }
    let (what, remedy) = match last {
        Some((ip, error)) => (format!("there is no way to {ip}: {error}"), format!("ip route get {ip}")),
        None => ("the peer has no address".to_owned(), "ip address".to_owned()),
    };
    Err(Failure { what, remedy })
}

fn decide(mine: SocketAddr, theirs: SocketAddr) -> Result<Role, Failure> {
    let (my_ip, their_ip) = (mine.ip().to_canonical(), theirs.ip().to_canonical());
    if my_ip != their_ip {
        let pe = usize::from(my_ip > their_ip);
        return Ok(Role { pe, mine, theirs, listener: None, same_host: false });
    }
    let (pe, listener) = match TcpListener::bind(mine) {
        Ok(listener) => (0, Some(listener)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => (1, None),
        Err(error) => {
            return Err(Failure {
                what: format!("cannot listen at {mine}: {error}"),
                remedy: format!("shmem-doctor --peer {my_ip}"),
            });
        }
    };
    Ok(Role { pe, mine, theirs, listener, same_host: true })
}

/// The address from which packets to `theirs` leave, with its port. A UDP socket is connected, which sends nothing, and its
/// own address read.
fn source_towards(theirs: SocketAddr) -> io::Result<SocketAddr> {
    let any: IpAddr =
        if theirs.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(theirs)?;
    let mut mine = socket.local_addr()?;
    // A packet to an address of this very host may leave by loopback: then that address is our own.
    if mine.ip().is_loopback() {
        return Ok(theirs);
    }
    mine.set_port(theirs.port());
    Ok(mine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(mine: &str, theirs: &str) -> Role {
        decide(mine.parse().unwrap(), theirs.parse().unwrap()).unwrap()
    }

    #[test]
    fn both_hosts_come_to_the_same() {
        for (low, high) in [
            ("10.0.0.1:5", "10.0.0.2:5"),
            ("10.0.0.9:5", "10.0.0.10:5"),
            ("[fd00::1]:5", "[fd00::2]:5"),
            ("[fe80::1%2]:5", "[fe80::2%7]:5"),
        ] {
            let (zero, one) = (role(low, high), role(high, low));
            assert_eq!((zero.pe, one.pe), (0, 1));
            assert_eq!(zero.rendezvous(), low.parse().unwrap());
            assert_eq!(one.rendezvous(), low.parse().unwrap());
            assert!(!zero.same_host && zero.listener.is_none());
        }
    }

    #[test]
    fn on_one_host_the_first_holds_the_port_and_the_second_comes_to_it() {
        // A port that was free a moment ago.
        let at = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (first, second) = (of(&[at]).unwrap(), of(&[at]).unwrap());
        assert_eq!((first.pe, second.pe), (0, 1));
        assert!(first.same_host && second.same_host && first.listener.is_some() && second.listener.is_none());
        assert_eq!(first.rendezvous(), second.rendezvous());
    }

    #[test]
    fn any_address_of_loopback_is_this_host() {
        assert_eq!(source_towards("127.0.0.2:7".parse().unwrap()).unwrap(), "127.0.0.2:7".parse().unwrap());
    }

    #[test]
    fn no_address_is_a_failure_with_something_to_type() {
        assert_eq!(of(&[]).unwrap_err().remedy, "ip address");
    }
}
