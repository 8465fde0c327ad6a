//! Size, alignment, and the offset of every field, of every struct.

use std::collections::BTreeMap;
use std::mem::{align_of, offset_of, size_of};

use ibverbs_sys as c;

#[path = "../../src/abi/structs.rs"]
mod ours;

/// Size, alignment, fields by name.
type Layout = (usize, usize, BTreeMap<&'static str, usize>);

/// The layouts of bindgen: `its_struct` of that name, or `its_struct as our_struct`; fields likewise.
macro_rules! oracle {
    (@name $its:ident) => { stringify!($its) };
    (@name $its:ident $ours:ident) => { stringify!($ours) };
    ($($its:ident $(as $ours:ident)? { $($field:ident $(as $our_field:ident)?),+ $(,)? })+) => {
        vec![$((
            oracle!(@name $its $($ours)?),
            (
                size_of::<c::$its>(),
                align_of::<c::$its>(),
                BTreeMap::from([$((oracle!(@name $field $($our_field)?), offset_of!(c::$its, $field))),+]),
            ),
        )),+]
    };
}

fn oracle() -> Vec<(&'static str, Layout)> {
    oracle! {
        ibv_context_ops {
            _compat_query_device, _compat_query_port, _compat_alloc_pd, _compat_dealloc_pd, _compat_reg_mr,
            _compat_rereg_mr, _compat_dereg_mr, alloc_mw, bind_mw, dealloc_mw, _compat_create_cq, poll_cq,
            req_notify_cq, _compat_cq_event, _compat_resize_cq, _compat_destroy_cq, _compat_create_srq,
            _compat_modify_srq, _compat_query_srq, _compat_destroy_srq, post_srq_recv, _compat_create_qp,
            _compat_query_qp, _compat_modify_qp, _compat_destroy_qp, post_send, post_recv, _compat_create_ah,
            _compat_destroy_ah, _compat_attach_mcast, _compat_detach_mcast, _compat_async_event,
        }
        ibv_context { device, ops, cmd_fd, async_fd, num_comp_vectors, mutex, abi_compat }
        ibv_pd { context, handle }
        ibv_mr { context, pd, addr, length, handle, lkey, rkey }
        ibv_comp_channel { context, fd, refcnt }
        ibv_cq {
            context, channel, cq_context, handle, cqe, mutex, cond, comp_events_completed, async_events_completed,
        }
        ibv_qp {
            context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num, state, qp_type, mutex, cond,
            events_completed,
        }
        ibv_device_attr {
            fw_ver, node_guid, sys_image_guid, max_mr_size, page_size_cap, vendor_id, vendor_part_id, hw_ver, max_qp,
            max_qp_wr, device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom,
            max_ee_rd_atom, max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee, max_rdd,
            max_mw, max_raw_ipv6_qp, max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach,
            max_ah, max_fmr, max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge, max_pkeys, local_ca_ack_delay,
            phys_port_cnt,
        }
        ibv_port_attr {
            state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr,
            pkey_tbl_len, lid, sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width,
            active_speed, phys_state, link_layer, flags, port_cap_flags2, active_speed_ex,
        }
        ibv_gid_entry { gid, gid_index, port_num, gid_type, ndev_ifindex }
        ibv_global_route { dgid, flow_label, sgid_index, hop_limit, traffic_class }
        ibv_ah_attr { grh, dlid, sl, src_path_bits, static_rate, is_global, port_num }
        ibv_qp_cap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data }
        ibv_qp_init_attr { qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all }
        ibv_qp_attr {
            qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags, cap,
            ah_attr, alt_ah_attr, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic,
            max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout,
            rate_limit,
        }
        ibv_sge { addr, length, lkey }
        ibv_send_wr {
            wr_id, next, sg_list, num_sge, opcode, send_flags, __bindgen_anon_1 as imm_data, wr, qp_type,
            __bindgen_anon_2 as bind_mw,
        }
        ibv_send_wr__bindgen_ty_2__bindgen_ty_1 as ibv_send_wr_rdma { remote_addr, rkey }
        ibv_send_wr__bindgen_ty_2__bindgen_ty_2 as ibv_send_wr_atomic { remote_addr, compare_add, swap, rkey }
    }
}

/// `ibverbs-sys` declares a completion by hand too, with fields that are private: these are found by its accessors.
fn oracle_wc() -> Layout {
    let mut fields = BTreeMap::from([
        ("imm_data", offset_of!(c::ibv_wc, imm_data)),
        ("qp_num", offset_of!(c::ibv_wc, qp_num)),
        ("src_qp", offset_of!(c::ibv_wc, src_qp)),
        ("wc_flags", offset_of!(c::ibv_wc, wc_flags)),
        ("pkey_index", offset_of!(c::ibv_wc, pkey_index)),
        ("slid", offset_of!(c::ibv_wc, slid)),
        ("sl", offset_of!(c::ibv_wc, sl)),
        ("dlid_path_bits", offset_of!(c::ibv_wc, dlid_path_bits)),
    ]);
    // A private field starts where the first of the bytes lies that change what its accessor says.
    let mut find = |name, read: fn(&c::ibv_wc) -> u64| {
        let says = |at: usize| {
            // The status, wherever it is, must not be 0, or the vendor's error is not said.
            let mut bytes = [1_u8; size_of::<c::ibv_wc>()];
            let before = read_wc(bytes, read);
            bytes[at] = 2;
            before != read_wc(bytes, read)
        };
        fields.insert(
            name,
            (0..size_of::<c::ibv_wc>()).find(|&at| says(at)).expect("the accessor reads the struct"),
        );
    };
    find("wr_id", |wc| wc.wr_id());
    find("status", |wc| wc.error().map_or(0, |(status, _)| status.into()));
    find("opcode", |wc| wc.opcode().into());
    find("vendor_err", |wc| wc.error().map_or(0, |(_, vendor)| vendor.into()));
    find("byte_len", |wc| wc.len() as u64);
    (size_of::<c::ibv_wc>(), align_of::<c::ibv_wc>(), fields)
}

fn read_wc(bytes: [u8; size_of::<c::ibv_wc>()], read: fn(&c::ibv_wc) -> u64) -> u64 {
    // SAFETY: as large as the struct, whose fields are all numbers.
    read(&unsafe { std::mem::transmute::<[u8; size_of::<c::ibv_wc>()], c::ibv_wc>(bytes) })
}

#[test]
fn every_struct_lies_in_memory_as_in_the_header() {
    let mut oracle: BTreeMap<_, _> = oracle().into_iter().collect();
    oracle.insert("ibv_wc", oracle_wc());
    for &(name, size, align, fields) in ours::LAYOUTS {
        let Some(theirs) = oracle.remove(name) else { panic!("{name} is not compared: add it to `oracle`") };
        assert_eq!((size, align, BTreeMap::from_iter(fields.iter().copied())), theirs, "{name}");
    }
    assert!(oracle.is_empty(), "no longer declared: {:?}", oracle.keys());
}

#[test]
fn the_unions_are_as_in_the_header() {
    let layout = |size, align| (size, align);
    assert_eq!(
        layout(size_of::<ours::ibv_gid>(), align_of::<ours::ibv_gid>()),
        layout(size_of::<c::ibv_gid>(), align_of::<c::ibv_gid>())
    );
    assert_eq!(
        layout(size_of::<ours::ibv_send_wr_wr>(), align_of::<ours::ibv_send_wr_wr>()),
        layout(size_of::<c::ibv_send_wr__bindgen_ty_2>(), align_of::<c::ibv_send_wr__bindgen_ty_2>())
    );
}

/// The slots that are called have the types that we call them with, which the compiler compares.
#[test]
fn the_slots_that_are_called_take_what_the_header_says() {
    type PollCq<Cq, Wc> = Option<unsafe extern "C" fn(*mut Cq, i32, *mut Wc) -> i32>;
    type ReqNotifyCq<Cq> = Option<unsafe extern "C" fn(*mut Cq, i32) -> i32>;
    type PostSend<Qp, Wr> = Option<unsafe extern "C" fn(*mut Qp, *mut Wr, *mut *mut Wr) -> i32>;
    type Slots<Ops, Cq, Wc, Qp, Wr> = fn(Ops) -> (PollCq<Cq, Wc>, ReqNotifyCq<Cq>, PostSend<Qp, Wr>);

    let _: Slots<c::ibv_context_ops, c::ibv_cq, c::ibv_wc, c::ibv_qp, c::ibv_send_wr> =
        |ops| (ops.poll_cq, ops.req_notify_cq, ops.post_send);
    let _: Slots<ours::ibv_context_ops, ours::ibv_cq, ours::ibv_wc, ours::ibv_qp, ours::ibv_send_wr> =
        |ops| (ops.poll_cq, ops.req_notify_cq, ops.post_send);
}
