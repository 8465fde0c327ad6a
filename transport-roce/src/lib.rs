//! The RoCE backend: symmetric memory over the RDMA NICs of a cluster, by libibverbs.

mod abi;
mod hccn;
mod nic;
mod settings;
mod verbs;
