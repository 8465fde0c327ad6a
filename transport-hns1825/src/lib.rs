//! The HNS 1825 NICs of Ascend950 as a backend: a [`NicKind`] for the engine of `transport-roce`.
//!
//! - Devices: `hrn5_N`. Plug-in: `libhrn5-rdmav34.so`, an ordinary provider of libibverbs with ABI 34 (rdma-core 34 to 56), which
//!   `IBV_EXTEND_DRIVERS` names.
//! - GID: CANN's own kernels use index 1, so that it is taken where it can be used.
//! - At most 16 PEs an address; TCP ports 60032 to 60287 among the peers.
//! - Two NPUs behind one port need the bridge of the switch's port, see [`SHARED_PORT`].
//!
//! ```no_run
//! use transport_core::bootstrap::{Bootstrap, JoinSpec};
//! use transport_core::config::JobConfig;
//! use transport_core::{Transport, wait::block_on};
//! use transport_roce::RoceSettings;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = JobConfig::from_environment()?;
//! let pe = block_on(async {
//!     let mut spec = JoinSpec::try_from(&config)?;
//!     spec.backend = transport_hns1825::BACKEND.to_owned();
//!     let fabric = transport_hns1825::fabric(config.heap_size.value.bytes(), RoceSettings::builder().build()?);
//!     Ok::<_, Box<dyn std::error::Error>>(fabric.connect(Bootstrap::join(spec).await?).await?)
//! })?;
//! block_on(pe.barrier_all())?;
//! # Ok(()) }
//! ```

mod npu_pairs;

pub use npu_pairs::{ENABLE_PORT_BRIDGE, SHARED_PORT, USUAL_DEVICES, usual_device};
use transport_roce::{Fabric, NicKind, PlugInNames, RoceSettings};

/// The backend's name.
pub const BACKEND: &str = "hns1825";

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
    gid_index: Some(1),
    max_pes: Some(16),
    ports: Some(60032..=60287),
    usual_device: Some(usual_device),
    shared_port: Some((SHARED_PORT, ENABLE_PORT_BRIDGE)),
    cann: Some(([9, 1, 0], "Ascend950")),
    of_npu: false,
};

/// Joins this process to a job over these NICs: a [`Fabric`] of this kind.
pub fn fabric(heap_size: u64, settings: RoceSettings) -> Fabric {
    Fabric::of_kind(&HNS1825, heap_size, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_serves_its_own_devices_and_knows_its_own_file() {
        assert!(HNS1825.serves("hrn5_0") && HNS1825.serves("hrn5_12"));
        // hrn0 and hns are other NICs of the same house.
        assert!(["xscale_0", "hrn0_0", "hns_0", "hrn5", "rxe_0"].iter().all(|name| !HNS1825.serves(name)));
        let names = HNS1825.plug_in.unwrap();
        assert!(names.file.starts_with(names.stem));
        assert!(USUAL_DEVICES.iter().all(|device| HNS1825.serves(device)));
    }
}
