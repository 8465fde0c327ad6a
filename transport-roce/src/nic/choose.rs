//! The choice: a port, then a GID of it.

use super::choice::Choice;
use super::error::NicError;
use super::facts::DeviceFacts;
use super::wish::Wish;
use super::{gid_choice, port_choice};

/// The NIC, port and GID that `wish` means among `devices`.
///
/// The port: the named one; else the one that holds the NPU's address; else the one that holds this PE's address
/// towards the rendezvous; else the only active Ethernet port, or the only one with a GID that can be used. The GID: the
/// one of the given index; else, of those that are RoCE v2 and routable (or allowed), the address that led to the port,
/// then one of the peers' family, then IPv4, then the lowest index. Nothing is taken silently: what cannot be decided is
/// an error.
///
/// # Errors
/// If there is none, if there are several and nothing tells which, or if the wanted one cannot be used.
pub(crate) fn choose(devices: &[DeviceFacts], wish: &Wish<'_>) -> Result<Choice, NicError> {
    let found = port_choice::port(devices, wish)?;
    let (gid, note) = gid_choice::gid(found.device, found.port, wish)?;
    Ok(Choice::new(found.device, found.port, gid, &format!("{}{note}", found.why)))
}
