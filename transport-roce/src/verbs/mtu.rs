//! The largest payload of a packet.

use std::fmt;

use crate::abi::{IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096};

/// Bytes of payload of a packet; both ends of a queue pair need the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mtu {
    /// 256 bytes.
    B256,
    /// 512 bytes.
    B512,
    /// 1024 bytes: what fits an Ethernet link of 1500.
    B1024,
    /// 2048 bytes.
    B2048,
    /// 4096 bytes: needs an Ethernet link of about 4200 or more.
    B4096,
}

impl Mtu {
    /// All, from the smallest.
    pub(crate) const ALL: [Self; 5] = [Self::B256, Self::B512, Self::B1024, Self::B2048, Self::B4096];

    /// Bytes.
    pub(crate) fn bytes(self) -> u32 {
        256 << (self as u32)
    }

    /// C's number for it.
    pub(crate) fn to_raw(self) -> u32 {
        match self {
            Self::B256 => IBV_MTU_256,
            Self::B512 => IBV_MTU_512,
            Self::B1024 => IBV_MTU_1024,
            Self::B2048 => IBV_MTU_2048,
            Self::B4096 => IBV_MTU_4096,
        }
    }

    /// From C's number, `None` for one that stands for no size.
    pub(crate) fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mtu| mtu.to_raw() == raw)
    }

    /// The one of exactly so many bytes.
    pub(crate) fn from_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mtu| mtu.bytes() == bytes)
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_has_its_number() {
        let table = Mtu::ALL.map(|mtu| (mtu.to_raw(), mtu.bytes()));
        assert_eq!(table, [(1, 256), (2, 512), (3, 1024), (4, 2048), (5, 4096)]);
        for mtu in Mtu::ALL {
            assert_eq!((Mtu::from_raw(mtu.to_raw()), Mtu::from_bytes(mtu.bytes())), (Some(mtu), Some(mtu)));
        }
        for none in [0, 6, u32::MAX] {
            assert_eq!((Mtu::from_raw(none), Mtu::from_bytes(none)), (None, None));
        }
        assert_eq!(Mtu::B4096.min(Mtu::B1024).to_string(), "1024");
    }
}
