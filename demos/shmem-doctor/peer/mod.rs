//! `--peer`: proves by a job of two PEs that two hosts reach each other.

mod address;
mod job;
mod meeting;
mod pair;
mod remedy;
mod roles;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use address::PeerAddress;
use demos::{BACKENDS, JobOptions, LOOPBACK};
use job::News;
use meeting::Meeting;
use remedy::{Failure, Remedies};
use transport_core::checks::Section;

use crate::settings::Settings;

/// Beyond the limits of meeting and of the work: for what the system takes to open and close things.
const GRACE: Duration = Duration::from_secs(10);

/// Meets the other host and tries what a job does. `notice` is told for whom it waits.
pub(crate) fn prove(address: &PeerAddress, settings: &Settings, notice: impl Fn(&str)) -> Section {
    let mut section = Section::new("peer", "Peer");
    let resolved = address.resolve(settings.timeout);
    let role = match resolved.and_then(|addresses| roles::of(&addresses)) {
        Ok(role) => role,
        Err(failure) => {
            section.fail(job::MEETS, failure.what, failure.remedy);
            return section;
        }
    };
    let mut options = settings.options.clone();
    options.pes_here = Some(if role.same_host { 2 } else { 1 });
    let backend = match backend(&options, settings, role.same_host) {
        Ok(backend) => backend,
        Err(failure) => {
            section.fail(job::FITS, failure.what, failure.remedy);
            return section;
        }
    };
    let remedies = Remedies::new(address, &role, backend, settings.options.device.is_some());
    notice(&format!(
        "waiting up to {} s for {}; on that host: {}",
        settings.timeout.as_secs_f64(),
        address,
        remedies.there()
    ));
    meet(&mut section, Meeting::new(role, backend, options), settings.timeout, &remedies);
    section
}

/// The backend that was asked for, else the one that a job of these two PEs would take.
fn backend(options: &JobOptions, settings: &Settings, same_host: bool) -> Result<&'static str, Failure> {
    let mut config = settings.config.clone();
    config.n_pes.value = 2;
    let none = |why: String, remedy: String| Failure { what: why, remedy };
    let choice = demos::choose(&config, options)
        .map_err(|error| none(error.to_string(), "shmem-doctor --verbose".to_owned()))?;
    if same_host || settings.backend.is_some() || choice.backend != LOOPBACK {
        return Ok(choice.backend);
    }
    // What it falls back to reaches no other host.
    let skipped: Vec<&str> = choice.skipped.iter().map(|skipped| skipped.backend).collect();
    let Some(last) = skipped.last() else {
        let what = format!("no backend of this build reaches another host: it has {}", BACKENDS.join(", "));
        return Err(none(what, "cargo build --release -p demos --features roce".to_owned()));
    };
    // Why not is told above.
    let what = format!("{} would reach another host, but cannot run here", skipped.join(", "));
    Err(none(what, format!("shmem-doctor --backend {last}")))
}

/// Runs the job on a thread of its own, so that the limit holds whatever becomes of it.
fn meet(section: &mut Section, meeting: Meeting, timeout: Duration, remedies: &Remedies) {
    // Each of the two has the limit of every wait for itself: the better error comes from below, in time.
    let limit = timeout.saturating_mul(2).saturating_add(GRACE);
    let deadline = Instant::now().checked_add(limit);
    let (news, told) = channel();
    let started = thread::Builder::new().name("peer".to_owned()).spawn(move || meeting.hold(&news));
    if let Err(error) = started {
        section.fail(job::MEETS, format!("no thread for the job with the peer: {error}"), "ulimit -u");
        return;
    }
    loop {
        let left = deadline.map_or(limit, |deadline| deadline.saturating_duration_since(Instant::now()));
        match told.recv_timeout(left) {
            Ok(News::Well(id, what)) => section.ok(id, what),
            Ok(News::Failed(id, what, error)) => {
                let remedy = remedies.of(id, error.as_ref());
                section.fail(id, what, remedy);
            }
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let what = format!("the job with the peer neither went on nor failed within {limit:?}");
                section.fail(job::LEAVES, what, remedies.on_both());
                return;
            }
        }
    }
}
