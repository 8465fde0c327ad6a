//! What the command line and the environment come to, checked before anything is looked at.

use std::time::Duration;

#[cfg(not(feature = "verbs"))]
use demos::BACKENDS;
use demos::{JobOptions, StartError};
use transport_core::config::{JobConfig, Key, MAX_PES, RendezvousAddress, Setting, Source};

use crate::arguments::Arguments;
use crate::peer::PeerAddress;

/// Seconds, if nobody says anything.
pub(crate) const DEFAULT_TIMEOUT: &str = "30";

/// How errors and `--verbose` call what this program sets itself.
pub(crate) const MYSELF: &str = "shmem-doctor";

/// What to look at.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The backend that was asked for.
    pub(crate) backend: Option<&'static str>,
    /// Symmetric heap of each PE.
    pub(crate) heap_bytes: u64,
    /// PEs that a job would have here.
    pub(crate) pes_here: usize,
    /// Where they would meet, if that was said.
    pub(crate) rendezvous: Option<RendezvousAddress>,
    /// The limit of every wait.
    pub(crate) timeout: Duration,
    /// The other host.
    pub(crate) peer: Option<PeerAddress>,
    /// The options of every program, with what this one's own say of the NPU and of the PEs here.
    pub(crate) options: JobOptions,
    /// All of it as a job of one PE would have it: the values above are read as every program reads them.
    pub(crate) config: JobConfig,
}

impl Settings {
    /// Checks everything that can be checked. `Err` says what is wrong, where it came from, and how it would be right.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, String> {
        // An identity that nobody has to give: what a launcher left half set does not matter here.
        let config = arguments
            .job
            .configure()
            .with_argument(Key::Pe, MYSELF, "0")
            .with_argument(Key::NPes, MYSELF, "1")
            .with_optional_argument(Key::LocalNPes, "--pes", arguments.pes.clone())
            .with_optional_argument(Key::Rendezvous, "--rendezvous", arguments.rendezvous.clone())
            .with_default(Key::Timeout, DEFAULT_TIMEOUT)
            .build()
            .map_err(|error| error.to_string())?;
        let pes_here = config.local_n_pes.value.unwrap_or(1);
        if !(1..=MAX_PES).contains(&pes_here) {
            return Err(format!("--pes is {pes_here}; a host has 1 to {MAX_PES} PEs of a job"));
        }
        check_device(arguments.job.device.as_deref())?;
        let mut options = arguments.job.clone();
        options.npu = arguments.npu.map(|npu| ("--npu", npu));
        options.pes_here = Some(pes_here);
        let rendezvous = &config.rendezvous;
        Ok(Self {
            backend: backend(&config.backend)?,
            heap_bytes: config.heap_size.value.bytes(),
            pes_here,
            rendezvous: (rendezvous.source != Source::Default).then(|| rendezvous.value.clone()),
            timeout: config.timeout.value,
            peer: arguments.peer.as_deref().map(PeerAddress::parse).transpose()?,
            options,
            config,
        })
    }
}

/// The backend of this build that was asked for, if one was.
fn backend(asked: &Setting<Option<String>>) -> Result<Option<&'static str>, String> {
    let Some(name) = &asked.value else { return Ok(None) };
    if let Some(known) = demos::named(name) {
        return Ok(Some(known));
    }
    let origin = asked.source.to_string();
    Err(StartError::NoSuchBackend { name: name.clone(), origin }.to_string())
}

/// Whether the text can name a NIC at all; whether there is such a NIC is a finding.
#[cfg(feature = "verbs")]
fn check_device(device: Option<&str>) -> Result<(), String> {
    let Some(device) = device else { return Ok(()) };
    // It is wrong even where the backend that was asked for uses no NIC. The environment is read with the checks.
    let builder = transport_roce::RoceSettings::builder()
        .with_environment(transport_core::config::MapEnvironment::default())
        .device("--device", device);
    builder.build().map(drop).map_err(|error| error.to_string())
}

/// No backend of this build has NICs.
#[cfg(not(feature = "verbs"))]
fn check_device(device: Option<&str>) -> Result<(), String> {
    match device {
        Some(device) => Err(format!(
            "--device names the NIC {device:?}, but no backend of this build uses one: it has {}; build one in: \
             cargo build --release -p demos --features roce",
            BACKENDS.join(", ")
        )),
        None => Ok(()),
    }
}
