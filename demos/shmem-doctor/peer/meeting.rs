//! The job of two PEs, from its configuration to its end.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::fd::IntoRawFd as _;
use std::sync::mpsc::Sender;

use demos::{JobOptions, StartError};
use transport_core::bootstrap::JobFault;
use transport_core::config::{ConfigError, JobConfig, Key, MapEnvironment};

use super::job::{self, News, Proof};
use super::roles::Role;
use crate::settings::{DEFAULT_TIMEOUT, MYSELF};

/// Room for all that the proof needs; small, so that no limit on memory is in its way.
const HEAP: &str = "1MiB";

/// Variables that say where and as what another job meets.
const OF_ANOTHER_JOB: [Key; 4] = [Key::ListenerFd, Key::RendezvousFile, Key::JobId, Key::Rendezvous];

/// What the job's own thread needs.
pub(super) struct Meeting {
    role: Role,
    backend: &'static str,
    options: JobOptions,
}

impl Meeting {
    pub(super) fn new(role: Role, backend: &'static str, mut options: JobOptions) -> Self {
        options.backend = Some(backend.to_owned());
        options.heap = Some(HEAP.to_owned());
        Self { role, backend, options }
    }

    /// Runs the job, and tells what becomes of it.
    pub(super) fn hold(mut self, news: &Sender<News>) {
        let (pe, mine, theirs) = (self.role.pe, self.role.mine, self.role.theirs);
        let config = match self.configure() {
            Ok(config) => config,
            Err(error) => return job::tell(news, News::Failed(job::FITS, error.to_string(), None)),
        };
        let met = met(pe, mine, theirs);
        let proof = Proof { news: news.clone(), met: met.clone(), backend: self.backend };
        if let Err(error) = demos::run(&config, &self.options, proof) {
            if have_met(&error) {
                job::tell(news, News::Well(job::MEETS, met));
            }
            let step = if came_to_nothing(&error) { job::MEETS } else { job::FITS };
            let what = format!("as {}: {error}", pes(pe, mine, theirs));
            job::tell(news, News::Failed(step, what, Some(error)));
        }
    }

    fn configure(&mut self) -> Result<JobConfig, ConfigError> {
        let others = OF_ANOTHER_JOB.map(Key::variable);
        let environment: MapEnvironment =
            std::env::vars_os().filter(|(name, _)| !others.iter().any(|other| name == other)).collect();
        let mut builder = self
            .options
            .configure()
            .with_environment(environment)
            .with_argument(Key::Pe, MYSELF, self.role.pe.to_string())
            .with_argument(Key::NPes, MYSELF, "2")
            .with_argument(Key::Rendezvous, "--peer", self.role.rendezvous().to_string())
            .with_argument(Key::JobId, MYSELF, MYSELF)
            .with_default(Key::Timeout, DEFAULT_TIMEOUT);
        if let Some(listener) = self.role.listener.take() {
            // Owned by whoever joins the job from here on.
            let fd = listener.into_raw_fd();
            builder = builder.with_argument(Key::ListenerFd, MYSELF, OsString::from(fd.to_string()));
        }
        builder.build()
    }
}

/// Whether the two had found each other before this.
fn have_met(error: &StartError) -> bool {
    match error {
        StartError::Bootstrap(_) => !came_to_nothing(error),
        // Backends connect by what the rendezvous carries.
        #[cfg(feature = "loopback")]
        StartError::Loopback(_) => true,
        #[cfg(feature = "verbs")]
        StartError::Roce(_) => true,
        _ => false,
    }
}

/// Whether the two did not find each other. What one of them finds afterwards the other gets to know.
fn came_to_nothing(error: &StartError) -> bool {
    let StartError::Bootstrap(error) = error else { return false };
    !matches!(
        error.fault(),
        Some(JobFault::Mismatch { .. } | JobFault::Aborted { .. } | JobFault::PeerLost { .. })
    )
}

/// Who is who, for errors that speak of PEs.
fn pes(pe: usize, mine: SocketAddr, theirs: SocketAddr) -> String {
    if mine == theirs {
        return format!("PE {pe} of two on this host");
    }
    format!("PE {pe} ({}), with {} as PE {}", mine.ip(), theirs.ip(), 1 - pe)
}

fn met(pe: usize, mine: SocketAddr, theirs: SocketAddr) -> String {
    let at = if pe == 0 { mine } else { theirs };
    format!("both hosts meet at {at}; this one is {}", pes(pe, mine, theirs))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use transport_core::bootstrap::{BootstrapError, Property};

    use super::*;

    fn fault(fault: JobFault) -> StartError {
        StartError::Bootstrap(BootstrapError::Job { my_pe: 0, fault })
    }

    #[test]
    fn who_disagrees_has_met_and_who_did_not_come_has_not() {
        let pes = |pe: usize| std::iter::once(pe).collect();
        let (theirs, ours) = ("roce".to_owned(), "loopback".to_owned());
        let mismatch =
            JobFault::Mismatch { property: Property::Backend, odd: pes(1), theirs, others: pes(0), ours };
        let gave_up = JobFault::Aborted { pe: 1, reason: "no device".to_owned() };
        for fault in [mismatch, gave_up].map(fault) {
            assert!(have_met(&fault) && !came_to_nothing(&fault), "{fault}");
        }
        let after = Duration::from_secs(1);
        let missing = fault(JobFault::Missing { missing: pes(1), after, refused: Vec::new() });
        assert!(!have_met(&missing) && came_to_nothing(&missing));
        // Found before anybody was met: neither.
        let wrong = StartError::NoSuchBackend { name: "x".to_owned(), origin: "y".to_owned() };
        assert!(!have_met(&wrong) && !came_to_nothing(&wrong));
    }

    #[test]
    fn both_say_where_they_meet_in_the_same_words() {
        let (low, high) = ("10.0.0.1:77".parse().unwrap(), "10.0.0.2:77".parse().unwrap());
        assert_eq!(
            met(0, low, high),
            "both hosts meet at 10.0.0.1:77; this one is PE 0 (10.0.0.1), with 10.0.0.2 as PE 1"
        );
        assert!(met(1, high, low).starts_with("both hosts meet at 10.0.0.1:77; this one is PE 1 (10.0.0.2)"));
        assert!(met(1, low, low).ends_with("PE 1 of two on this host"));
    }
}
