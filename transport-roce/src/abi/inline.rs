//! The three calls that `verbs.h` defines in the header itself: they go through the device's own table.

use std::ffi::c_int;

use super::structs::{ibv_cq, ibv_qp, ibv_send_wr, ibv_wc};

/// `EOPNOTSUPP`: what an empty slot of the table amounts to.
const NOT_SUPPORTED: c_int = 95;

/// Posts the chain that begins at `first`; 0, or an errno with `bad` at the first request that was not accepted.
///
/// # Safety
///
/// `qp` is live. The chain ends in null, and each request and what it points to is valid for this call; the memory that
/// it names stays registered and mapped until it completes.
#[inline]
pub(crate) unsafe fn post_send(
    qp: *mut ibv_qp,
    first: *mut ibv_send_wr,
    bad: &mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: a live queue pair points to its live context; the caller vouches for the rest.
    unsafe {
        match (*(*qp).context).ops.post_send {
            Some(post_send) => post_send(qp, first, bad),
            None => NOT_SUPPORTED,
        }
    }
}

/// Takes up to `count` completions into `out`; how many, or a negative number.
///
/// # Safety
///
/// `cq` is live, and `out` has room for `count` completions.
#[inline]
pub(crate) unsafe fn poll_cq(cq: *mut ibv_cq, count: c_int, out: *mut ibv_wc) -> c_int {
    // SAFETY: a live completion queue points to its live context; the caller vouches for the rest.
    unsafe {
        match (*(*cq).context).ops.poll_cq {
            Some(poll_cq) => poll_cq(cq, count, out),
            None => -NOT_SUPPORTED,
        }
    }
}

/// Asks for one event when the next completion comes; 0 or an errno.
///
/// # Safety
///
/// `cq` is live.
#[inline]
pub(crate) unsafe fn req_notify_cq(cq: *mut ibv_cq) -> c_int {
    // SAFETY: a live completion queue points to its live context.
    unsafe {
        match (*(*cq).context).ops.req_notify_cq {
            Some(req_notify_cq) => req_notify_cq(cq, 0),
            None => NOT_SUPPORTED,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::abi::{ibv_context, ibv_cq, ibv_qp, ibv_wc};

    /// A device that accepts one request and refuses the rest.
    unsafe extern "C" fn post_one(
        _: *mut ibv_qp,
        first: *mut ibv_send_wr,
        bad: *mut *mut ibv_send_wr,
    ) -> c_int {
        // SAFETY: the test below gives a chain of two.
        unsafe { *bad = (*first).next };
        12
    }

    /// A device with one completion.
    unsafe extern "C" fn poll_one(_: *mut ibv_cq, count: c_int, out: *mut ibv_wc) -> c_int {
        // SAFETY: the test below has room for one.
        unsafe { (*out).wr_id = 7 };
        count.min(1)
    }

    #[test]
    fn calls_go_through_the_table_of_the_device() {
        let mut context = ibv_context::zeroed();
        let (mut qp, mut cq) = (ibv_qp::zeroed(), ibv_cq::zeroed());
        let (mut one, mut two, mut wc) = (ibv_send_wr::zeroed(), ibv_send_wr::zeroed(), ibv_wc::zeroed());
        one.next = &raw mut two;
        let mut bad = ptr::null_mut();
        context.ops.post_send = Some(post_one);
        context.ops.poll_cq = Some(poll_one);
        (qp.context, cq.context) = (&raw mut context, &raw mut context);
        // SAFETY: all of these live to the end of the test, and the functions above touch nothing else.
        unsafe {
            assert_eq!(post_send(&raw mut qp, &raw mut one, &mut bad), 12);
            assert_eq!(bad, &raw mut two);
            assert_eq!((poll_cq(&raw mut cq, 4, &raw mut wc), wc.wr_id), (1, 7));
            // An empty slot is an error and no crash.
            assert_eq!(req_notify_cq(&raw mut cq), NOT_SUPPORTED);
        }
    }
}
