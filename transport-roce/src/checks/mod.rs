//! What `shmem-doctor` looks at on a host with RoCE NICs: a [`Section`](transport_core::checks::Section) for each subject.
//!
//! Each file has one subject in two parts: a look at the host, which judges nothing, and a judgement of plain data, which
//! looks at nothing, so that every outcome can be tested without a device.

mod cann;
mod cann_version;
mod device_files;
mod devices;
mod examine;
mod hccn;
mod library;
mod link;
mod locked_memory;
mod npu_nics;
mod plug_ins;
mod port;
mod ports;
mod ranges;

pub(crate) use examine::before_start;
pub use examine::examine;
