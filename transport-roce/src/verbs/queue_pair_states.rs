//! The way of a queue pair: RESET, INIT, ready to receive (RTR), ready to send (RTS); and ERROR.

use std::fmt;
use std::net::Ipv6Addr;

use super::errno::Errno;
use super::error::VerbsError;
use super::memory_region::Access;
use super::mtu::Mtu;
use super::queue_pair::QueuePair;
use crate::abi::{
    self, IBV_QP_ACCESS_FLAGS, IBV_QP_AV, IBV_QP_DEST_QPN, IBV_QP_MAX_DEST_RD_ATOMIC,
    IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER, IBV_QP_PATH_MTU, IBV_QP_PKEY_INDEX, IBV_QP_PORT,
    IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_RQ_PSN, IBV_QP_SQ_PSN, IBV_QP_STATE, IBV_QP_TIMEOUT,
    ibv_ah_attr, ibv_gid, ibv_global_route, ibv_qp_attr, ibv_qp_init_attr,
};

/// A packet's sequence number has 24 bits.
const PSN: u32 = (1 << 24) - 1;

/// Where a queue pair is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueuePairState {
    /// Just made.
    Reset,
    /// It has a port.
    Init,
    /// It knows the other side, and answers it.
    ReadyToReceive,
    /// Requests are sent.
    ReadyToSend,
    /// Only what was posted before is sent.
    SendDrained,
    /// A request failed; what was posted after it is flushed, though receiving goes on.
    SendError,
    /// Nothing is sent or answered any more; what is posted is flushed.
    Error,
    /// A number that stands for none of these.
    Unknown(u32),
}

impl QueuePairState {
    fn from_raw(raw: u32) -> Self {
        match raw {
            abi::IBV_QPS_RESET => Self::Reset,
            abi::IBV_QPS_INIT => Self::Init,
            abi::IBV_QPS_RTR => Self::ReadyToReceive,
            abi::IBV_QPS_RTS => Self::ReadyToSend,
            abi::IBV_QPS_SQD => Self::SendDrained,
            abi::IBV_QPS_SQE => Self::SendError,
            abi::IBV_QPS_ERR => Self::Error,
            other => Self::Unknown(other),
        }
    }

    fn to_raw(self) -> u32 {
        match self {
            Self::Reset => abi::IBV_QPS_RESET,
            Self::Init => abi::IBV_QPS_INIT,
            Self::ReadyToReceive => abi::IBV_QPS_RTR,
            Self::ReadyToSend => abi::IBV_QPS_RTS,
            Self::SendDrained => abi::IBV_QPS_SQD,
            Self::SendError => abi::IBV_QPS_SQE,
            Self::Error => abi::IBV_QPS_ERR,
            Self::Unknown(raw) => raw,
        }
    }
}

impl fmt::Display for QueuePairState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reset => f.write_str("RESET"),
            Self::Init => f.write_str("INIT"),
            Self::ReadyToReceive => f.write_str("RTR (ready to receive)"),
            Self::ReadyToSend => f.write_str("RTS (ready to send)"),
            Self::SendDrained => f.write_str("SQD (send queue drained)"),
            Self::SendError => f.write_str("SQE (send queue error)"),
            Self::Error => f.write_str("ERROR"),
            Self::Unknown(raw) => write!(f, "an unknown state ({raw})"),
        }
    }
}

/// The other side, and how packets go there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// The port of this side, counted from 1.
    pub(crate) port: u8,
    /// The place in its GID table of the address that packets are sent from.
    pub(crate) sgid_index: u8,
    /// The address that they are sent to.
    pub(crate) dgid: [u8; 16],
    /// The number of the other queue pair.
    pub(crate) remote_qp: u32,
    /// The number of the first packet from there; its lower 24 bits count.
    pub(crate) remote_psn: u32,
    /// The largest payload, the same on both sides.
    pub(crate) mtu: Mtu,
    /// Reads and atomic operations of the other side that are answered at a time.
    pub(crate) max_dest_rd_atomic: u8,
    /// How long the other side shall wait when we are not ready, as verbs code it (0 to 31; 12 is 0.64 ms).
    pub(crate) min_rnr_timer: u8,
    /// The traffic class of the packets; its upper 6 bits are their DSCP.
    pub(crate) traffic_class: u8,
    /// The service level, 0 to 7: the priority of Ethernet frames.
    pub(crate) service_level: u8,
    /// How many routers may be on the way.
    pub(crate) hop_limit: u8,
}

/// How long a queue pair waits for answers, and how often it asks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SendTimers {
    /// The number of the first packet of this side; its lower 24 bits count.
    pub(crate) psn: u32,
    /// The wait for an answer is 4.096 us times 2 to this (0 to 31; 0 waits for ever; 14 is 67 ms).
    pub(crate) timeout: u8,
    /// How often a packet without an answer is sent again, 0 to 7. Soft-RoCE takes 7 for "for ever".
    pub(crate) retry_count: u8,
    /// How often it is sent again to a side that is not ready, 0 to 7; 7 is for ever.
    pub(crate) rnr_retry: u8,
    /// Reads and atomic operations that are under way at a time.
    pub(crate) max_rd_atomic: u8,
}

impl QueuePair {
    /// From RESET to INIT, with a port (counted from 1), ready for the other side's writes, reads and atomics.
    pub(crate) fn to_init(&self, port: u8) -> Result<(), VerbsError> {
        let mut attr = ibv_qp_attr::zeroed();
        (attr.port_num, attr.pkey_index) = (port, 0);
        attr.qp_access_flags = Access::ALL.to_raw();
        let mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        self.modify(QueuePairState::Init, attr, mask)
            .map_err(|errno| self.modify_error(QueuePairState::Init, errno, init_hint(port, errno)))
    }

    /// From INIT to RTR: the other side may then send. For RoCE the kernel looks up the Ethernet address here.
    pub(crate) fn to_ready_to_receive(&self, route: &Route) -> Result<(), VerbsError> {
        let mask = IBV_QP_AV
            | IBV_QP_PATH_MTU
            | IBV_QP_DEST_QPN
            | IBV_QP_RQ_PSN
            | IBV_QP_MAX_DEST_RD_ATOMIC
            | IBV_QP_MIN_RNR_TIMER;
        let to = QueuePairState::ReadyToReceive;
        self.modify(to, route_attr(route), mask)
            .map_err(|errno| self.modify_error(to, errno, route_hint(route, errno)))
    }

    /// From RTR to RTS: requests may then be posted.
    pub(crate) fn to_ready_to_send(&self, timers: &SendTimers) -> Result<(), VerbsError> {
        let mut attr = ibv_qp_attr::zeroed();
        attr.sq_psn = timers.psn & PSN;
        attr.timeout = timers.timeout;
        attr.retry_cnt = timers.retry_count;
        attr.rnr_retry = timers.rnr_retry;
        attr.max_rd_atomic = timers.max_rd_atomic;
        let mask =
            IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
        let to = QueuePairState::ReadyToSend;
        self.modify(to, attr, mask).map_err(|errno| self.modify_error(to, errno, timers_hint(timers, errno)))
    }

    /// To ERROR from any state: what is under way ends as flushed.
    pub(crate) fn to_error(&self) -> Result<(), VerbsError> {
        let to = QueuePairState::Error;
        self.modify(to, ibv_qp_attr::zeroed(), 0)
            .map_err(|errno| self.modify_error(to, errno, "See `dmesg`: the device may be gone".to_owned()))
    }

    /// Its state, as the device has it.
    pub(crate) fn state(&self) -> Result<QueuePairState, VerbsError> {
        let context = self.pd.context();
        let (mut attr, mut init) = (ibv_qp_attr::zeroed(), ibv_qp_init_attr::zeroed());
        // SAFETY: the queue pair is alive, and both structs are what it fills.
        let returned = unsafe {
            (context.library.symbols.ibv_query_qp)(
                self.qp.as_ptr(),
                &mut attr,
                IBV_QP_STATE as i32,
                &mut init,
            )
        };
        Errno::check(returned)
            .map_err(|errno| context.query_error(format!("state of queue pair {}", self.number()), errno))?;
        Ok(QueuePairState::from_raw(attr.qp_state))
    }

    fn modify(&self, to: QueuePairState, mut attr: ibv_qp_attr, mask: u32) -> Result<(), Errno> {
        attr.qp_state = to.to_raw();
        let mask = (mask | IBV_QP_STATE) as i32;
        // SAFETY: the queue pair is alive, and `attr` has what `mask` names.
        Errno::check(unsafe {
            (self.pd.context().library.symbols.ibv_modify_qp)(self.qp.as_ptr(), &mut attr, mask)
        })
    }

    #[cold]
    fn modify_error(&self, to: QueuePairState, errno: Errno, hint: String) -> VerbsError {
        VerbsError::Modify { device: self.pd.context().name().to_owned(), qp: self.number(), to, errno, hint }
    }
}

fn route_attr(route: &Route) -> ibv_qp_attr {
    let mut attr = ibv_qp_attr::zeroed();
    attr.path_mtu = route.mtu.to_raw();
    attr.dest_qp_num = route.remote_qp;
    attr.rq_psn = route.remote_psn & PSN;
    attr.max_dest_rd_atomic = route.max_dest_rd_atomic;
    attr.min_rnr_timer = route.min_rnr_timer;
    attr.ah_attr = ibv_ah_attr {
        grh: ibv_global_route {
            dgid: ibv_gid { raw: route.dgid },
            sgid_index: route.sgid_index,
            hop_limit: route.hop_limit,
            traffic_class: route.traffic_class,
            ..ibv_global_route::zeroed()
        },
        sl: route.service_level,
        // RoCE has no other addresses than GIDs.
        is_global: 1,
        port_num: route.port,
        ..ibv_ah_attr::zeroed()
    };
    attr
}

#[cold]
fn init_hint(port: u8, errno: Errno) -> String {
    match errno {
        Errno::INVAL => format!("Does the device have a port {port} (`ibv_devinfo`), and atomic operations?"),
        _ => "See `ibv_devinfo -v` and `dmesg`".to_owned(),
    }
}

#[cold]
fn route_hint(route: &Route, errno: Errno) -> String {
    let Route { port, sgid_index, mtu, .. } = route;
    let peer = Ipv6Addr::from(route.dgid);
    match errno {
        Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH => format!(
            "The peer's address, GID {peer}, was not found from GID index {sgid_index} of port {port}. Is the peer's \
             interface up, in the same subnet or with a route to it (`ip route get`, `ping` from the interface of that GID), \
             and does no firewall stop ARP, neighbour discovery or UDP port 4791?"
        ),
        Errno::NODEV | Errno::NODATA => format!(
            "GID index {sgid_index} of port {port} has no network interface here: the entry is empty, or belongs to another \
             network namespace (a container needs `--net=host` or an interface of its own). See `rdma link` and \
             `ibv_devinfo -v`, and choose another GID index"
        ),
        Errno::INVAL => format!(
            "The device does not take one of: GID index {sgid_index} of port {port} (empty, of another kind than the peer's \
             GID {peer}, or of another network namespace), MTU {mtu} (larger than the active one), queue pair {}, {} reads \
             at a time, service level {}, RNR timer {}. See `ibv_devinfo -v`",
            route.remote_qp, route.max_dest_rd_atomic, route.service_level, route.min_rnr_timer
        ),
        _ => format!(
            "The route is from GID index {sgid_index} of port {port} to GID {peer}; see `ibv_devinfo -v`, `rdma link` and \
             `dmesg`"
        ),
    }
}

#[cold]
fn timers_hint(timers: &SendTimers, errno: Errno) -> String {
    match errno {
        Errno::INVAL => format!(
            "The device does not take one of: timeout {} (0 to 31), retry count {} (0 to 7), RNR retry {} (0 to 7), {} \
             reads at a time (max_qp_init_rd_atom of `ibv_devinfo -v`)",
            timers.timeout, timers.retry_count, timers.rnr_retry, timers.max_rd_atomic
        ),
        _ => "See `ibv_devinfo -v` and `dmesg`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route() -> Route {
        Route {
            port: 1,
            sgid_index: 3,
            dgid: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2],
            remote_qp: 17,
            remote_psn: 0xff00_0001,
            mtu: Mtu::B1024,
            max_dest_rd_atomic: 16,
            min_rnr_timer: 12,
            traffic_class: 132,
            service_level: 4,
            hop_limit: 64,
        }
    }

    #[test]
    fn a_route_is_written_where_the_library_reads_it() {
        let attr = route_attr(&route());
        assert_eq!((attr.path_mtu, attr.dest_qp_num, attr.rq_psn), (3, 17, 1));
        let grh = attr.ah_attr.grh;
        assert_eq!((grh.sgid_index, grh.hop_limit, grh.traffic_class, grh.flow_label), (3, 64, 132, 0));
        assert_eq!((attr.ah_attr.sl, attr.ah_attr.is_global, attr.ah_attr.port_num), (4, 1, 1));
        // SAFETY: any bytes are a GID.
        assert_eq!(unsafe { grh.dgid.raw }, route().dgid);
    }

    #[test]
    fn hints_name_the_peer_and_what_to_look_at() {
        for errno in [Errno::TIMEDOUT, Errno::HOSTUNREACH, Errno::NETUNREACH] {
            let text = route_hint(&route(), errno);
            for part in
                ["::ffff:10.0.0.2", "GID index 3", "interface up", "same subnet", "route", "firewall", "4791"]
            {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
        for errno in [Errno::NODEV, Errno::NODATA] {
            assert!(route_hint(&route(), errno).contains("network namespace"));
        }
        let text = route_hint(&route(), Errno::INVAL);
        assert!(
            text.contains("MTU 1024") && text.contains("queue pair 17") && text.contains("namespace"),
            "{text}"
        );
    }

    #[test]
    fn states_keep_their_number() {
        for raw in 0..9 {
            assert_eq!(QueuePairState::from_raw(raw).to_raw(), raw);
        }
    }
}
