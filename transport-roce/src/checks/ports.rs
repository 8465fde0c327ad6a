//! The TCP ports by which peers find each other: whether they are free, and stay so.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};
use transport_core::checks::Section;

use super::ranges::{Ranges, ranges, written};

/// What is known about the ports of a kind of NIC on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Which they are.
    pub(crate) range: RangeInclusive<u16>,
    /// Those that cannot be bound, each with the state of who has it, as `ss` says it, if that can be seen.
    pub(crate) busy: BTreeMap<u16, Option<&'static str>>,
    /// The ports that the kernel gives to whoever asks for any.
    pub(crate) ephemeral: Option<RangeInclusive<u16>>,
    /// Those of them that it does not give.
    pub(crate) reserved: Ranges,
}

impl Ports {
    /// Looks, at `address` or, if there is none or it is of another host, at all addresses.
    pub(crate) fn now(range: &RangeInclusive<u16>, address: Option<IpAddr>) -> Self {
        let any = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let address = address.filter(|address| try_bind(*address, 0).is_ok()).unwrap_or(any);
        let mut busy: BTreeMap<u16, Option<&'static str>> = BTreeMap::new();
        busy.extend(range.clone().filter(|port| is_busy(address, *port)).map(|port| (port, None)));
        if !busy.is_empty() {
            for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
                name_holders(&mut busy, &fs::read_to_string(table).unwrap_or_default());
            }
        }
        let setting =
            |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        Self {
            range: range.clone(),
            busy,
            ephemeral: ephemeral(&setting("ip_local_port_range")),
            reserved: ranges(&setting("ip_local_reserved_ports")),
        }
    }
}

/// Whether somebody has it. What cannot be told for another reason is not held against it.
fn is_busy(address: IpAddr, port: u16) -> bool {
    matches!(try_bind(address, port), Err(rustix::io::Errno::ADDRINUSE))
}

/// Binds as the peers of a job do, without SO_REUSEADDR, and lets go again.
fn try_bind(address: IpAddr, port: u16) -> rustix::io::Result<()> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddr::new(address, port))
}

/// Puts the states of who has them to busy ports, out of the text of `/proc/net/tcp`.
fn name_holders(busy: &mut BTreeMap<u16, Option<&'static str>>, table: &str) {
    for line in table.lines().skip(1) {
        let mut fields = line.split_whitespace();
        let (Some(local), Some(code)) = (fields.nth(1), fields.nth(1)) else { continue };
        let port = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        let Some(holder) = port.and_then(|port| busy.get_mut(&port)) else { continue };
        // A listener has connections on its port as well; it is the one to look for.
        if *holder != Some(LISTEN) {
            *holder = state(code).or(*holder);
        }
    }
}

const LISTEN: &str = "LISTEN";

fn state(code: &str) -> Option<&'static str> {
    Some(match code {
        "01" => "ESTAB",
        "02" => "SYN-SENT",
        "03" => "SYN-RECV",
        "04" => "FIN-WAIT-1",
        "05" => "FIN-WAIT-2",
        "06" => "TIME-WAIT",
        "07" => "CLOSED",
        "08" => "CLOSE-WAIT",
        "09" => "LAST-ACK",
        "0A" => LISTEN,
        "0B" => "CLOSING",
        _ => return None,
    })
}

/// Reads two numbers, as `32768 60999`.
fn ephemeral(text: &str) -> Option<RangeInclusive<u16>> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let (Some(Ok(from)), Some(Ok(to))) = (numbers.next(), numbers.next()) else { return None };
    (from <= to).then_some(from..=to)
}

/// Judges.
pub(crate) fn ports(found: &Ports) -> Section {
    let mut section = Section::new("ports", "TCP ports");
    let (from, to) = (*found.range.start(), *found.range.end());
    if found.busy.is_empty() {
        section.ok("busy", format!("{from} to {to} are free"));
    } else {
        section.warn(
            "busy",
            format!(
                "of {from} to {to} these are in use: {}. CANN's own transport needs them, and this library with \
                 SHMEM_ROCE_CONNECT=first-use",
                holders(&found.busy)
            ),
            format!("ss -atnp 'sport >= :{from} and sport <= :{to}'"),
        );
    }
    kept_free(&mut section, found);
    section
}

/// Busy ports, as `60032-60034 (LISTEN), 60100`.
fn holders(busy: &BTreeMap<u16, Option<&'static str>>) -> String {
    let mut by_state: BTreeMap<Option<&str>, Vec<u16>> = BTreeMap::new();
    for (port, state) in busy {
        by_state.entry(*state).or_default().push(*port);
    }
    let all = |ports: &[u16]| written(&ports.iter().map(|port| *port..=*port).collect::<Vec<_>>(), ", ");
    let texts = by_state.iter().map(|(state, ports)| match state {
        Some(state) => format!("{} ({state})", all(ports)),
        None => all(ports),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Whether the kernel may give them to others meanwhile.
fn kept_free(section: &mut Section, found: &Ports) {
    let (from, to) = (*found.range.start(), *found.range.end());
    let Some(ephemeral) = &found.ephemeral else {
        section.ok("ephemeral", "the system does not say which ports it gives to others");
        return;
    };
    let given =
        |port: &u16| ephemeral.contains(port) && !found.reserved.iter().any(|range| range.contains(port));
    let (low, high) = (ephemeral.start(), ephemeral.end());
    if !found.range.clone().any(|port| given(&port)) {
        section.ok("ephemeral", format!("the kernel gives none of {from} to {to} to others"));
        return;
    }
    // The setting is replaced as a whole, so what is reserved already is said again.
    let mut reserved = found.reserved.clone();
    reserved.push(found.range.clone());
    section.warn(
        "ephemeral",
        format!(
            "the kernel gives ports of {low} to {high} to any connection, {from} to {to} among them: one that is free now may \
             be taken when a job starts"
        ),
        format!("sysctl -w net.ipv4.ip_local_reserved_ports={}", written(&reserved, ",")),
    );
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use transport_core::checks::Level;

    use super::*;

    fn found() -> Ports {
        let reserved = vec![60000..=61000];
        Ports { range: 60032..=60287, busy: BTreeMap::new(), ephemeral: Some(32768..=60999), reserved }
    }

    #[track_caller]
    fn judged(found: &Ports, id: &str, level: Level, parts: &[&str]) {
        let section = ports(found);
        let finding = section.findings.iter().find(|finding| finding.id == id).unwrap();
        assert_eq!(finding.level, level, "{finding:?}");
        let text = format!("{} {}", finding.what, finding.remedy.as_deref().unwrap_or("-"));
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in: {text}");
        }
    }

    #[test]
    fn busy_ports_are_named_as_ranges() {
        judged(&found(), "busy", Level::Ok, &["60032 to 60287 are free"]);
        let mut found = found();
        found.busy.extend([60032, 60033, 60034, 60287].map(|port| (port, Some(LISTEN))));
        found.busy.extend([(60100, None), (60101, Some("TIME-WAIT"))]);
        let list = "60100, 60032-60034, 60287 (LISTEN), 60101 (TIME-WAIT). CANN's";
        let remedy = "ss -atnp 'sport >= :60032 and sport <= :60287'";
        judged(&found, "busy", Level::Warn, &[list, remedy, "first-use"]);
    }

    #[test]
    fn ports_that_the_kernel_may_give_away() {
        let with = |ephemeral, reserved: Ranges| Ports { ephemeral, reserved, ..found() };
        judged(
            &with(Some(32768..=60999), vec![]),
            "ephemeral",
            Level::Warn,
            &["ip_local_reserved_ports=60032-60287"],
        );
        let some = vec![8080..=8080, 60000..=60100];
        let merged = "ip_local_reserved_ports=8080,60000-60287";
        judged(&with(Some(32768..=60999), some), "ephemeral", Level::Warn, &[merged, "32768 to 60999"]);
        judged(&found(), "ephemeral", Level::Ok, &["none of 60032 to 60287"]);
        judged(&with(Some(32768..=60031), vec![]), "ephemeral", Level::Ok, &["none"]);
        judged(&with(Some(60287..=60999), vec![]), "ephemeral", Level::Warn, &["60287 to 60999"]);
        judged(&with(None, vec![]), "ephemeral", Level::Ok, &["does not say"]);
    }

    #[test]
    fn the_kernel_s_range_is_read() {
        assert_eq!(ephemeral("32768\t60999\n"), Some(32768..=60999));
        for text in ["", "1", "2 1", "a b", "1 70000"] {
            assert_eq!(ephemeral(text), None, "{text:?}");
        }
    }

    #[test]
    fn holders_are_found_in_the_table() {
        let mut busy: BTreeMap<u16, Option<&'static str>> =
            (60032..=60035).map(|port| (port, None)).collect();
        let table = "  sl  local_address rem_address   st\n   0: 00000000:EA80 00000000:0000 0A 0\n   \
                     1: 0100007F:EA80 0100007F:1234 01 0\n   2: 0100007F:EA81 0100007F:1234 06 0\n   \
                     3: 0100007F:EA82 0100007F:1234 FF 0\n rubbish\n 4: x:y z 0A\n";
        name_holders(&mut busy, table);
        assert_eq!(
            busy.values().copied().collect::<Vec<_>>(),
            [Some("LISTEN"), Some("TIME-WAIT"), None, None]
        );
    }

    #[test]
    fn a_listener_of_our_own_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for address in [Some("127.0.0.1".parse().unwrap()), None, Some("192.0.2.1".parse().unwrap())] {
            let found = Ports::now(&(port..=port), address);
            assert!(found.busy.contains_key(&port), "{address:?}");
            // Where /proc is mounted at all.
            if std::path::Path::new("/proc/net/tcp").exists() {
                assert_eq!(found.busy[&port], Some("LISTEN"));
            }
        }
        drop(listener);
    }
}
