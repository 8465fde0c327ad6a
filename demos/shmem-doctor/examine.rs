//! Asks the library and the backends of this build for their checks.

use std::net::SocketAddr;

use demos::{BACKENDS, LOOPBACK, Needs};
use transport_core::checks::{self, Level, Section, worst};
use transport_core::config::RendezvousAddress;

use crate::resolve::resolve;
use crate::settings::Settings;

/// What was found about this host: what holds for every backend, then for the backend that was asked for, else for all of
/// this build.
///
/// # Errors
///
/// If a setting of a backend is wrong: what, where it came from, and how it would be right.
pub(crate) fn sections(settings: &Settings) -> Result<Vec<Section>, String> {
    let config = &settings.config;
    let memory = checks::memory(settings.heap_bytes, settings.pes_here);
    let mut sections = vec![
        checks::processors(settings.pes_here),
        // Only a NIC needs all of a heap in memory; elsewhere pages cost nothing until they are touched.
        if settings.backend.is_none_or(|backend| backend == LOOPBACK) {
            memory.at_most_warn()
        } else {
            memory
        },
        checks::limits(Some(settings.heap_bytes), settings.pes_here),
        checks::network(settings.rendezvous.as_ref(), config.ifname.value.as_ref(), settings.timeout),
    ];
    let needs = Needs {
        heap_bytes: settings.heap_bytes,
        pes_here: settings.pes_here,
        rendezvous: address_towards_others(settings),
    };
    let of =
        |backend: &str| demos::examine(backend, &settings.options, needs).map_err(|error| error.to_string());
    match settings.backend {
        Some(backend) => sections.extend(of(backend)?),
        None => {
            let mut all = Vec::new();
            for &backend in BACKENDS {
                // What a NIC that is not here would need is nobody's concern.
                let own = demos::may_be_meant(backend).then(|| of(backend)).transpose()?;
                all.push((backend, own));
            }
            let last = runnable(&all);
            sections.extend(of_several(all));
            sections.push(last);
        }
    }
    Ok(sections)
}

/// An address that is reached by the NIC that a job would use: the rendezvous', else the peer's. What is wrong with it is
/// said by those who need it.
fn address_towards_others(settings: &Settings) -> Option<SocketAddr> {
    let (host, port) = match (&settings.rendezvous, &settings.peer) {
        (Some(RendezvousAddress { host, port }), _) => (host, *port),
        (None, Some(peer)) => (&peer.host, peer.port),
        (None, None) => return None,
    };
    resolve(host, port, settings.timeout).ok()?.first().copied()
}

/// What was found for each backend; `None` for one whose NIC is not here, so that nothing was looked at.
type Found = Vec<(&'static str, Option<Vec<Section>>)>;

/// Which of the backends can run here. One is enough.
fn runnable(all: &Found) -> Section {
    let mut section = Section::new("backends", "Backends of this build");
    let can = |own: &Option<Vec<Section>>| own.as_ref().is_some_and(|own| worst(own) != Level::Fail);
    let some = all.iter().any(|(_, own)| can(own));
    for (backend, own) in all {
        let (what, remedy) =
            (format!("{backend} cannot run here"), format!("shmem-doctor --backend {backend}"));
        match (can(own), some) {
            (true, _) => section.ok("backend", format!("{backend} can run here")),
            (false, true) => section.warn("backend", what, remedy),
            (false, false) => section.fail("backend", what, remedy),
        }
    }
    section
}

/// The sections of several backends, each once. What fails is no failure, since nobody asked for just this one; where two
/// differ in the same subject, their findings say whose they are.
fn of_several(all: Found) -> Vec<Section> {
    let mut several: Vec<(&str, Section)> = Vec::new();
    for (backend, own) in all {
        for section in own.into_iter().flatten().map(Section::at_most_warn) {
            if several.iter().all(|(_, known)| *known != section) {
                several.push((backend, section));
            }
        }
    }
    let ids: Vec<&str> = several.iter().map(|(_, section)| section.id).collect();
    for (backend, section) in &mut several {
        if ids.iter().filter(|id| **id == section.id).count() > 1 {
            for finding in &mut section.findings {
                finding.what = format!("{backend}: {}", finding.what);
            }
        }
    }
    several.into_iter().map(|(_, section)| section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(id: &'static str, what: &str, fails: bool) -> Section {
        let mut section = Section::new(id, "Title");
        if fails {
            section.fail("f", what, "ls")
        } else {
            section.ok("f", what)
        }
        section
    }

    #[test]
    fn what_backends_share_is_shown_once_and_where_they_differ_they_are_named() {
        let shared = || section("library", "libibverbs", false);
        let all = vec![
            ("xscale", Some(vec![shared(), section("nic", "none", true)])),
            ("hns1825", None),
            ("roce", Some(vec![shared(), section("nic", "mlx5_0", false)])),
        ];
        let several = of_several(all);
        let shown: Vec<(&str, &str, Level)> =
            several.iter().map(|s| (s.id, s.findings[0].what.as_str(), s.level())).collect();
        assert_eq!(
            shown,
            [
                ("library", "libibverbs", Level::Ok),
                ("nic", "xscale: none", Level::Warn),
                ("nic", "roce: mlx5_0", Level::Ok)
            ]
        );
    }

    #[test]
    fn one_backend_that_can_run_is_enough() {
        let levels = |fails: [bool; 2]| {
            let all = [("xscale", fails[0]), ("roce", fails[1])];
            let mut all: Found =
                all.map(|(name, fails)| (name, Some(vec![section("nic", "x", fails)]))).into();
            // Without its NIC it cannot run, and nobody is asked.
            all.push(("hns1825", None));
            runnable(&all).findings.iter().map(|finding| finding.level).collect::<Vec<_>>()
        };
        assert_eq!(levels([false, false]), [Level::Ok, Level::Ok, Level::Warn]);
        assert_eq!(levels([true, false]), [Level::Warn, Level::Ok, Level::Warn]);
        assert_eq!(levels([true, true]), [Level::Fail, Level::Fail, Level::Fail]);
    }
}
