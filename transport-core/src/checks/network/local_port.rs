//! Whether PE 0 can serve at an address of this host.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};

use crate::bootstrap::port_holder;
use crate::checks::Section;

/// Binds `address` as PE 0 does, but does not listen there: a PE that looks for its job meanwhile finds nobody.
pub(super) fn bind(address: SocketAddr) -> io::Result<()> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&address.into())
}

pub(super) fn judge(section: &mut Section, address: SocketAddr) {
    const ID: &str = "rendezvous";
    let port = address.port();
    match bind(address) {
        Ok(()) if port == 0 => {
            section.ok(ID, format!("{address}: of this host, where PE 0 takes any free port"));
        }
        Ok(()) => section.ok(ID, format!("{address}: of this host, and the port is free for PE 0")),
        Err(error) => {
            let in_use = error.kind() == io::ErrorKind::AddrInUse;
            let holder = if in_use { port_holder::describe(port) } else { String::new() };
            refused(section, address, &error, &holder);
        }
    }
}

fn refused(section: &mut Section, address: SocketAddr, error: &io::Error, holder: &str) {
    const ID: &str = "rendezvous";
    let port = address.port();
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            let what = format!("{address}: in use{holder}, so that no PE 0 of another job can serve there");
            section.fail(ID, what, format!("ss -ltnp 'sport = :{port}'"));
        }
        io::ErrorKind::PermissionDenied if port < 1024 => {
            let what = format!("{address}: this user may not serve at ports below 1024");
            section.fail(ID, what, format!("sudo sysctl net.ipv4.ip_unprivileged_port_start={port}"));
        }
        _ => {
            let what = format!("{address}: PE 0 cannot serve there: {error}");
            section.fail(ID, what, format!("ip address show to {}", address.ip()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;
    use crate::checks::Level;
    use std::net::TcpListener;

    /// A port where nobody listens, and which no other test gets meanwhile.
    fn kept_port() -> (Socket, SocketAddr) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        (socket, address)
    }

    #[test]
    fn a_free_port_is_free_and_stays_so() {
        let (_kept, address) = kept_port();
        for _ in 0..2 {
            let finding = judged(|section| judge(section, address));
            assert_eq!((finding.id, finding.level), ("rendezvous", Level::Ok), "{}", finding.what);
        }
        let any = judged(|section| judge(section, "127.0.0.1:0".parse().unwrap()));
        assert!(any.level == Level::Ok && any.what.contains("any free port"));
    }

    #[test]
    fn who_holds_a_busy_port_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let finding = judged(|section| judge(section, address));
        assert_eq!(finding.level, Level::Fail);
        assert_eq!(finding.remedy.unwrap(), format!("ss -ltnp 'sport = :{}'", address.port()));
        if std::path::Path::new("/proc/net/tcp").exists() {
            let own = format!("in use by process {}", std::process::id());
            assert!(finding.what.contains(&own), "{}", finding.what);
        }
    }

    #[test]
    fn every_refusal_says_what_to_type() {
        let refusal = |address: &str, kind: io::ErrorKind| {
            judged(|section| refused(section, address.parse().unwrap(), &kind.into(), ""))
        };
        for (address, kind, remedy) in [
            (
                "127.0.0.1:80",
                io::ErrorKind::PermissionDenied,
                "sudo sysctl net.ipv4.ip_unprivileged_port_start=80",
            ),
            ("127.0.0.1:8899", io::ErrorKind::PermissionDenied, "ip address show to 127.0.0.1"),
            ("[::1]:8899", io::ErrorKind::AddrNotAvailable, "ip address show to ::1"),
            ("[::1]:8899", io::ErrorKind::AddrInUse, "ss -ltnp 'sport = :8899'"),
        ] {
            let finding = refusal(address, kind);
            assert_eq!((finding.level, finding.remedy.as_deref()), (Level::Fail, Some(remedy)));
        }
    }
}
