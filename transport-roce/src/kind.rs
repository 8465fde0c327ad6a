//! `NicKind`: what sets one kind of NIC apart from the others. The engine is the same for all.

use std::ops::RangeInclusive;

/// What sets a kind of NIC apart: how its devices and plug-in are called, and its limits.
///
/// Each backend over this engine is one of these: [`NicKind::ROCE`], and those of the crates `transport-xscale` and
/// `transport-hns1825`.
#[derive(Debug)]
pub struct NicKind {
    /// The backend's name.
    pub backend: &'static str,
    /// How people call such a NIC, as in "an XSCALE NIC".
    pub name: &'static str,
    /// What its devices' names begin with, before a number (`xscale_`); any device if `None`.
    pub device_prefix: Option<&'static str>,
    /// The provider plug-in that its driver package brings, if it has one of its own.
    pub plug_in: Option<PlugInNames>,
    /// The index that its GID should have, if there is one that can be used.
    pub gid_index: Option<u32>,
    /// The most PEs that may use one address of a NIC.
    pub max_pes: Option<usize>,
    /// The TCP ports that its peers use among each other.
    pub ports: Option<RangeInclusive<u16>>,
    /// The usual device of an NPU, where no file of the host tells.
    pub usual_device: Option<fn(npu: u32) -> Option<&'static str>>,
    /// What to know if several PEs are behind one port of it: a sentence, and the remedy.
    pub shared_port: Option<(&'static str, &'static str)>,
    /// The oldest CANN that knows it, and the product that it belongs to.
    pub cann: Option<([u32; 3], &'static str)>,
    /// Whether the NICs of NPUs, which `hccn_tool` tells of, are of this kind.
    pub of_npu: bool,
}

/// How the files of a NIC's user-space driver are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlugInNames {
    /// The file that `IBV_EXTEND_DRIVERS` names: `libxscale_nda.so`.
    pub file: &'static str,
    /// What the file's name begins with, whatever the version: `libxscale`.
    pub stem: &'static str,
    /// Whether it is the NIC's ordinary provider too; else there is another file for that.
    pub is_provider: bool,
    /// The ordinary provider, `NN` for the ABI's number: `libxscale-rdmavNN.so`.
    pub provider: &'static str,
    /// Files of other NICs that are named by mistake: what they begin with, and their backend.
    pub mistaken: &'static [(&'static str, &'static str)],
}

impl NicKind {
    /// Any RoCE NIC, with the on-die NICs of Ascend A2 and A3 among them.
    pub const ROCE: Self = Self {
        backend: "roce",
        name: "RoCE NIC",
        device_prefix: None,
        plug_in: None,
        gid_index: None,
        max_pes: None,
        ports: None,
        usual_device: None,
        shared_port: None,
        cann: None,
        of_npu: true,
    };

    /// Whether a device of this name is of this kind.
    #[must_use]
    pub fn serves(&self, device: &str) -> bool {
        self.device_prefix.is_none_or(|prefix| {
            let number = device.strip_prefix(prefix);
            number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        })
    }
}

#[cfg(test)]
impl NicKind {
    /// One with devices and a plug-in of its own, for tests.
    pub(crate) const LIKE_XSCALE: Self = Self {
        backend: "xscale",
        name: "XSCALE NIC",
        device_prefix: Some("xscale_"),
        plug_in: Some(PlugInNames {
            file: "libxscale_nda.so",
            stem: "libxscale",
            is_provider: false,
            provider: "libxscale-rdmavNN.so",
            mistaken: &[("libhrn", "hns1825")],
        }),
        ..Self::ROCE
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_serves_the_devices_of_its_prefix() {
        let kind = NicKind::LIKE_XSCALE;
        assert!(["xscale_0", "xscale_17"].iter().all(|name| kind.serves(name)));
        assert!(["xscale_", "xscale_x", "hrn5_0", "xxscale_0", ""].iter().all(|name| !kind.serves(name)));
        assert!(NicKind::ROCE.serves("mlx5_0"));
    }
}
