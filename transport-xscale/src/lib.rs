//! The XSCALE NICs of Ascend950, as a backend.

use transport_roce::{NicKind, PlugInNames};

/// What sets these NICs apart.
pub static XSCALE: NicKind = NicKind {
    backend: BACKEND,
    name: "XSCALE NIC",
    device_prefix: Some("xscale_"),
    plug_in: Some(PlugInNames {
        file: "libxscale_nda.so",
        stem: "libxscale",
        is_provider: false,
        provider: "libxscale-rdmavNN.so",
        mistaken: &[("libhrn", "hns1825")],
    }),
    max_pes: Some(16),
    ports: Some(60032..=60287),
    cann: Some(([9, 1, 0], "Ascend950")),
    of_npu: false,
    ..NicKind::ROCE
};

/// The backend's name.
pub const BACKEND: &str = "xscale";
