//! What can go wrong with the NIC of an NPU, and what to do.

use std::net::IpAddr;

use super::health::Health;
use super::npu_nic::NpuNic;
use crate::nic::{DeviceFacts, describe_devices};

/// Why the NIC of an NPU cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HccnError {
    /// There is no `hccn_tool`.
    #[error(
        "hccn_tool, which tells the address of an NPU's NIC, is not there (looked in {looked_in}). Install the Ascend \
         driver package, or mount its tools into the container; or name the NIC with --device or SHMEM_NIC=name"
    )]
    ToolMissing {
        /// Where was looked.
        looked_in: String,
    },

    /// It cannot be started.
    #[error(
        "{path} cannot be run: {error}. Check that this user may run it (ls -l; it often needs root or the driver's \
         group) and that it is built for this machine"
    )]
    CannotRun {
        /// The tool.
        path: String,
        /// What the system says.
        error: String,
    },

    /// It ended with an error.
    #[error(
        "`{asked}` failed ({status}); {output}. Run it by hand: does the NPU exist (npu-smi info), does this user have the \
         rights, is its device mounted into the container?"
    )]
    Failed {
        /// The command.
        asked: String,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },

    /// It did not end in time.
    #[error(
        "`{asked}` did not answer within {seconds} s and was killed; {output}. Run it by hand; if it hangs there too, the \
         NPU or its driver is stuck (npu-smi info, dmesg)"
    )]
    TimedOut {
        /// The command.
        asked: String,
        /// The limit.
        seconds: String,
        /// What it printed until then.
        output: String,
    },

    /// Its output is not what is expected.
    #[error(
        "the answer of `{asked}` is not understood; {output}. Check that it is the hccn_tool of the Ascend driver; or name \
         the NIC with --device or SHMEM_NIC=name"
    )]
    NotUnderstood {
        /// The command.
        asked: String,
        /// What it printed.
        output: String,
    },

    /// The NIC has no address.
    #[error(
        "the NIC of NPU {npu} has no IP address; set one: hccn_tool -i {npu} -ip -s address ADDRESS netmask MASK (and keep \
         it in /etc/hccn.conf, so that it is there after a restart)"
    )]
    NoAddress {
        /// The NPU.
        npu: u32,
    },

    /// The NIC has no link.
    #[error(
        "the link of NPU {npu}'s NIC ({address}) is down; check cable, optical module and the switch's port \
         (hccn_tool -i {npu} -link -g, -optical -g)"
    )]
    LinkDown {
        /// The NPU.
        npu: u32,
        /// Its address.
        address: IpAddr,
    },

    /// The NPU's own check found its network ill.
    #[error(
        "the network of NPU {npu} ({address}) is not well: net health status {health}, that is, {}. Ask again with \
         hccn_tool -i {npu} -net_health -g",
        health.meaning()
    )]
    Unhealthy {
        /// The NPU.
        npu: u32,
        /// Its address.
        address: IpAddr,
        /// What the check says.
        health: Health,
    },

    /// No verbs device has the address of the NPU's NIC.
    #[error(
        "no verbs device of this host has {address}, the address of NPU {npu}'s NIC. On Ascend A2 and A3 the NPU's own NIC \
         may not appear as a verbs device to the host; a job over it needs an engine over the HCCP library, which this \
         library does not have yet. Use a NIC of the host (--device or SHMEM_NIC=name) or another backend. Looked at: \
         {looked_at}"
    )]
    NoVerbsDevice {
        /// The NPU.
        npu: u32,
        /// Its address.
        address: IpAddr,
        /// The devices with their GIDs.
        looked_at: String,
    },
}

impl HccnError {
    /// That none of `devices` is the NIC of an NPU.
    pub(crate) fn no_verbs_device(nic: &NpuNic, devices: &[DeviceFacts]) -> Self {
        Self::NoVerbsDevice { npu: nic.npu, address: nic.address, looked_at: describe_devices(devices) }
    }
}
