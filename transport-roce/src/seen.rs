//! What this host has in the way of verbs devices: those that open, those that do not, those that no provider drives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::nic::{DeviceFacts, Gid, GidFacts, GidKind, PortFacts};
use crate::verbs::{self, Context, Library, LinkLayer, PortState, VerbsError};

/// Where the kernel lists its devices, whether anybody can use them or not.
const KERNEL_DEVICES: &str = "/sys/class/infiniband";

/// The verbs devices of this host.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Those that open and tell what they are.
    pub(crate) open: Vec<SeenDevice>,
    /// Those that do not, with why.
    pub(crate) failed: Vec<(String, VerbsError)>,
    /// The names of those that the kernel has.
    pub(crate) kernel: Vec<String>,
}

/// A device that is open.
#[derive(Debug)]
pub(crate) struct SeenDevice {
    /// What the choice goes by.
    pub(crate) facts: DeviceFacts,
    /// The device.
    pub(crate) context: Arc<Context>,
    /// The file of the provider that drives it, `None` if the system does not say.
    pub(crate) provider: Option<PathBuf>,
}

impl Seen {
    /// Opens all that there are.
    pub(crate) fn look(library: &Arc<Library>) -> Result<Self, VerbsError> {
        let mut seen = Self { open: Vec::new(), failed: Vec::new(), kernel: kernel_devices() };
        for device in library.devices()? {
            tracing::debug!("{} has GUID {:#018x}", device.name(), device.guid());
            match device.open().and_then(|context| Ok((facts(&context)?, context))) {
                Ok((facts, context)) => {
                    let provider = context.provider();
                    seen.open.push(SeenDevice { facts, context, provider });
                }
                Err(error) => {
                    tracing::warn!("{} is left out: {error}", device.name());
                    seen.failed.push((device.name().to_owned(), error));
                }
            }
        }
        Ok(seen)
    }

    /// What the choice goes by, of all that are open.
    pub(crate) fn facts(&self) -> Vec<DeviceFacts> {
        self.open.iter().map(|device| device.facts.clone()).collect()
    }
}

/// In the order of their names.
pub(crate) fn kernel_devices() -> Vec<String> {
    names_in(Path::new(KERNEL_DEVICES))
}

/// What is in `directory`, in order; nothing if it cannot be read.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
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
