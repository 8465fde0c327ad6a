//! Which port of which device to use.

use std::net::IpAddr;

use transport_core::config::Source;

use super::describe::{self, At};
use super::error::NicError;
use super::facts::{DeviceFacts, PortFacts};
use super::gid::Gid;
use super::gid_choice;
use super::near_name::nearest;
use super::wish::{Local, Want, Wish};

/// A port and why it is the one.
pub(super) struct Found<'a> {
    pub(super) device: &'a DeviceFacts,
    pub(super) port: &'a PortFacts,
    pub(super) why: String,
}

/// The port that `wish` means.
///
/// # Errors
/// If there is none, or more than one.
pub(super) fn port<'a>(devices: &'a [DeviceFacts], wish: &Wish<'_>) -> Result<Found<'a>, NicError> {
    if devices.is_empty() {
        return Err(NicError::NoDevices);
    }
    match wish.want {
        Want::Device { name, port, origin } => named(devices, name, port, origin, wish),
        Want::NpuAddress { npu, address } => of_npu(devices, npu, address, wish),
        Want::NpuDevice { npu, name } => usual(devices, npu, name, wish),
        Want::Any => among(describe::all_ports(devices), wish),
    }
}

/// Whether some port of `devices` has a GID that stands for `address`.
pub(crate) fn is_held(devices: &[DeviceFacts], address: IpAddr) -> bool {
    is_held_by(devices, address).is_some()
}

/// The first device of which a port has a GID that stands for `address`.
pub(crate) fn is_held_by(devices: &[DeviceFacts], address: IpAddr) -> Option<String> {
    let holder = devices.iter().find(|device| device.ports.iter().any(|port| holds(port, address)));
    holder.map(|device| device.name.clone())
}

/// Whether a GID of `port` stands for `address`.
fn holds(port: &PortFacts, address: IpAddr) -> bool {
    let gid = Gid::from(address);
    port.gids.iter().any(|entry| entry.gid == gid)
}

fn named<'a>(
    devices: &'a [DeviceFacts],
    name: &str,
    number: Option<u8>,
    origin: &Source,
    wish: &Wish<'_>,
) -> Result<Found<'a>, NicError> {
    let device = devices.iter().find(|device| device.name == name).ok_or_else(|| {
        let near = nearest(name, devices.iter().map(|device| device.name.as_str()));
        NicError::UnknownDevice {
            name: name.to_owned(),
            origin: origin.clone(),
            hint: near.map_or_else(String::new, |near| format!(": is {near} meant?")),
            devices: describe::devices(devices),
        }
    })?;
    let missing = |port: String| NicError::PortMissing {
        device: name.to_owned(),
        port,
        origin: origin.clone(),
        ports: describe::ports(device.ports.iter().map(|port| (device, port))),
    };
    let why = format!("named by {origin}");
    match (number, device.ports.as_slice()) {
        (None, []) => Err(missing("at all".to_owned())),
        (None, [port]) => checked(device, port, why),
        (None, several) => {
            let found = among(several.iter().map(|port| (device, port)).collect(), wish)?;
            Ok(Found { why: format!("{why}; {}", found.why), ..found })
        }
        (Some(number), ports) => {
            let port = ports.iter().find(|port| port.number == number);
            checked(device, port.ok_or_else(|| missing(number.to_string()))?, why)
        }
    }
}

fn of_npu<'a>(
    devices: &'a [DeviceFacts],
    npu: u32,
    address: IpAddr,
    wish: &Wish<'_>,
) -> Result<Found<'a>, NicError> {
    let mut holders = describe::all_ports(devices);
    holders.retain(|(_, port)| holds(port, address));
    let why = format!("holds {address}, the address of NPU {npu}");
    match holders.as_slice() {
        [] => Err(NicError::AddressNowhere { npu, address, devices: describe::devices(devices) }),
        [(device, port)] => checked(device, port, why),
        _ => Ok(Found { why, ..among(holders, wish)? }),
    }
}

fn usual<'a>(
    devices: &'a [DeviceFacts],
    npu: u32,
    name: &str,
    wish: &Wish<'_>,
) -> Result<Found<'a>, NicError> {
    let why = format!("the usual NIC of NPU {npu}");
    let device = devices.iter().find(|device| device.name == name);
    let device = device.ok_or_else(|| NicError::UsualMissing {
        npu,
        name: name.to_owned(),
        devices: describe::devices(devices),
    })?;
    match device.ports.as_slice() {
        [port] => checked(device, port, why),
        several => {
            let found = among(several.iter().map(|port| (device, port)).collect(), wish)?;
            Ok(Found { why: format!("{why}; {}", found.why), ..found })
        }
    }
}

/// A port that somebody asked for, if it can be used at all.
fn checked<'a>(device: &'a DeviceFacts, port: &'a PortFacts, why: String) -> Result<Found<'a>, NicError> {
    let (name, number) = (device.name.clone(), port.number);
    if !port.ethernet {
        Err(NicError::NotEthernet { device: name, port: number, why })
    } else if !port.active {
        Err(NicError::PortNotActive { device: name, port: number, why, state: port.state.clone() })
    } else {
        Ok(Found { device, port, why })
    }
}

/// The one of `ports` that the rendezvous points to, or the only one that can be used.
fn among<'a>(ports: Vec<At<'a>>, wish: &Wish<'_>) -> Result<Found<'a>, NicError> {
    let all = describe::ports(ports.iter().copied());
    let mut candidates = ports;
    candidates.retain(|(_, port)| port.active && port.ethernet);
    if let Some(local) = wish.local.address() {
        let mut holders = candidates.clone();
        holders.retain(|(_, port)| holds(port, local));
        match holders.as_slice() {
            [] => {}
            &[(device, port)] => {
                let why = "holds this PE's address towards the rendezvous".to_owned();
                return Ok(Found { device, port, why });
            }
            _ => {
                return Err(several(
                    &holders,
                    format!("all hold {local}, this PE's address towards the rendezvous"),
                ));
            }
        }
    }
    let told = what_rendezvous_tells(wish.local);
    let mut usable = candidates.clone();
    usable.retain(|(device, port)| gid_choice::gid(device, port, wish).is_ok());
    match (candidates.as_slice(), usable.as_slice()) {
        ([], _) => Err(NicError::NoneActive { ports: all }),
        (&[(device, port)], _) => {
            Ok(Found { device, port, why: format!("the only active Ethernet port ({told})") })
        }
        (_, &[(device, port)]) => {
            let why = format!("the only active Ethernet port with a GID that can be used ({told})");
            Ok(Found { device, port, why })
        }
        (_, []) => Err(several(&candidates, told)),
        _ => Err(several(&usable, told)),
    }
}

fn several(candidates: &[At<'_>], local: String) -> NicError {
    NicError::Several {
        count: candidates.len(),
        local,
        candidates: describe::ports(candidates.iter().copied()),
        example: candidates
            .first()
            .map_or_else(String::new, |(device, port)| format!("{}:{}", device.name, port.number)),
    }
}

/// Why the rendezvous does not point to a port.
fn what_rendezvous_tells(local: Local) -> String {
    match local {
        Local::Address(ip) => format!("no active one holds {ip}, this PE's address towards the rendezvous"),
        Local::Loopback => "the rendezvous is on loopback, which tells no NIC".to_owned(),
        Local::Unknown => "this PE's address towards the rendezvous is not known".to_owned(),
    }
}
