//! The NIC of this PE: asks what must be asked, chooses, and logs the choice.

use std::net::SocketAddr;

use transport_core::config::Setting;

use super::choice::Choice;
use super::choose::choose;
use super::error::NicError;
use super::facts::DeviceFacts;
use super::local_address;
use super::wish::{Family, Local, Wish};
use crate::hccn::{self, HccnError, NpuReach, Tool};
use crate::settings::{NicWish, RoceSettings};

/// Where `hccn_tool` comes from.
#[derive(Debug, Clone)]
pub(crate) enum ToolLookup {
    /// It is looked for where it is installed.
    Search,
    /// It is this one, which a test made.
    #[cfg(test)]
    Use(Tool),
}

impl ToolLookup {
    fn tool(self) -> Result<Tool, HccnError> {
        match self {
            Self::Search => Tool::find(),
            #[cfg(test)]
            Self::Use(tool) => Ok(tool),
        }
    }
}

/// The NIC, port and GID that this PE uses. `rendezvous` is where it meets the others, if that is known.
///
/// If nobody names a NIC and the program knows this PE's NPU, the NIC that holds the NPU's address comes first; if that
/// fails, a warning is logged and the rendezvous decides, as it does without an NPU. See [`choose`].
///
/// Blocks while `hccn_tool` runs: at most 10 s for each of three questions.
///
/// # Errors
/// If no NIC can be chosen; with `SHMEM_NIC=npu` also if the NPU's NIC cannot be found or is not well.
pub(crate) fn find_nic(
    devices: &[DeviceFacts],
    settings: &RoceSettings,
    rendezvous: Option<SocketAddr>,
    tool: ToolLookup,
) -> Result<Choice, NicError> {
    let local = local_address::local(rendezvous);
    let family = match local {
        Local::Address(ip) => Some(Family::of(ip)),
        Local::Loopback | Local::Unknown => None,
    };
    let wish = Wish::new(settings, local, family);
    let Setting { value: nic, source: origin } = &settings.nic;
    let choice = match (nic, settings.npu.value) {
        (NicWish::Npu, None) => return Err(NicError::NpuUnknown { origin: origin.clone() }),
        (NicWish::Npu, Some(npu)) => by_npu(npu, devices, &wish, tool)?,
        (NicWish::Auto, Some(npu)) => match by_npu(npu, devices, &wish, tool) {
            Ok(choice) => choice,
            Err(error) => {
                tell(npu, &error);
                choose(devices, &wish)?
            }
        },
        (NicWish::Auto, None) | (NicWish::Named { .. }, _) => choose(devices, &wish)?,
    };
    tracing::info!("NIC: {choice}");
    Ok(choice)
}

fn by_npu(npu: u32, devices: &[DeviceFacts], wish: &Wish<'_>, tool: ToolLookup) -> Result<Choice, NicError> {
    match hccn::locate(npu, devices, wish, &tool.tool()?)? {
        NpuReach::Verbs(choice) => Ok(choice),
        NpuReach::HccpOnly { nic } => Err(HccnError::no_verbs_device(&nic, devices).into()),
    }
}

/// Logs that the NPU does not tell the NIC. Hosts without the tool have no NIC of an NPU, which is nothing to warn of.
fn tell(npu: u32, error: &NicError) {
    if matches!(error, NicError::Hccn(HccnError::ToolMissing { .. })) {
        tracing::debug!("the NIC is chosen without asking for that of NPU {npu}: {error}");
    } else {
        tracing::warn!("the NIC is chosen without that of NPU {npu}: {error}");
    }
}
