//! The value of every constant.

use std::collections::BTreeMap;

#[path = "../../src/abi/constants.rs"]
mod ours;

/// The values of bindgen, which puts some enumerations into modules, some into sets of flags, and others nowhere.
macro_rules! oracle {
    ($(flags $flags:ident { $($flag:ident),+ $(,)? })+ $(module $module:ident { $($inner:ident),+ $(,)? })+ plain { $($plain:ident),+ $(,)? }) => {
        &[
            $($((stringify!($flag), ibverbs_sys::$flags::$flag.0 as u64),)+)+
            $($((stringify!($inner), ibverbs_sys::$module::$inner as u64),)+)+
            $((stringify!($plain), ibverbs_sys::$plain as u64),)+
        ]
    };
}

const ORACLE: &[(&str, u64)] = oracle! {
    flags ibv_access_flags {
        IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC,
    }
    flags ibv_send_flags { IBV_SEND_FENCE, IBV_SEND_SIGNALED, IBV_SEND_SOLICITED, IBV_SEND_INLINE }
    flags ibv_qp_attr_mask {
        IBV_QP_STATE, IBV_QP_CUR_STATE, IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_AV,
        IBV_QP_PATH_MTU, IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_RQ_PSN,
        IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER, IBV_QP_SQ_PSN, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_CAP,
        IBV_QP_DEST_QPN,
    }
    module ibv_wr_opcode {
        IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_READ,
        IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
    }
    module ibv_qp_type { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD }
    module ibv_qp_state {
        IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE, IBV_QPS_ERR,
        IBV_QPS_UNKNOWN,
    }
    module ibv_port_state {
        IBV_PORT_NOP, IBV_PORT_DOWN, IBV_PORT_INIT, IBV_PORT_ARMED, IBV_PORT_ACTIVE, IBV_PORT_ACTIVE_DEFER,
    }
    module ibv_wc_status {
        IBV_WC_SUCCESS, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_EEC_OP_ERR, IBV_WC_LOC_PROT_ERR,
        IBV_WC_WR_FLUSH_ERR, IBV_WC_MW_BIND_ERR, IBV_WC_BAD_RESP_ERR, IBV_WC_LOC_ACCESS_ERR,
        IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_OP_ERR, IBV_WC_RETRY_EXC_ERR,
        IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_LOC_RDD_VIOL_ERR, IBV_WC_REM_INV_RD_REQ_ERR, IBV_WC_REM_ABORT_ERR,
        IBV_WC_INV_EECN_ERR, IBV_WC_INV_EEC_STATE_ERR, IBV_WC_FATAL_ERR, IBV_WC_RESP_TIMEOUT_ERR,
        IBV_WC_GENERAL_ERR, IBV_WC_TM_ERR, IBV_WC_TM_RNDV_INCOMPLETE,
    }
    module ibv_wc_opcode {
        IBV_WC_SEND, IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ, IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD, IBV_WC_RECV,
        IBV_WC_RECV_RDMA_WITH_IMM,
    }
    plain {
        IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096,
        IBV_LINK_LAYER_UNSPECIFIED, IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_ETHERNET,
        IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2,
        IBV_ATOMIC_NONE, IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB,
    }
};

#[test]
fn every_constant_has_the_value_of_the_header() {
    let oracle: BTreeMap<_, _> = ORACLE.iter().copied().collect();
    for &(name, value) in ours::CONSTANTS {
        let Some(&theirs) = oracle.get(name) else { panic!("{name} is not compared: add it to ORACLE") };
        assert_eq!(u64::from(value), theirs, "{name}");
    }
    assert_eq!(ours::CONSTANTS.len(), oracle.len(), "ORACLE has names that are no longer declared");
}
