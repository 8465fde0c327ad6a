//! The structs of `infiniband/verbs.h`, with C's names, for 64-bit targets.
//!
//! This file names nothing of the crate, because `abi-check` includes it too.
#![allow(non_camel_case_types, reason = "C's names")]
#![allow(dead_code, reason = "a field belongs to the layout whether or not we read it")]

use std::ffi::{c_char, c_int, c_void};

/// Bytes of `pthread_mutex_t` in glibc: it lies inside of some structs.
const MUTEX: usize = if cfg!(target_arch = "aarch64") { 48 } else { 40 };
/// Bytes of `pthread_cond_t` in glibc.
const COND: usize = 48;

/// What the compiler makes of a struct: its name, size, alignment, and each field's offset.
#[cfg(test)]
pub(crate) type Layout = (&'static str, usize, usize, &'static [(&'static str, usize)]);

/// Declares structs as C does, each with its size, which is checked when compiling, and lists them all for `abi-check`.
macro_rules! abi_structs {
    ($($(#[$doc:meta])* struct $name:ident: $size:expr, { $($field:ident: $type:ty),+ $(,)? })+) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub(crate) struct $name { $(pub(crate) $field: $type),+ }

            const _: () = assert!(size_of::<$name>() == $size);

            impl $name {
                /// One with every byte zero.
                pub(crate) const fn zeroed() -> Self {
                    // SAFETY: all fields are numbers, raw pointers, optional function pointers, or arrays and unions of
                    // those; zero is a value of each.
                    unsafe { std::mem::MaybeUninit::zeroed().assume_init() }
                }
            }
        )+

        /// Every struct above.
        #[cfg(test)]
        pub(crate) const LAYOUTS: &[Layout] = &[$((
            stringify!($name),
            size_of::<$name>(),
            align_of::<$name>(),
            &[$((stringify!($field), std::mem::offset_of!($name, $field))),+],
        )),+];
    };
}

/// A device, of which only the library knows more.
pub(crate) enum ibv_device {}

/// A slot of [`ibv_context_ops`] that we do not call.
type Slot = *mut c_void;

/// Polls a completion queue.
pub(crate) type PollCq = unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int;
/// Asks for an event with the next completion.
pub(crate) type ReqNotifyCq = unsafe extern "C" fn(*mut ibv_cq, c_int) -> c_int;
/// Posts a chain of requests.
pub(crate) type PostSend =
    unsafe extern "C" fn(*mut ibv_qp, *mut ibv_send_wr, *mut *mut ibv_send_wr) -> c_int;

/// A GID, in network byte order; aligned as in C, where it may also be read as two words.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union ibv_gid {
    /// Its bytes.
    pub(crate) raw: [u8; 16],
    /// Its halves, big-endian.
    pub(crate) global: [u64; 2],
}
const _: () = assert!(size_of::<ibv_gid>() == 16 && align_of::<ibv_gid>() == 8);

/// What a request does at the other side, by its opcode.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union ibv_send_wr_wr {
    /// Of a write or read.
    pub(crate) rdma: ibv_send_wr_rdma,
    /// Of an atomic operation.
    pub(crate) atomic: ibv_send_wr_atomic,
    /// Of a datagram, which we never send: `ah`, `remote_qpn`, `remote_qkey`.
    pub(crate) ud: [u64; 2],
}
const _: () = assert!(size_of::<ibv_send_wr_wr>() == 32);

abi_structs! {
    /// An open device's table of functions. Slots that begin with `_compat` are dead.
    struct ibv_context_ops: 256, {
        _compat_query_device: Slot,
        _compat_query_port: Slot,
        _compat_alloc_pd: Slot,
        _compat_dealloc_pd: Slot,
        _compat_reg_mr: Slot,
        _compat_rereg_mr: Slot,
        _compat_dereg_mr: Slot,
        alloc_mw: Slot,
        bind_mw: Slot,
        dealloc_mw: Slot,
        _compat_create_cq: Slot,
        poll_cq: Option<PollCq>,
        req_notify_cq: Option<ReqNotifyCq>,
        _compat_cq_event: Slot,
        _compat_resize_cq: Slot,
        _compat_destroy_cq: Slot,
        _compat_create_srq: Slot,
        _compat_modify_srq: Slot,
        _compat_query_srq: Slot,
        _compat_destroy_srq: Slot,
        post_srq_recv: Slot,
        _compat_create_qp: Slot,
        _compat_query_qp: Slot,
        _compat_modify_qp: Slot,
        _compat_destroy_qp: Slot,
        post_send: Option<PostSend>,
        post_recv: Slot,
        _compat_create_ah: Slot,
        _compat_destroy_ah: Slot,
        _compat_attach_mcast: Slot,
        _compat_detach_mcast: Slot,
        _compat_async_event: Slot,
    }

    /// An open device.
    struct ibv_context: 288 + MUTEX, {
        device: *mut ibv_device,
        ops: ibv_context_ops,
        cmd_fd: c_int,
        async_fd: c_int,
        num_comp_vectors: c_int,
        mutex: [u64; MUTEX / 8],
        abi_compat: *mut c_void,
    }

    /// A protection domain.
    struct ibv_pd: 16, {
        context: *mut ibv_context,
        handle: u32,
    }

    /// Registered memory.
    struct ibv_mr: 48, {
        context: *mut ibv_context,
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: usize,
        handle: u32,
        lkey: u32,
        rkey: u32,
    }

    /// A completion channel.
    struct ibv_comp_channel: 16, {
        context: *mut ibv_context,
        fd: c_int,
        refcnt: c_int,
    }

    /// A completion queue.
    struct ibv_cq: 40 + MUTEX + COND, {
        context: *mut ibv_context,
        channel: *mut ibv_comp_channel,
        cq_context: *mut c_void,
        handle: u32,
        cqe: c_int,
        mutex: [u64; MUTEX / 8],
        cond: [u64; COND / 8],
        comp_events_completed: u32,
        async_events_completed: u32,
    }

    /// A queue pair.
    struct ibv_qp: 72 + MUTEX + COND, {
        context: *mut ibv_context,
        qp_context: *mut c_void,
        pd: *mut ibv_pd,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut c_void,
        handle: u32,
        qp_num: u32,
        state: u32,
        qp_type: u32,
        mutex: [u64; MUTEX / 8],
        cond: [u64; COND / 8],
        events_completed: u32,
    }

    /// What a device can.
    struct ibv_device_attr: 232, {
        fw_ver: [c_char; 64],
        node_guid: u64,
        sys_image_guid: u64,
        max_mr_size: u64,
        page_size_cap: u64,
        vendor_id: u32,
        vendor_part_id: u32,
        hw_ver: u32,
        max_qp: c_int,
        max_qp_wr: c_int,
        device_cap_flags: u32,
        max_sge: c_int,
        max_sge_rd: c_int,
        max_cq: c_int,
        max_cqe: c_int,
        max_mr: c_int,
        max_pd: c_int,
        max_qp_rd_atom: c_int,
        max_ee_rd_atom: c_int,
        max_res_rd_atom: c_int,
        max_qp_init_rd_atom: c_int,
        max_ee_init_rd_atom: c_int,
        atomic_cap: u32,
        max_ee: c_int,
        max_rdd: c_int,
        max_mw: c_int,
        max_raw_ipv6_qp: c_int,
        max_raw_ethy_qp: c_int,
        max_mcast_grp: c_int,
        max_mcast_qp_attach: c_int,
        max_total_mcast_qp_attach: c_int,
        max_ah: c_int,
        max_fmr: c_int,
        max_map_per_fmr: c_int,
        max_srq: c_int,
        max_srq_wr: c_int,
        max_srq_sge: c_int,
        max_pkeys: u16,
        local_ca_ack_delay: u8,
        phys_port_cnt: u8,
    }

    /// A port. The exported `ibv_query_port` fills it up to `flags`; the rest came later.
    struct ibv_port_attr: 56, {
        state: u32,
        max_mtu: u32,
        active_mtu: u32,
        gid_tbl_len: c_int,
        port_cap_flags: u32,
        max_msg_sz: u32,
        bad_pkey_cntr: u32,
        qkey_viol_cntr: u32,
        pkey_tbl_len: u16,
        lid: u16,
        sm_lid: u16,
        lmc: u8,
        max_vl_num: u8,
        sm_sl: u8,
        subnet_timeout: u8,
        init_type_reply: u8,
        active_width: u8,
        active_speed: u8,
        phys_state: u8,
        link_layer: u8,
        flags: u8,
        port_cap_flags2: u16,
        active_speed_ex: u32,
    }

    /// An entry of a port's GID table.
    struct ibv_gid_entry: 32, {
        gid: ibv_gid,
        gid_index: u32,
        port_num: u32,
        gid_type: u32,
        ndev_ifindex: u32,
    }

    /// The network half of an address.
    struct ibv_global_route: 24, {
        dgid: ibv_gid,
        flow_label: u32,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
    }

    /// An address.
    struct ibv_ah_attr: 32, {
        grh: ibv_global_route,
        dlid: u16,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
    }

    /// Sizes of a queue pair.
    struct ibv_qp_cap: 20, {
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
    }

    /// What a queue pair is made from.
    struct ibv_qp_init_attr: 64, {
        qp_context: *mut c_void,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut c_void,
        cap: ibv_qp_cap,
        qp_type: u32,
        sq_sig_all: c_int,
    }

    /// What a queue pair's next state needs.
    struct ibv_qp_attr: 144, {
        qp_state: u32,
        cur_qp_state: u32,
        path_mtu: u32,
        path_mig_state: u32,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: u32,
        cap: ibv_qp_cap,
        ah_attr: ibv_ah_attr,
        alt_ah_attr: ibv_ah_attr,
        pkey_index: u16,
        alt_pkey_index: u16,
        en_sqd_async_notify: u8,
        sq_draining: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port_num: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port_num: u8,
        alt_timeout: u8,
        rate_limit: u32,
    }

    /// Local bytes of a request.
    struct ibv_sge: 16, {
        addr: u64,
        length: u32,
        lkey: u32,
    }

    /// The other side of a write or read.
    struct ibv_send_wr_rdma: 16, {
        remote_addr: u64,
        rkey: u32,
    }

    /// The other side of an atomic operation, and its operands.
    struct ibv_send_wr_atomic: 32, {
        remote_addr: u64,
        compare_add: u64,
        swap: u64,
        rkey: u32,
    }

    /// A request. C has unions for `imm_data`, `qp_type` and the memory window at the end, of which we use nothing.
    struct ibv_send_wr: 128, {
        wr_id: u64,
        next: *mut ibv_send_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
        opcode: u32,
        send_flags: u32,
        imm_data: u32,
        wr: ibv_send_wr_wr,
        qp_type: u32,
        bind_mw: [u64; 6],
    }

    /// A completion. After an error only `wr_id`, `status`, `qp_num` and `vendor_err` hold something.
    struct ibv_wc: 48, {
        wr_id: u64,
        status: u32,
        opcode: u32,
        vendor_err: u32,
        byte_len: u32,
        imm_data: u32,
        qp_num: u32,
        src_qp: u32,
        wc_flags: u32,
        pkey_index: u16,
        slid: u16,
        sl: u8,
        dlid_path_bits: u8,
    }
}
