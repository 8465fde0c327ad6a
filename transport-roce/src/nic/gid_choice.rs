//! Which entry of a port's GID table to use.

use super::describe;
use super::error::NicError;
use super::facts::{DeviceFacts, GidFacts, GidKind, PortFacts};
use super::gid::Gid;
use super::refusal::Refusal;
use super::wish::{Family, Wish};

/// The entry of `port` to use, and what to add to the reason.
///
/// # Errors
/// If the wanted entry is not there or is refused, or if no entry is good enough.
pub(super) fn gid<'a>(
    device: &DeviceFacts,
    port: &'a PortFacts,
    wish: &Wish<'_>,
) -> Result<(&'a GidFacts, String), NicError> {
    let (entry, mut why) = match wish.gid_index {
        Some(index) => {
            (fixed(device, port, index, wish)?, format!("; its GID index is set ({})", wish.gid_index_origin))
        }
        None => (best(device, port, wish)?, String::new()),
    };
    if entry.kind != GidKind::RoceV2 || entry.gid.is_link_local() {
        why.push_str("; not routable, but SHMEM_GID_ALLOW allows it");
    }
    Ok((entry, why))
}

fn fixed<'a>(
    device: &DeviceFacts,
    port: &'a PortFacts,
    index: u32,
    wish: &Wish<'_>,
) -> Result<&'a GidFacts, NicError> {
    let at = port.gids.iter().find(|entry| entry.index == index && !entry.gid.is_zero());
    let entry = at.ok_or_else(|| NicError::GidIndexMissing {
        device: device.name.clone(),
        port: port.number,
        index,
        origin: wish.gid_index_origin.clone(),
        gids: describe::gids(&port.gids),
    })?;
    match Refusal::of(entry, wish.gid_allow) {
        None => Ok(entry),
        Some(refusal) => Err(NicError::GidRefused {
            device: device.name.clone(),
            port: port.number,
            entry: entry.to_string(),
            origin: wish.gid_index_origin.clone(),
            refusal,
            gids: describe::gids(&port.gids),
        }),
    }
}

fn best<'a>(device: &DeviceFacts, port: &'a PortFacts, wish: &Wish<'_>) -> Result<&'a GidFacts, NicError> {
    let preferred = wish.preferred_address().map(Gid::from);
    let family_wanted = wish.preferred_family();
    let acceptable = port.gids.iter().filter(|entry| Refusal::of(entry, wish.gid_allow).is_none());
    let rank = |entry: &&GidFacts| {
        let family = Family::of(entry.gid.ip());
        (
            entry.kind != GidKind::RoceV2,
            entry.gid.is_link_local(),
            Some(entry.gid) != preferred,
            family_wanted.is_some_and(|wanted| wanted != family),
            wish.usual_gid_index.is_some_and(|usual| usual != entry.index),
            // Nobody set it up, so it is less likely to lead anywhere.
            entry.gid.is_self_assigned(),
            family == Family::V6,
            entry.index,
        )
    };
    acceptable.min_by_key(rank).ok_or_else(|| NicError::NoRoutableGid {
        device: device.name.clone(),
        port: port.number,
        gids: describe::gids(&port.gids),
    })
}
