//! A reliable connection to one other queue pair.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::completion_queue::CompletionQueue;
use super::errno::Errno;
use super::error::VerbsError;
use super::protection_domain::ProtectionDomain;
use super::requests::{Chain, PostError};
use crate::abi::{self, IBV_QPT_RC, ibv_qp, ibv_qp_cap, ibv_qp_init_attr};

/// How large a queue pair should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueSizes {
    /// Requests under way at a time.
    pub(crate) send_requests: u32,
    /// Bytes of a write that are taken when it is posted; a device may give fewer.
    pub(crate) inline_bytes: u32,
}

/// A queue pair of the kind RC, which does writes, reads and atomic operations, and neither sends nor receives.
#[derive(Debug)]
pub(crate) struct QueuePair {
    pub(super) qp: NonNull<ibv_qp>,
    number: u32,
    max_inline: u32,
    max_requests: u32,
    pub(super) pd: Arc<ProtectionDomain>,
    /// Kept for as long as it is completed to.
    _cq: Arc<CompletionQueue>,
}

// SAFETY: verbs may be called by any thread on any object; the library and its providers lock.
unsafe impl Send for QueuePair {}
// SAFETY: as above.
unsafe impl Sync for QueuePair {}

impl QueuePair {
    /// A queue pair in the state RESET, whose requests end in `cq`, which must be of the device of `pd`.
    pub(crate) fn create(
        pd: &Arc<ProtectionDomain>,
        cq: &Arc<CompletionQueue>,
        wanted: QueueSizes,
    ) -> Result<Self, VerbsError> {
        let context = pd.context();
        let create = context.library.symbols.ibv_create_qp;
        let mut inline_bytes = wanted.inline_bytes;
        let (qp, granted) = loop {
            let mut attr = init_attr(cq, QueueSizes { inline_bytes, ..wanted });
            // SAFETY: domain and queue are alive, and `attr` is what it reads and fills.
            let qp = unsafe { create(pd.pd.as_ptr(), &mut attr) };
            if let Some(qp) = NonNull::new(qp) {
                break (qp, attr.cap);
            }
            let errno = Errno::last();
            // A device does not say how much it takes inline, but refuses: so ask for less.
            if inline_bytes == 0 || !matches!(errno, Errno::INVAL | Errno::NOMEM) {
                return Err(create_error(context.name(), wanted, errno));
            }
            inline_bytes /= 2;
        };
        // SAFETY: a queue pair that was just made.
        let number = unsafe { (*qp.as_ptr()).qp_num };
        Ok(Self {
            qp,
            number,
            max_inline: granted.max_inline_data,
            max_requests: granted.max_send_wr,
            pd: Arc::clone(pd),
            _cq: Arc::clone(cq),
        })
    }

    /// Its number, which the other side needs.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Bytes that a write can take inline; 0 if it cannot.
    #[inline]
    pub(crate) fn max_inline(&self) -> u32 {
        self.max_inline
    }

    /// Requests under way that it has room for; at least what was asked for.
    #[inline]
    pub(crate) fn max_requests(&self) -> u32 {
        self.max_requests
    }

    /// Hands all requests of `chain` to the device with one ring of the doorbell. The chain is empty afterwards, whatever
    /// the result. An empty chain does nothing.
    ///
    /// # Safety
    ///
    /// All local memory that the requests name stays registered, in this queue pair's domain, and mapped until they have
    /// ended, or the queue pair is destroyed. Local bytes that a read or an atomic operation fills are only accessed as
    /// shared memory meanwhile (by `Region`). Inline bytes are valid during this call.
    #[inline]
    pub(crate) unsafe fn post<const N: usize>(&self, chain: &mut Chain<N>) -> Result<(), PostError> {
        let first = chain.link();
        if first.is_null() {
            return Ok(());
        }
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is alive, the chain was just linked and is not moved; the caller vouches for the memory.
        let returned = unsafe { abi::post_send(self.qp.as_ptr(), first, &mut bad) };
        let result = if returned == 0 {
            Ok(())
        } else {
            Err(PostError { errno: Errno::of(returned), posted: chain.before(bad) })
        };
        chain.clear();
        result
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        let context = self.pd.context();
        // SAFETY: made once, destroyed once; domain and completion queue are alive.
        let returned = unsafe { (context.library.symbols.ibv_destroy_qp)(self.qp.as_ptr()) };
        context.log_destroy("queue pair", returned);
    }
}

fn init_attr(cq: &CompletionQueue, sizes: QueueSizes) -> ibv_qp_init_attr {
    ibv_qp_init_attr {
        qp_context: ptr::null_mut(),
        send_cq: cq.cq.as_ptr(),
        recv_cq: cq.cq.as_ptr(),
        srq: ptr::null_mut(),
        cap: ibv_qp_cap {
            max_send_wr: sizes.send_requests,
            // Nothing is received, but not every device takes a queue of none.
            max_recv_wr: 1,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: sizes.inline_bytes,
        },
        qp_type: IBV_QPT_RC,
        sq_sig_all: 0,
    }
}

#[cold]
fn create_error(device: &str, wanted: QueueSizes, errno: Errno) -> VerbsError {
    VerbsError::Create {
        device: device.to_owned(),
        what: format!("a queue pair for {} requests under way", wanted.send_requests),
        errno,
        hint: "See max_qp and max_qp_wr of `ibv_devinfo -v` for what it takes, `rdma resource` for what is in use, and \
               `ulimit -l` for memory; fewer PEs need fewer queue pairs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_sizes_and_limits() {
        let wanted = QueueSizes { send_requests: 1 << 20, inline_bytes: 64 };
        let text = create_error("hrn5_1", wanted, Errno::INVAL).to_string();
        assert!(text.contains("hrn5_1 cannot make a queue pair for 1048576 requests"), "{text}");
        assert!(text.contains("max_qp_wr"), "{text}");
    }
}
