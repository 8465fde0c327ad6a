//! A port of a device: its state, speed and limits.

use std::fmt;

use super::mtu::Mtu;
use crate::abi::{self, ibv_port_attr};

/// Whether a port can carry anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PortState {
    /// The link is down.
    Down,
    /// The link is up, but the port is not set up.
    Initializing,
    /// Set up, but not in use.
    Armed,
    /// It carries data.
    Active,
    /// Active, with the link down for a moment.
    ActiveDeferred,
    /// A number that stands for none of these.
    Unknown(u32),
}

impl PortState {
    /// From C's number.
    pub(crate) fn from_raw(raw: u32) -> Self {
        match raw {
            abi::IBV_PORT_DOWN => Self::Down,
            abi::IBV_PORT_INIT => Self::Initializing,
            abi::IBV_PORT_ARMED => Self::Armed,
            abi::IBV_PORT_ACTIVE => Self::Active,
            abi::IBV_PORT_ACTIVE_DEFER => Self::ActiveDeferred,
            other => Self::Unknown(other),
        }
    }
}

/// As `ibv_devinfo` says it.
impl fmt::Display for PortState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down => f.write_str("DOWN"),
            Self::Initializing => f.write_str("INIT"),
            Self::Armed => f.write_str("ARMED"),
            Self::Active => f.write_str("ACTIVE"),
            Self::ActiveDeferred => f.write_str("ACTIVE_DEFER"),
            Self::Unknown(raw) => write!(f, "unknown ({raw})"),
        }
    }
}

/// What is below the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkLayer {
    /// InfiniBand, or a device from before there was a choice.
    InfiniBand,
    /// Ethernet, so the port speaks RoCE.
    Ethernet,
    /// A number that stands for none of these.
    Unknown(u8),
}

impl LinkLayer {
    /// From C's number.
    pub(crate) fn from_raw(raw: u8) -> Self {
        match u32::from(raw) {
            abi::IBV_LINK_LAYER_UNSPECIFIED | abi::IBV_LINK_LAYER_INFINIBAND => Self::InfiniBand,
            abi::IBV_LINK_LAYER_ETHERNET => Self::Ethernet,
            _ => Self::Unknown(raw),
        }
    }
}

impl fmt::Display for LinkLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InfiniBand => f.write_str("InfiniBand"),
            Self::Ethernet => f.write_str("Ethernet"),
            Self::Unknown(raw) => write!(f, "unknown ({raw})"),
        }
    }
}

/// What a port is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PortAttributes {
    /// Its state.
    pub(crate) state: PortState,
    /// The largest packets of the device; `None` for a number that stands for no size.
    pub(crate) max_mtu: Option<Mtu>,
    /// The largest packets that the link carries now; `None` as above.
    pub(crate) active_mtu: Option<Mtu>,
    /// Bytes of the longest message.
    pub(crate) max_message: u32,
    /// Places of the GID table, not all of them filled.
    pub(crate) gid_table_len: u32,
    /// What is below it.
    pub(crate) link_layer: LinkLayer,
    /// C's number for the speed of a lane.
    pub(crate) speed: u8,
    /// C's number for how many lanes there are.
    pub(crate) width: u8,
}

impl PortAttributes {
    pub(super) fn from_raw(raw: &ibv_port_attr) -> Self {
        Self {
            state: PortState::from_raw(raw.state),
            max_mtu: Mtu::from_raw(raw.max_mtu),
            active_mtu: Mtu::from_raw(raw.active_mtu),
            max_message: raw.max_msg_sz,
            gid_table_len: u32::try_from(raw.gid_tbl_len).unwrap_or(0),
            link_layer: LinkLayer::from_raw(raw.link_layer),
            speed: raw.active_speed,
            width: raw.active_width,
        }
    }

    /// Millions of bits a second of all lanes together; `None` for numbers that are not known.
    pub(crate) fn megabits(&self) -> Option<u32> {
        let lanes = match self.width {
            1 => 1,
            2 => 4,
            4 => 8,
            8 => 12,
            16 => 2,
            _ => return None,
        };
        let lane = match self.speed {
            1 => 2_500,
            2 => 5_000,
            4 | 8 => 10_000,
            16 => 14_000,
            32 => 25_000,
            64 => 50_000,
            128 => 100_000,
            _ => return None,
        };
        Some(lanes * lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_words() {
        let mut raw = ibv_port_attr::zeroed();
        (raw.state, raw.max_mtu, raw.active_mtu, raw.gid_tbl_len) = (4, 5, 3, -1);
        (raw.link_layer, raw.active_speed, raw.active_width) = (2, 128, 2);
        let port = PortAttributes::from_raw(&raw);
        assert_eq!(
            (port.state.to_string().as_str(), port.link_layer.to_string().as_str()),
            ("ACTIVE", "Ethernet")
        );
        assert_eq!(
            (port.max_mtu, port.active_mtu, port.gid_table_len),
            (Some(Mtu::B4096), Some(Mtu::B1024), 0)
        );
        assert_eq!(port.megabits(), Some(400_000));
        assert_eq!(PortState::from_raw(77).to_string(), "unknown (77)");
        assert_eq!(PortAttributes::from_raw(&ibv_port_attr::zeroed()).megabits(), None);
    }
}
