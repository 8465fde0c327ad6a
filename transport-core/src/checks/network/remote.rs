//! Whether a rendezvous on another host can be reached.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::checks::Section;

/// One attempt, however little time is left: none at all is no limit that the system takes.
const SHORTEST: Duration = Duration::from_millis(1);

/// How one attempt ended; the connection, if there is one, is closed at once.
pub(super) fn attempt(address: SocketAddr, limit: Duration) -> io::Result<()> {
    TcpStream::connect_timeout(&address, limit.max(SHORTEST)).map(drop)
}

/// Tries `addresses` in their order, each with its part of the time, until one answers.
pub(super) fn judge(section: &mut Section, addresses: &[SocketAddr], limit: Duration) {
    let deadline = Instant::now() + limit;
    let mut first_error = None;
    for (tried, &address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let part = left / u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        match attempt(address, part) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => {
                first_error = first_error.or(Some((address, error)));
            }
            answer => return answered(section, address, answer.is_ok()),
        }
    }
    if let Some((address, error)) = first_error {
        unreachable(section, address, &error, limit);
    }
}

fn answered(section: &mut Section, address: SocketAddr, served: bool) {
    let what = if served {
        format!("{address}: of another host, which answers: somebody serves there")
    } else {
        format!(
            "{address}: of another host, which answers that nobody serves there yet, as before PE 0 starts"
        )
    };
    section.ok("rendezvous", what);
}

fn unreachable(section: &mut Section, address: SocketAddr, error: &io::Error, limit: Duration) {
    let (ip, port) = (address.ip(), address.port());
    let scoped = match address {
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{ip}%{}", v6.scope_id()),
        _ => ip.to_string(),
    };
    // Less what the lookup took, which is nothing to show.
    let limit = Duration::from_millis(u64::try_from((limit.as_micros() + 500) / 1000).unwrap_or(u64::MAX));
    let (cause, remedy) = match error.kind() {
        io::ErrorKind::NetworkUnreachable => {
            (format!("this host has no route to it ({error})"), format!("ip route get {ip}"))
        }
        io::ErrorKind::HostUnreachable => {
            (format!("no host there, or a firewall ({error})"), format!("ip route get {ip}; ping -c 1 {ip}"))
        }
        io::ErrorKind::TimedOut => (
            format!("no answer within {limit:?}: no host there, or a firewall"),
            format!("ip route get {ip}; nc -vz {scoped} {port}"),
        ),
        _ => (error.to_string(), format!("nc -vz {scoped} {port}")),
    };
    section.fail("rendezvous", format!("{address}: of another host, and cannot be reached: {cause}"), remedy);
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use super::*;
    use crate::checks::Level;
    use std::net::TcpListener;

    #[test]
    fn an_answer_is_well_whichever_it_is() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let limit = Duration::from_secs(5);
        let served = judged(|section| judge(section, &[address], limit));
        assert!(served.level == Level::Ok && served.what.contains("somebody serves"), "{}", served.what);
        // Bound, so that no other test gets it, and not listened at.
        let silent = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        silent.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        let address = silent.local_addr().unwrap().as_socket().unwrap();
        let refused = judged(|section| judge(section, &[address], limit));
        assert!(refused.level == Level::Ok && refused.what.contains("nobody serves"), "{}", refused.what);
    }

    #[test]
    fn nobody_waits_longer_than_asked() {
        // Broadcast is nobody to connect to, whatever the routes are.
        let nowhere: SocketAddr = "255.255.255.255:9".parse().unwrap();
        let started = Instant::now();
        let finding = judged(|section| judge(section, &[nowhere, nowhere], Duration::ZERO));
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!((finding.id, finding.level), ("rendezvous", Level::Fail));
    }

    #[test]
    fn a_later_address_counts_if_an_earlier_one_does_not_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = ["255.255.255.255:9".parse().unwrap(), listener.local_addr().unwrap()];
        assert_eq!(judged(|section| judge(section, &addresses, Duration::from_secs(5))).level, Level::Ok);
        let mut section = Section::new("network", "Network");
        judge(&mut section, &[], Duration::ZERO);
        assert_eq!(section.findings, []);
    }

    #[test]
    fn every_failure_says_what_to_type() {
        let address = "10.0.0.9:8899".parse().unwrap();
        for (kind, part, remedy) in [
            (io::ErrorKind::NetworkUnreachable, "no route", "ip route get 10.0.0.9"),
            (io::ErrorKind::HostUnreachable, "firewall", "ip route get 10.0.0.9; ping -c 1 10.0.0.9"),
            (io::ErrorKind::TimedOut, "within 2s", "ip route get 10.0.0.9; nc -vz 10.0.0.9 8899"),
            (io::ErrorKind::PermissionDenied, "permission", "nc -vz 10.0.0.9 8899"),
        ] {
            let finding = judged(|section| {
                unreachable(section, address, &kind.into(), Duration::from_micros(1_999_900))
            });
            assert_eq!((finding.level, finding.remedy.as_deref()), (Level::Fail, Some(remedy)));
            assert!(finding.what.contains(part), "{}", finding.what);
        }
        let scoped = SocketAddr::V6(std::net::SocketAddrV6::new("fe80::9".parse().unwrap(), 8899, 0, 4));
        let finding = judged(|section| {
            unreachable(section, scoped, &io::ErrorKind::PermissionDenied.into(), Duration::ZERO);
        });
        assert_eq!(finding.remedy.as_deref(), Some("nc -vz fe80::9%4 8899"));
    }
}
