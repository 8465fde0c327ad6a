//! The NIC of this PE: asks what must be asked, chooses, and logs the choice.

use std::net::SocketAddr;

use transport_core::config::Setting;

use super::choice::Choice;
use super::choose::choose;
use super::describe;
use super::error::NicError;
use super::facts::DeviceFacts;
use super::local_address;
use super::npu_lookup::NpuLookup;
use super::wish::{Family, Local, Wish};
use crate::hccn::HccnError;
use crate::kind::NicKind;
use crate::settings::{NicWish, RoceSettings};

/// The NIC of `kind`, port and GID that this PE uses. `rendezvous` is where it meets the others, if that is known.
///
/// If nobody names a NIC and the program knows this PE's NPU, the NPU's own NIC comes first, as `lookup` tells it; if that
/// fails, a warning is logged and the rendezvous decides, as it does without an NPU. See [`choose`].
///
/// Blocks while `hccn_tool` runs: at most 10 s for each of three questions.
///
/// # Errors
/// If no NIC can be chosen; with `SHMEM_NIC=npu` also if the NPU's NIC cannot be found or is not well.
pub(crate) fn find_nic(
    kind: &NicKind,
    devices: &[DeviceFacts],
    settings: &RoceSettings,
    rendezvous: Option<SocketAddr>,
    lookup: &NpuLookup,
) -> Result<Choice, NicError> {
    let local = local_address::local(rendezvous);
    let family = match local {
        Local::Address(ip) => Some(Family::of(ip)),
        Local::Loopback | Local::Unknown => None,
    };
    let wish = Wish::new(kind, settings, local, family);
    let devices = &of_kind(kind, devices, settings)?;
    let Setting { value: nic, source: origin } = &settings.nic;
    if devices.is_empty() && *nic == NicWish::Auto {
        // Nobody need be asked which of none it is.
        return Err(NicError::NoDevices);
    }
    let choice = match (nic, settings.npu.value) {
        (NicWish::Npu, None) => return Err(NicError::NpuUnknown { origin: origin.clone() }),
        (NicWish::Npu, Some(npu)) => {
            let found = lookup.find(npu, devices, &wish)?;
            found.ok_or_else(|| NicError::NpuNicUnknown { npu, origin: origin.clone() })?
        }
        (NicWish::Auto, Some(npu)) => match lookup.find(npu, devices, &wish) {
            Ok(Some(choice)) => choice,
            Ok(None) => choose(devices, &wish)?,
            Err(error) => {
                tell(npu, &error, devices.len());
                choose(devices, &wish)?
            }
        },
        (NicWish::Auto, None) | (NicWish::Named { .. }, _) => choose(devices, &wish)?,
    };
    tracing::info!("NIC: {choice}");
    if let Some(usual) = kind.gid_index.filter(|&usual| usual != choice.gid.index) {
        tracing::warn!(
            "{} uses GID index {}, not {usual}, which CANN's own kernels use on an {}; see `ibv_devinfo -v -d {}`",
            choice.device,
            choice.gid.index,
            kind.name,
            choice.device
        );
    }
    Ok(choice)
}

/// Those that the backend may use. A named one that does not exist is for the choice to tell.
fn of_kind(
    kind: &NicKind,
    devices: &[DeviceFacts],
    settings: &RoceSettings,
) -> Result<Vec<DeviceFacts>, NicError> {
    let Some(prefix) = kind.device_prefix else { return Ok(devices.to_vec()) };
    let name = kind.name;
    if let Setting { value: NicWish::Named { device, .. }, source: origin } = &settings.nic
        && !kind.serves(device)
        && devices.iter().any(|known| known.name == *device)
    {
        let (device, origin) = (device.clone(), origin.clone());
        return Err(NicError::OtherKind { device, origin, name, prefix });
    }
    let own: Vec<DeviceFacts> = devices.iter().filter(|device| kind.serves(&device.name)).cloned().collect();
    if own.is_empty() {
        return Err(NicError::NoneOfKind { name, prefix, devices: describe::devices(devices) });
    }
    Ok(own)
}

/// Logs that the NPU does not tell the NIC.
fn tell(npu: u32, error: &NicError, devices: usize) {
    // Hosts without the tool have no NIC of an NPU, and what is usual need not be: nothing to warn of, unless there is a choice.
    let is_usual = match error {
        NicError::Hccn(HccnError::ToolMissing { .. }) => true,
        NicError::UsualMissing { .. } => devices == 1,
        _ => false,
    };
    if is_usual {
        tracing::debug!("the NIC is chosen without asking for that of NPU {npu}: {error}");
    } else {
        tracing::warn!("the NIC is chosen without that of NPU {npu}: {error}");
    }
}
