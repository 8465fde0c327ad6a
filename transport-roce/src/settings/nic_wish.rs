//! Which NIC the user asks for: `name`, `name:port` or `npu`.

use std::fmt;

/// The most bytes of a verbs device's name.
const MAX_NAME_LEN: usize = 64;
/// The word that stands for the NPU's own NIC.
const NPU: &str = "npu";

/// Which NIC to use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NicWish {
    /// Whichever the facts point to.
    #[default]
    Auto,
    /// A verbs device by its name.
    Named {
        /// The device, as `ibv_devices` shows it.
        device: String,
        /// Its port, from 1; the only fitting one if `None`.
        port: Option<u8>,
    },
    /// The NIC that holds the address of this PE's NPU, as `hccn_tool` tells it.
    Npu,
}

/// What is wrong with a text that is to name a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NicWishFault {
    Name,
    Port,
}

impl NicWish {
    /// Reads `name`, `name:port` or `npu`.
    pub(super) fn parse(text: &str) -> Result<Self, NicWishFault> {
        if text == NPU {
            return Ok(Self::Npu);
        }
        let (device, port) = match text.split_once(':') {
            None => (text, None),
            Some((device, port)) => (device, Some(parse_port(port).ok_or(NicWishFault::Port)?)),
        };
        if is_device_name(device) {
            Ok(Self::Named { device: device.to_owned(), port })
        } else {
            Err(NicWishFault::Name)
        }
    }
}

fn parse_port(text: &str) -> Option<u8> {
    // `parse` would take a sign.
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|port| *port != 0)
}

fn is_device_name(name: &str) -> bool {
    (1..=MAX_NAME_LEN).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

impl fmt::Display for NicWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Named { device, port: None } => f.write_str(device),
            Self::Named { device, port: Some(port) } => write!(f, "{device}:{port}"),
            Self::Npu => f.write_str(NPU),
        }
    }
}
