//! The HNS 1825 NICs of Ascend950, as a backend.

use transport_roce::{NicKind, PlugInNames};

/// What sets these NICs apart.
pub static HNS1825: NicKind = NicKind {
    backend: BACKEND,
    name: "HNS 1825 NIC",
    device_prefix: Some("hrn5_"),
    plug_in: Some(PlugInNames {
        file: "libhrn5-rdmav34.so",
        stem: "libhrn5",
        is_provider: true,
        provider: "libhrn5-rdmavNN.so",
        mistaken: &[("libxscale", "xscale")],
    }),
    max_pes: Some(16),
    ports: Some(60032..=60287),
    cann: Some(([9, 1, 0], "Ascend950")),
    of_npu: false,
    ..NicKind::ROCE
};

/// The backend's name.
pub const BACKEND: &str = "hns1825";
