//! Why no NIC could be chosen: what, where, and what to do next.

use std::net::IpAddr;

use transport_core::config::Source;

use super::refusal::Refusal;
use super::wish::Family;
use crate::hccn::HccnError;
use crate::provider::ProviderError;
use crate::rootinfo::RootInfoError;

/// Why there is no NIC, port or GID to use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NicError {
    /// There is no verbs device at all.
    #[error(
        "this host shows no RDMA device. Is the driver's kernel module loaded (lsmod; `rdma link` lists devices)? Is the \
         provider package installed (rdma-core, ibverbs-providers, or the NIC vendor's)? A container needs \
         /dev/infiniband, e.g. docker run --device=/dev/infiniband --net=host"
    )]
    NoDevices,

    /// There is none of the kind that the backend serves.
    #[error(
        "this host has no {name} (a device called {prefix}0 or the like); there are: {devices}. Is its driver's kernel module loaded \
         (`rdma link` lists devices)? If another NIC is meant, choose its backend by --backend or SHMEM_BACKEND; roce takes any"
    )]
    NoneOfKind {
        /// What the NIC is called.
        name: &'static str,
        /// What its devices' names begin with.
        prefix: &'static str,
        /// What there is.
        devices: String,
    },

    /// The named device is of another kind.
    #[error(
        "{device} ({origin}) is no {name}, whose devices are called {prefix}0 or the like. Name one of these, or choose the backend of \
         {device} by --backend or SHMEM_BACKEND; roce takes any"
    )]
    OtherKind {
        /// The device.
        device: String,
        /// Who named it.
        origin: Source,
        /// What the backend's NIC is called.
        name: &'static str,
        /// What its devices' names begin with.
        prefix: &'static str,
    },

    /// No provider drives the device.
    #[error(transparent)]
    Provider(#[from] ProviderError),

    /// The file of the host that tells the NPU's NIC.
    #[error(transparent)]
    RootInfo(#[from] RootInfoError),

    /// The named device does not exist.
    #[error(
        "there is no device {name:?} ({origin}){hint}; there are: {devices}. Correct the name, or give none"
    )]
    UnknownDevice {
        /// The name.
        name: String,
        /// Who gave it.
        origin: Source,
        /// A near name as a question, or nothing.
        hint: String,
        /// What there is.
        devices: String,
    },

    /// The device does not have the named port, or has none at all.
    #[error("{device} has no port {port} ({origin}); it has: {ports}. Correct the number, or give none")]
    PortMissing {
        /// The device.
        device: String,
        /// The port: a number, or `at all`.
        port: String,
        /// Who named it.
        origin: Source,
        /// What there is.
        ports: String,
    },

    /// The wanted port carries no packets.
    #[error(
        "{device} port {port} ({why}) is {state}, not ACTIVE; bring its network device up (ip link set DEV up), check \
         cable and switch, or name another NIC with --device or SHMEM_NIC"
    )]
    PortNotActive {
        /// The device.
        device: String,
        /// The port.
        port: u8,
        /// Why it is wanted.
        why: String,
        /// Its state.
        state: String,
    },

    /// The wanted port is an InfiniBand port.
    #[error(
        "{device} port {port} ({why}) is an InfiniBand port, but this backend speaks RoCE (Ethernet); name another NIC \
         with --device or SHMEM_NIC, or set the port to Ethernet if the card can do both"
    )]
    NotEthernet {
        /// The device.
        device: String,
        /// The port.
        port: u8,
        /// Why it is wanted.
        why: String,
    },

    /// No port could be used.
    #[error(
        "no port is an active Ethernet port: {ports}. This backend speaks RoCE (Ethernet); bring a network device of a \
         RoCE NIC up (ip link set DEV up), and check cable and switch"
    )]
    NoneActive {
        /// All ports with their states.
        ports: String,
    },

    /// Several ports could be used.
    #[error(
        "{count} ports could be used and nothing tells which ({local}): {candidates}. Name one with --device or \
         SHMEM_NIC, e.g. SHMEM_NIC={example}"
    )]
    Several {
        /// How many.
        count: usize,
        /// Why the rendezvous does not tell.
        local: String,
        /// The ports with their states and GIDs.
        candidates: String,
        /// The first of them, as `SHMEM_NIC` would name it.
        example: String,
    },

    /// The GID table has no such entry.
    #[error(
        "{device} port {port} has no GID at index {index} ({origin}); it has: {gids}. Correct the index, or unset it so \
         that the best one is found"
    )]
    GidIndexMissing {
        /// The device.
        device: String,
        /// The port.
        port: u8,
        /// The index.
        index: u32,
        /// Who named it.
        origin: Source,
        /// What there is.
        gids: String,
    },

    /// The named entry of the GID table should not be used.
    #[error("{entry} of {device} port {port} ({origin}) {}; {}. The port has: {gids}", refusal.fault(), refusal.remedy())]
    GidRefused {
        /// The device.
        device: String,
        /// The port.
        port: u8,
        /// The entry.
        entry: String,
        /// Who named it.
        origin: Source,
        /// What is wrong with it.
        refusal: Refusal,
        /// What there is.
        gids: String,
    },

    /// No entry of the GID table should be used.
    #[error(
        "{device} port {port} has no GID that is RoCE v2 and routable; it has: {gids}. Give its network device an IP \
         address (ip addr add ADDRESS/BITS dev DEV); in a container, use the host's network (--net=host) or move the \
         device into its namespace. If all peers are on one link, SHMEM_GID_ALLOW=v1,link-local allows the others"
    )]
    NoRoutableGid {
        /// The device.
        device: String,
        /// The port.
        port: u8,
        /// What there is.
        gids: String,
    },

    /// The NPU's NIC is wanted, but not whose.
    #[error(
        "NIC is npu ({origin}), but the program did not say which NPU this PE has; give it g_npus and f_npu, or name \
         the NIC itself with --device or SHMEM_NIC"
    )]
    NpuUnknown {
        /// Who wants it.
        origin: Source,
    },

    /// The NPU's NIC is wanted, but nothing tells which it is.
    #[error(
        "NIC is npu ({origin}), but nothing on this host tells which NIC NPU {npu} has: there is no /etc/hccl_rootinfo.json. Make one, or \
         name the NIC itself with --device or SHMEM_NIC"
    )]
    NpuNicUnknown {
        /// The NPU.
        npu: u32,
        /// Who wants its NIC.
        origin: Source,
    },

    /// No port holds the address that the NIC must have.
    #[error(
        "no port holds {address}, the address of NPU {npu}; there are: {devices}. Name the NIC with SHMEM_NIC"
    )]
    AddressNowhere {
        /// The NPU.
        npu: u32,
        /// The address.
        address: IpAddr,
        /// What there is.
        devices: String,
    },

    /// The NIC that an NPU usually has is not there.
    #[error(
        "NPU {npu} usually has {name}, which is not there; there are: {devices}. Let /etc/hccl_rootinfo.json tell its NIC, or name it \
         with --device or SHMEM_NIC"
    )]
    UsualMissing {
        /// The NPU.
        npu: u32,
        /// The device.
        name: String,
        /// What there is.
        devices: String,
    },

    /// The NPU's NIC could not be asked, or cannot be used.
    #[error(transparent)]
    Hccn(#[from] HccnError),

    /// Two PEs chose GIDs of different kinds.
    #[error(
        "{one} and {other} use different kinds of GID, which cannot talk; set SHMEM_GID_INDEX on each host to an entry \
         of one kind, best RoCE v2 (ibv_devinfo -v lists them), or unset it on all"
    )]
    MixedKinds {
        /// One end.
        one: String,
        /// The other end.
        other: String,
    },

    /// Two PEs chose GIDs of different families.
    #[error(
        "{one} has an {one_family} GID and {other} an {other_family} one, which cannot talk; give both NICs addresses \
         of one family, or pick such entries with SHMEM_GID_INDEX or SHMEM_NIC on each host"
    )]
    MixedFamilies {
        /// One end.
        one: String,
        /// Its family.
        one_family: Family,
        /// The other end.
        other: String,
        /// Its family.
        other_family: Family,
    },

    /// A PE told an MTU that no port can have.
    #[error(
        "{peer} told an MTU of {mtu_bytes} bytes; a port has 256, 512, 1024, 2048 or 4096. Do all PEs run the same \
         version of this program?"
    )]
    BadMtu {
        /// The PE with its NIC.
        peer: String,
        /// What it told.
        mtu_bytes: u32,
    },

    /// What the PEs exchanged does not hold this PE's own NIC.
    #[error(
        "PE {my_pe} is not among the {count} PEs that told their NICs; is its number the same everywhere?"
    )]
    OwnEntryMissing {
        /// This PE.
        my_pe: usize,
        /// How many there are.
        count: usize,
    },
}
