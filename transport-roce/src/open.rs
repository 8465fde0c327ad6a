//! Opens the NIC that is chosen.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::error::RoceError;
use crate::nic::{Choice, DeviceFacts, Gid, GidFacts, GidKind, NicError, PortFacts, ToolLookup, find_nic};
use crate::settings::RoceSettings;
use crate::verbs::{
    self, Context, DeviceAttributes, Library, LinkLayer, PortAttributes, PortState, VerbsError,
};

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

/// Chooses by what there is and what is set, and opens it. Blocks: it may ask `hccn_tool`.
pub(crate) fn open_nic(
    my_pe: usize,
    settings: &RoceSettings,
    rendezvous: Option<SocketAddr>,
) -> Result<Nic, RoceError> {
    let verbs = |source| RoceError::Verbs { my_pe, source };
    let library = Library::open().map_err(verbs)?;
    if let Some(path) = library.path() {
        tracing::info!("libibverbs: {}", path.display());
    }
    let (devices, mut errors) = (library.devices().map_err(verbs)?, Vec::new());
    let mut open = Vec::new();
    for device in devices {
        tracing::debug!("{} has GUID {:#018x}", device.name(), device.guid());
        match device.open().and_then(|context| Ok((facts(&context)?, context))) {
            Ok(opened) => open.push(opened),
            Err(error) => {
                tracing::warn!("{} is left out: {error}", device.name());
                errors.push(error);
            }
        }
    }
    let facts: Vec<DeviceFacts> = open.iter().map(|(facts, _)| facts.clone()).collect();
    let choice = match find_nic(&facts, settings, rendezvous, ToolLookup::Search) {
        Ok(choice) => choice,
        // Of none that opens, why the first does not says more than that there is none.
        Err(NicError::NoDevices) if !errors.is_empty() => return Err(verbs(errors.remove(0))),
        Err(source) => return Err(RoceError::Nic { my_pe, source }),
    };
    let context =
        open.into_iter().map(|(_, context)| context).find(|context| context.name() == choice.device);
    let context = context.ok_or(RoceError::Nic { my_pe, source: NicError::NoDevices })?;
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

/// What the choice goes by.
fn facts(context: &Context) -> Result<DeviceFacts, VerbsError> {
    let ports = 1..=context.attributes()?.ports;
    let port = |number| -> Result<PortFacts, VerbsError> {
        let port = context.port(number)?;
        let gids = context.gids(number)?.into_iter().map(|entry| GidFacts {
            index: entry.index,
            gid: Gid(entry.gid),
            kind: match entry.kind {
                verbs::GidKind::InfiniBand => GidKind::InfiniBand,
                verbs::GidKind::RoceV1 => GidKind::RoceV1,
                verbs::GidKind::RoceV2 => GidKind::RoceV2,
            },
            netdev: entry.netdev,
        });
        Ok(PortFacts {
            number,
            state: port.state.to_string(),
            active: port.state == PortState::Active,
            ethernet: port.link_layer == LinkLayer::Ethernet,
            mtu_bytes: port.active_mtu.map_or(0, verbs::Mtu::bytes),
            gids: gids.collect(),
        })
    };
    Ok(DeviceFacts { name: context.name().to_owned(), ports: ports.map(port).collect::<Result<_, _>>()? })
}

/// Whether this host has a NIC that this backend could use, by the settings; else why not.
///
/// # Errors
///
/// What [`Fabric::connect`](crate::Fabric::connect) would answer, but for what the rendezvous decides.
pub fn usable(settings: &RoceSettings) -> Result<(), RoceError> {
    match open_nic(0, settings, None) {
        // The address of the rendezvous tells which.
        Ok(_) | Err(RoceError::Nic { source: NicError::Several { .. }, .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
