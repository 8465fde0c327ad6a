//! Requests, chained on the stack, so that a queue pair takes them with one ring of its doorbell.

use std::mem::MaybeUninit;
use std::ptr::{self, addr_of_mut};

use super::errno::Errno;
use crate::abi::{self, ibv_send_wr, ibv_send_wr_atomic, ibv_send_wr_rdma, ibv_sge};

/// Bytes of registered memory of this side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalBytes {
    /// The address of the first.
    pub(crate) address: u64,
    /// How many; a device takes at most `max_message` of its port.
    pub(crate) len: u32,
    /// The key of their memory region.
    pub(crate) lkey: u32,
}

/// The first byte of registered memory of the other side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remote {
    /// Its address there.
    pub(crate) address: u64,
    /// The key of its memory region.
    pub(crate) rkey: u32,
}

/// How a request is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// A completion tells of its end. Without, only a failure does.
    pub(crate) signaled: bool,
    /// It starts after all earlier reads and atomic operations of the queue pair have ended.
    pub(crate) fence: bool,
    /// Its bytes are taken when it is posted, not later; for writes of at most `max_inline` bytes.
    pub(crate) inline: bool,
}

impl Flags {
    #[inline]
    fn to_raw(self) -> u32 {
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        bit(self.signaled, abi::IBV_SEND_SIGNALED)
            | bit(self.fence, abi::IBV_SEND_FENCE)
            | bit(self.inline, abi::IBV_SEND_INLINE)
    }
}

/// Why a chain was not posted, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the device did not accept request {posted} of the chain (counted from 0): {errno}. ENOMEM means that more requests are \
     under way than the queue pair has room for; EINVAL that a length or address is none it takes, or that the queue pair \
     is not ready to send"
)]
pub(crate) struct PostError {
    /// The system's word.
    pub(crate) errno: Errno,
    /// How many of the chain, from its start, were accepted and will be done.
    pub(crate) posted: usize,
}

/// Up to `N` requests, done in the order in which they were pushed.
///
/// A request's place is written once when it is pushed, and linked when it is posted, so the chain may be moved before.
/// Pushing to a full chain is a mistake of this crate and panics: see [`Chain::is_full`].
pub(crate) struct Chain<const N: usize> {
    requests: [MaybeUninit<ibv_send_wr>; N],
    bytes: [MaybeUninit<ibv_sge>; N],
    len: usize,
}

impl<const N: usize> Chain<N> {
    /// An empty one; nothing is written for it.
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { requests: [MaybeUninit::uninit(); N], bytes: [MaybeUninit::uninit(); N], len: 0 }
    }

    /// Requests in it.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it has `N`.
    #[inline]
    pub(crate) const fn is_full(&self) -> bool {
        self.len == N
    }

    /// Writes `local` to `remote`.
    #[inline]
    pub(crate) fn push_write(&mut self, local: LocalBytes, remote: Remote, wr_id: u64, flags: Flags) {
        self.push(abi::IBV_WR_RDMA_WRITE, Some(local), wr_id, flags);
        self.set_rdma(remote);
    }

    /// Writes `len` bytes at `bytes`, in memory of any kind, to `remote`. They need only live until the chain is posted.
    #[inline]
    pub(crate) fn push_write_inline(
        &mut self,
        bytes: *const u8,
        len: u32,
        remote: Remote,
        wr_id: u64,
        flags: Flags,
    ) {
        let local = LocalBytes { address: bytes as u64, len, lkey: 0 };
        self.push_write(local, remote, wr_id, Flags { inline: true, ..flags });
    }

    /// Writes nothing to `remote`: ends when all writes before have been carried out at the other side.
    #[inline]
    pub(crate) fn push_empty_write(&mut self, remote: Remote, wr_id: u64, flags: Flags) {
        self.push(abi::IBV_WR_RDMA_WRITE, None, wr_id, flags);
        self.set_rdma(remote);
    }

    /// Reads from `remote` to `local`.
    #[inline]
    pub(crate) fn push_read(&mut self, local: LocalBytes, remote: Remote, wr_id: u64, flags: Flags) {
        self.push(abi::IBV_WR_RDMA_READ, Some(local), wr_id, flags);
        self.set_rdma(remote);
    }

    /// Adds `add` to the word of 64 bits at `remote`, and puts what it was to the 8 bytes `local`. Both on a boundary of 8.
    #[inline]
    pub(crate) fn push_fetch_add(
        &mut self,
        local: LocalBytes,
        remote: Remote,
        add: u64,
        wr_id: u64,
        flags: Flags,
    ) {
        self.push(abi::IBV_WR_ATOMIC_FETCH_AND_ADD, Some(local), wr_id, flags);
        self.set_atomic(remote, add, 0);
    }

    /// Sets the word of 64 bits at `remote` to `swap` if it is `compare`, and puts what it was to the 8 bytes `local`.
    #[inline]
    pub(crate) fn push_compare_swap(
        &mut self,
        local: LocalBytes,
        remote: Remote,
        compare: u64,
        swap: u64,
        wr_id: u64,
        flags: Flags,
    ) {
        self.push(abi::IBV_WR_ATOMIC_CMP_AND_SWP, Some(local), wr_id, flags);
        self.set_atomic(remote, compare, swap);
    }

    /// Fills what all requests have, except for links.
    #[inline]
    fn push(&mut self, opcode: u32, local: Option<LocalBytes>, wr_id: u64, flags: Flags) {
        let at = self.len;
        assert!(at < N, "a chain of {N} requests is full");
        if let Some(LocalBytes { address, len, lkey }) = local {
            self.bytes[at].write(ibv_sge { addr: address, length: len, lkey });
        }
        let request = self.requests[at].as_mut_ptr();
        // Field by field: most of the 128 bytes belong to requests of other kinds, and nobody reads them.
        // SAFETY: all are places inside of this chain's own request.
        unsafe {
            addr_of_mut!((*request).wr_id).write(wr_id);
            addr_of_mut!((*request).num_sge).write(local.is_some().into());
            addr_of_mut!((*request).opcode).write(opcode);
            addr_of_mut!((*request).send_flags).write(flags.to_raw());
        }
        self.len = at + 1;
    }

    /// Completes the request pushed last.
    #[inline]
    fn set_rdma(&mut self, remote: Remote) {
        let request = self.requests[self.len - 1].as_mut_ptr();
        let value = ibv_send_wr_rdma { remote_addr: remote.address, rkey: remote.rkey };
        // SAFETY: a place inside of this chain's own request.
        unsafe { addr_of_mut!((*request).wr.rdma).write(value) };
    }

    /// Completes the request pushed last.
    #[inline]
    fn set_atomic(&mut self, remote: Remote, compare_add: u64, swap: u64) {
        let request = self.requests[self.len - 1].as_mut_ptr();
        let value = ibv_send_wr_atomic { remote_addr: remote.address, compare_add, swap, rkey: remote.rkey };
        // SAFETY: a place inside of this chain's own request.
        unsafe { addr_of_mut!((*request).wr.atomic).write(value) };
    }

    /// Links the requests for as long as the chain is not moved; the first, or null if there is none.
    #[inline]
    pub(super) fn link(&mut self) -> *mut ibv_send_wr {
        // From these two, so that each pointer may go to the whole array.
        let (requests, bytes) = (self.requests.as_mut_ptr(), self.bytes.as_mut_ptr());
        for at in 0..self.len {
            // SAFETY: `at < len <= N`, so both are places inside of the arrays.
            unsafe {
                let request = requests.add(at).cast::<ibv_send_wr>();
                let next = if at + 1 < self.len { requests.add(at + 1).cast() } else { ptr::null_mut() };
                addr_of_mut!((*request).next).write(next);
                addr_of_mut!((*request).sg_list).write(bytes.add(at).cast());
            }
        }
        if self.len == 0 { ptr::null_mut() } else { requests.cast() }
    }

    /// How many requests come before `bad`, which is one of this chain's; 0 for any other pointer.
    #[cold]
    pub(super) fn before(&self, bad: *const ibv_send_wr) -> usize {
        let (start, one) = (self.requests.as_ptr() as usize, size_of::<ibv_send_wr>());
        let at = (bad as usize).wrapping_sub(start) / one;
        if at < self.len { at } else { 0 }
    }

    /// Empties it.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REMOTE: Remote = Remote { address: 0x2000, rkey: 9 };

    fn local(len: u32) -> LocalBytes {
        LocalBytes { address: 0x1000, len, lkey: 5 }
    }

    /// The chain's requests as the library walks them.
    fn walk<const N: usize>(chain: &mut Chain<N>) -> Vec<*mut ibv_send_wr> {
        let mut at = chain.link();
        let mut seen = Vec::new();
        while !at.is_null() {
            seen.push(at);
            // SAFETY: linked by the chain, which lives.
            at = unsafe { (*at).next };
        }
        seen
    }

    #[test]
    fn requests_are_linked_in_order_with_all_that_the_library_reads() {
        let mut chain = Chain::<6>::new();
        assert!(chain.is_empty() && walk(&mut chain).is_empty());
        let data = [1, 2, 3];
        let flags = Flags { signaled: true, fence: true, inline: false };
        chain.push_write(local(64), REMOTE, 10, Flags::default());
        chain.push_write_inline(data.as_ptr(), 3, REMOTE, 11, Flags::default());
        chain.push_read(local(65), REMOTE, 12, flags);
        chain.push_fetch_add(local(8), REMOTE, 77, 13, Flags { signaled: true, ..Flags::default() });
        chain.push_compare_swap(local(8), REMOTE, 1, 2, 14, flags);
        chain.push_empty_write(REMOTE, 15, flags);
        assert!(chain.is_full());
        let mut chain = Box::new(chain);
        let seen = walk(&mut chain);
        // SAFETY: the chain lives, and each field read here was written for a request of its kind.
        let read: Vec<_> = seen
            .iter()
            .map(|&r| unsafe { ((*r).wr_id, (*r).opcode, (*r).num_sge, (*r).send_flags) })
            .collect();
        assert_eq!(
            read,
            [(10, 0, 1, 0), (11, 0, 1, 8), (12, 4, 1, 3), (13, 6, 1, 2), (14, 5, 1, 3), (15, 0, 0, 3)]
        );
        // SAFETY: as above.
        unsafe {
            for &request in &seen[..3] {
                assert_eq!(((*request).wr.rdma.remote_addr, (*request).wr.rdma.rkey), (0x2000, 9));
            }
            let sge = *(*seen[1]).sg_list;
            assert_eq!((sge.addr, sge.length), (data.as_ptr() as u64, 3));
            let sge = *(*seen[2]).sg_list;
            assert_eq!((sge.addr, sge.length, sge.lkey), (0x1000, 65, 5));
            let atomic = (*seen[3]).wr.atomic;
            assert_eq!((atomic.remote_addr, atomic.compare_add, atomic.rkey), (0x2000, 77, 9));
            let atomic = (*seen[4]).wr.atomic;
            assert_eq!((atomic.compare_add, atomic.swap), (1, 2));
        }
        assert_eq!((chain.before(seen[0]), chain.before(seen[4])), (0, 4));
        assert_eq!((chain.before(ptr::null()), chain.before(seen[0].wrapping_add(6))), (0, 0));
        chain.clear();
        assert!(chain.is_empty() && chain.link().is_null());
    }

    #[test]
    #[should_panic(expected = "a chain of 1 requests is full")]
    fn a_full_chain_takes_no_more() {
        let mut chain = Chain::<1>::new();
        chain.push_empty_write(REMOTE, 0, Flags::default());
        chain.push_empty_write(REMOTE, 1, Flags::default());
    }

    #[test]
    fn a_refused_chain_says_which_request_and_why() {
        let text = PostError { errno: Errno::NOMEM, posted: 3 }.to_string();
        assert!(text.contains("request 3 of the chain") && text.contains("os error 12"), "{text}");
    }
}
