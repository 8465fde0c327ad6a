//! What to type when the two hosts do not get through the job.

use std::net::{IpAddr, SocketAddr};

use demos::StartError;
use transport_core::bootstrap::{BootstrapError, JobFault};

use super::address::{self, PeerAddress};
use super::job;
use super::roles::Role;

/// Why it ended before there was a job.
#[derive(Debug)]
pub(super) struct Failure {
    /// What was found.
    pub(super) what: String,
    /// What to type.
    pub(super) remedy: String,
}

/// The commands for this pair of hosts.
#[derive(Debug)]
pub(super) struct Remedies {
    /// The command for the other host.
    there: String,
    /// The command for this one.
    here: String,
    peer: String,
    port: u16,
    backend: &'static str,
}

impl Remedies {
    /// `names_nic`: this side had to say which NIC, so that the other may have to as well.
    pub(super) fn new(peer: &PeerAddress, role: &Role, backend: &'static str, names_nic: bool) -> Self {
        // On one host both name the same; else the other names the address that this one has towards it.
        let me = if role.same_host { peer.to_string() } else { own_address(role.mine, peer.scope()) };
        let command = |peer: &str, nic: &str| format!("shmem-doctor --backend {backend}{nic} --peer {peer}");
        let (its_nic, own_nic) = if names_nic { (" --device ITS_NIC", " --device NIC") } else { ("", "") };
        let (there, here) = (command(&me, its_nic), command(&peer.to_string(), own_nic));
        Self { there, here, peer: peer.bare(), port: peer.port, backend }
    }

    /// The command for the other host.
    pub(super) fn there(&self) -> &str {
        &self.there
    }

    /// The command for this host, to be typed there as well with its own names.
    pub(super) fn on_both(&self) -> String {
        format!("{} --verbose", self.here)
    }

    /// For a failure of the step `id`, which the job's start ended with `error` if it never began.
    pub(super) fn of(&self, id: &str, error: Option<&StartError>) -> String {
        let Some(StartError::Bootstrap(error)) = error else {
            return if id == job::MEETS { self.start_there() } else { self.on_both() };
        };
        let who_listens = format!("ss -ltnp 'sport = :{}'", self.port);
        match error {
            BootstrapError::AddressInUse { .. } => who_listens,
            BootstrapError::NotARendezvous { .. } | BootstrapError::NoAnswer { .. } => {
                format!("{who_listens} # on {}", self.peer)
            }
            BootstrapError::PortNotPermitted { .. } => format!("shmem-doctor --peer {}", self.peer),
            BootstrapError::Job { fault: JobFault::Aborted { .. } | JobFault::PeerLost { .. }, .. } => {
                format!("shmem-doctor --backend {} # on {}", self.backend, self.peer)
            }
            _ => self.start_there(),
        }
    }

    fn start_there(&self) -> String {
        format!("{} # on {}", self.there, self.peer)
    }
}

/// As the other host names this one.
fn own_address(mine: SocketAddr, scope: Option<&str>) -> String {
    let host = match (mine.ip().to_canonical(), scope) {
        // The interface has most likely the same name there.
        (IpAddr::V6(ip), Some(scope)) if ip.is_unicast_link_local() => format!("{ip}%{scope}"),
        (ip, _) => ip.to_string(),
    };
    address::show(&host, mine.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remedies(peer: &str, mine: &str) -> Remedies {
        let peer = PeerAddress::parse(peer).unwrap();
        let mine: SocketAddr = mine.parse().unwrap();
        let theirs = SocketAddr::new("10.0.0.2".parse().unwrap(), peer.port);
        Remedies::new(&peer, &Role { pe: 0, mine, theirs, listener: None, same_host: false }, "roce", false)
    }

    #[test]
    fn the_command_for_the_other_host_names_this_one() {
        let usual = remedies("node-2", "10.0.0.1:18515");
        assert_eq!(usual.of(job::MEETS, None), "shmem-doctor --backend roce --peer 10.0.0.1 # on node-2");
        assert_eq!(usual.of(job::WRITE, None), "shmem-doctor --backend roce --peer node-2 --verbose");
        assert!(remedies("10.0.0.2:77", "10.0.0.1:77").there().ends_with("--peer 10.0.0.1:77"));
        assert!(remedies("fd00::2", "[fd00::1]:18515").there().ends_with("--peer fd00::1"));
        assert!(remedies("[fe80::2%eth0]:9", "[fe80::1%3]:9").there().ends_with("--peer [fe80::1%eth0]:9"));
    }

    #[test]
    fn a_port_that_is_taken_is_looked_up() {
        let at = "10.0.0.1:18515".parse().unwrap();
        let error =
            StartError::Bootstrap(BootstrapError::AddressInUse { address: at, holder: String::new() });
        assert_eq!(
            remedies("10.0.0.2", "10.0.0.1:18515").of(job::MEETS, Some(&error)),
            "ss -ltnp 'sport = :18515'"
        );
        let (address, problem) = (at.to_string(), "sent something else".to_owned());
        let error = StartError::Bootstrap(BootstrapError::NotARendezvous { my_pe: 1, address, problem });
        assert_eq!(
            remedies("10.0.0.2:77", "10.0.0.3:77").of(job::MEETS, Some(&error)),
            "ss -ltnp 'sport = :77' # on 10.0.0.2"
        );
    }
}
