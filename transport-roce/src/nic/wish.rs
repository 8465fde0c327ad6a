//! What the choice of a NIC goes by, besides the facts.

use std::fmt;
use std::net::IpAddr;

use transport_core::config::Source;

use crate::kind::NicKind;
use crate::settings::{GidAllow, NicWish, RoceSettings};

/// IPv4 or IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of `ip`; that of an IPv4 address in IPv6 clothes is IPv4.
    pub(crate) fn of(ip: IpAddr) -> Self {
        if ip.to_canonical().is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// This PE's own address towards the rendezvous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    /// It is this one.
    Address(IpAddr),
    /// The rendezvous is on loopback, which no NIC serves.
    Loopback,
    /// There is no rendezvous yet, or no way to it.
    Unknown,
}

impl Local {
    /// The address, if there is one.
    pub(crate) fn address(self) -> Option<IpAddr> {
        match self {
            Self::Address(ip) => Some(ip.to_canonical()),
            Self::Loopback | Self::Unknown => None,
        }
    }
}

/// Which NIC is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Want<'a> {
    /// Whichever the facts point to.
    Any,
    /// This one.
    Device {
        /// The device's name.
        name: &'a str,
        /// Its port; the only fitting one if `None`.
        port: Option<u8>,
        /// Who named it.
        origin: &'a Source,
    },
    /// The one that holds the address of an NPU.
    NpuAddress {
        /// The NPU.
        npu: u32,
        /// Its address.
        address: IpAddr,
    },
    /// The usual one of an NPU, where no file of the host tells.
    NpuDevice {
        /// The NPU.
        npu: u32,
        /// The device's name.
        name: &'static str,
    },
}

/// What the choice of a NIC goes by, besides the facts.
#[derive(Debug, Clone)]
pub(crate) struct Wish<'a> {
    /// Which NIC is wanted.
    pub want: Want<'a>,
    /// Which GID of it is wanted: the best one if `None`.
    pub gid_index: Option<u32>,
    /// Who said so.
    pub gid_index_origin: &'a Source,
    /// The index that the GID should have, all else being equal.
    pub usual_gid_index: Option<u32>,
    /// Which GIDs may be used although they are not routable.
    pub gid_allow: GidAllow,
    /// This PE's address towards the rendezvous.
    pub local: Local,
    /// The family of addresses that the peers use, if it is known.
    pub family: Option<Family>,
}

impl<'a> Wish<'a> {
    /// What `settings` say. The NPU's NIC is any one here: only the host tells which it is, see
    /// [`find_nic`](super::find_nic).
    pub(crate) fn new(
        kind: &NicKind,
        settings: &'a RoceSettings,
        local: Local,
        family: Option<Family>,
    ) -> Self {
        let want = match &settings.nic.value {
            NicWish::Named { device, port } => {
                Want::Device { name: device, port: *port, origin: &settings.nic.source }
            }
            NicWish::Auto | NicWish::Npu => Want::Any,
        };
        Self {
            want,
            gid_index: settings.gid_index.value,
            gid_index_origin: &settings.gid_index.source,
            usual_gid_index: kind.gid_index,
            gid_allow: settings.gid_allow.value,
            local,
            family,
        }
    }

    /// The address whose GID is best: the NPU's if that is what the NIC was found by, as its peers know it by that.
    pub(super) fn preferred_address(&self) -> Option<IpAddr> {
        match self.want {
            Want::NpuAddress { address, .. } => Some(address),
            Want::Any | Want::Device { .. } | Want::NpuDevice { .. } => self.local.address(),
        }
    }

    /// The family of addresses that is best, if it is known.
    pub(super) fn preferred_family(&self) -> Option<Family> {
        match self.want {
            Want::NpuAddress { address, .. } => Some(Family::of(address)),
            Want::Any | Want::Device { .. } | Want::NpuDevice { .. } => self.family,
        }
    }
}
