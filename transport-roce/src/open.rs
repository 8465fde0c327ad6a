//! Opens the NIC that is chosen.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Once};

use crate::error::RoceError;
use crate::kind::NicKind;
use crate::nic::{Choice, NicError, NpuLookup, find_nic};
use crate::plug_ins::PlugIns;
use crate::provider::{self, Drivers};
use crate::seen::{Seen, kernel_devices};
use crate::settings::RoceSettings;
use crate::verbs::{Context, DeviceAttributes, Library, PortAttributes, VerbsError};

/// The NIC of this PE, open.
#[derive(Debug)]
pub(crate) struct Nic {
    pub(crate) context: Arc<Context>,
    pub(crate) attributes: DeviceAttributes,
    pub(crate) port: PortAttributes,
    pub(crate) choice: Choice,
    /// The device is the kernel's own work, such as Soft-RoCE.
    pub(crate) software: bool,
}

/// libibverbs, with the provider plug-ins that the environment names loaded into it: before anybody lists devices.
pub(crate) fn open_library() -> Result<(Arc<Library>, &'static PlugIns), VerbsError> {
    let library = Library::open()?;
    let path = library.path();
    tracing::info!("libibverbs: {}", path.as_deref().unwrap_or(Path::new("?")).display());
    let plug_ins = PlugIns::of_process(path.as_deref());
    Ok((library, plug_ins))
}

/// Chooses by what there is and what is set, and opens it. Blocks: it may ask `hccn_tool`.
pub(crate) fn open_nic(
    kind: &NicKind,
    my_pe: usize,
    settings: &RoceSettings,
    rendezvous: Option<SocketAddr>,
) -> Result<Nic, RoceError> {
    let verbs = |source| RoceError::Verbs { my_pe, source };
    let (library, plug_ins) = open_library().map_err(verbs)?;
    let seen = Seen::look(&library).map_err(verbs)?;
    let nic = |source: NicError| RoceError::Nic { my_pe, source };
    provider::check(kind, plug_ins, &Drivers::of(&seen)).map_err(|error| nic(error.into()))?;
    // Once, however often a NIC is opened.
    static WARNED: Once = Once::new();
    WARNED.call_once(|| plug_ins.warn_of_failed());
    let found = find_nic(kind, &seen.facts(), settings, rendezvous, &NpuLookup::of(kind));
    let choice = found.map_err(|source| {
        // Why a device does not open says more than that it is not there, or of none that there is none.
        let missed = |name: &str| match &source {
            NicError::NoDevices | NicError::NoneOfKind { .. } => kind.serves(name),
            NicError::UnknownDevice { name: wanted, .. } => name == wanted,
            _ => false,
        };
        let failed = seen.failed.iter().find(|(name, _)| missed(name)).map(|(_, error)| error.clone());
        failed.map_or_else(|| nic(source), verbs)
    })?;
    let chosen = seen.open.into_iter().find(|device| device.facts.name == choice.device);
    let context = chosen.ok_or_else(|| nic(NicError::NoDevices))?.context;
    let attributes = context.attributes().map_err(verbs)?;
    let port = context.port(choice.port).map_err(verbs)?;
    if let Some(speed) = port.megabits() {
        tracing::info!("{} port {}: {speed} Mbit/s", choice.device, choice.port);
    }
    let software = is_software(&choice.device);
    Ok(Nic { context, attributes, port, choice, software })
}

/// A device without hardware stands among the system's virtual ones.
fn is_software(device: &str) -> bool {
    let place = std::fs::canonicalize(format!("/sys/class/infiniband/{device}"));
    place.is_ok_and(|place| place.starts_with("/sys/devices/virtual"))
}

/// Whether the kernel of this host has a device of `kind`, be it of use or not.
#[must_use]
pub fn is_present(kind: &NicKind) -> bool {
    kernel_devices().iter().any(|device| kind.serves(device))
}

/// Whether this host has a NIC of `kind` that could be used, by the settings; else why not.
///
/// # Errors
///
/// What [`Fabric::connect`](crate::Fabric::connect) would answer, but for what the rendezvous decides.
pub fn usable(kind: &NicKind, settings: &RoceSettings) -> Result<(), RoceError> {
    if let Some(prefix) = kind.device_prefix.filter(|_| !is_present(kind)) {
        // No need to open all others to see that none is of this kind.
        let devices = kernel_devices().join(", ");
        let devices = if devices.is_empty() { "no verbs device".to_owned() } else { devices };
        return Err(RoceError::Nic {
            my_pe: 0,
            source: NicError::NoneOfKind { name: kind.name, prefix, devices },
        });
    }
    match open_nic(kind, 0, settings, None) {
        // The address of the rendezvous tells which.
        Ok(_) | Err(RoceError::Nic { source: NicError::Several { .. }, .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
