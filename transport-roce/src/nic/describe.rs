//! Lists of what there is, for errors to show.

use std::fmt::Write;

use super::facts::{DeviceFacts, GidFacts, PortFacts};

/// The most GIDs of a port that are listed: tables of 256 exist.
const MAX_GIDS: usize = 16;

/// A device with one of its ports.
pub(super) type At<'a> = (&'a DeviceFacts, &'a PortFacts);

/// Every port of every device, in order.
pub(super) fn all_ports(devices: &[DeviceFacts]) -> Vec<At<'_>> {
    devices.iter().flat_map(|device| device.ports.iter().map(move |port| (device, port))).collect()
}

/// Every device with its ports, their states and their GIDs.
pub(crate) fn devices(devices: &[DeviceFacts]) -> String {
    if devices.is_empty() {
        return "no verbs device".to_owned();
    }
    let list: Vec<String> = devices
        .iter()
        .map(|device| match device.ports.as_slice() {
            [] => format!("{} (without ports)", device.name),
            some => ports(some.iter().map(|port| (device, port))),
        })
        .collect();
    list.join("; ")
}

/// Ports with their states and GIDs: `rxe_0:1 (ACTIVE, Ethernet, GID 1 (10.0.0.1, RoCE v2, eth1)); ...`.
pub(super) fn ports<'a>(ports: impl IntoIterator<Item = At<'a>>) -> String {
    let list: Vec<String> = ports
        .into_iter()
        .map(|(device, port)| {
            let link = if port.ethernet { "Ethernet" } else { "InfiniBand" };
            format!("{}:{} ({}, {link}, {})", device.name, port.number, port.state, gids(&port.gids))
        })
        .collect();
    if list.is_empty() { "none".to_owned() } else { list.join("; ") }
}

/// The entries of a GID table that are in use; the first ones if there are many.
pub(super) fn gids(gids: &[GidFacts]) -> String {
    let in_use: Vec<&GidFacts> = gids.iter().filter(|entry| !entry.gid.is_zero()).collect();
    if in_use.is_empty() {
        return "no GID".to_owned();
    }
    let shown: Vec<String> = in_use.iter().take(MAX_GIDS).map(ToString::to_string).collect();
    let mut text = shown.join(", ");
    if in_use.len() > MAX_GIDS {
        // Writing to a String cannot fail.
        let _ = write!(text, " and {} more", in_use.len() - MAX_GIDS);
    }
    text
}
