//! The XSCALE NICs of Ascend950 as a backend: a [`NicKind`] for the engine of `transport-roce`.
//!
//! - Devices: `xscale_N`. Their ordinary provider is `libxscale-rdmavNN.so`, installed as any other of libibverbs. The plug-in that
//!   `IBV_EXTEND_DRIVERS` names, `libxscale_nda.so`, adds to it what an NPU needs to post by itself; it is loaded through
//!   `libibv_extend.so`. The engine here posts from the host, so that a job runs without it.
//! - GID: the RoCE v2 entry of the NIC's address.
//! - At most 16 PEs an address; TCP ports 60032 to 60287 among the peers.
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
//!     spec.backend = transport_xscale::BACKEND.to_owned();
//!     let fabric = transport_xscale::fabric(config.heap_size.value.bytes(), RoceSettings::builder().build()?);
//!     Ok::<_, Box<dyn std::error::Error>>(fabric.connect(Bootstrap::join(spec).await?).await?)
//! })?;
//! block_on(pe.barrier_all())?;
//! # Ok(()) }
//! ```

use transport_roce::{Fabric, NicKind, PlugInNames, RoceSettings};

/// The backend's name.
pub const BACKEND: &str = "xscale";

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
    gid_index: None,
    max_pes: Some(16),
    ports: Some(60032..=60287),
    usual_device: None,
    shared_port: None,
    cann: Some(([9, 1, 0], "Ascend950")),
    of_npu: false,
};

/// Joins this process to a job over these NICs: a [`Fabric`] of this kind.
pub fn fabric(heap_size: u64, settings: RoceSettings) -> Fabric {
    Fabric::of_kind(&XSCALE, heap_size, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_serves_its_own_devices_and_knows_its_own_file() {
        assert!(XSCALE.serves("xscale_0") && XSCALE.serves("xscale_12"));
        assert!(["hrn5_0", "xscale", "xscale_a", "rxe_0"].iter().all(|name| !XSCALE.serves(name)));
        let names = XSCALE.plug_in.unwrap();
        assert!(names.file.starts_with(names.stem) && names.provider.starts_with(names.stem));
    }
}
