//! A completion queue, with a channel to sleep on.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::context::Context;
use super::errno::Errno;
use super::error::VerbsError;
use super::status::Status;
use crate::abi::{self, ibv_comp_channel, ibv_cq, ibv_wc};

/// How a request ended.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct WorkCompletion(ibv_wc);

impl WorkCompletion {
    /// Room for one.
    pub(crate) const fn zeroed() -> Self {
        Self(ibv_wc::zeroed())
    }

    /// The number that the request was given.
    #[inline]
    pub(crate) fn wr_id(&self) -> u64 {
        self.0.wr_id
    }

    /// Whether it was done.
    #[inline]
    pub(crate) fn status(&self) -> Status {
        Status::new(self.0.status)
    }

    /// The vendor's own number for a failure.
    #[inline]
    pub(crate) fn vendor_error(&self) -> u32 {
        self.0.vendor_err
    }

    /// Of which queue pair.
    #[inline]
    pub(crate) fn qp_number(&self) -> u32 {
        self.0.qp_num
    }
}

impl Default for WorkCompletion {
    fn default() -> Self {
        Self::zeroed()
    }
}

impl std::fmt::Debug for WorkCompletion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkCompletion")
            .field("wr_id", &self.wr_id())
            .field("status", &self.status())
            .field("vendor_error", &self.vendor_error())
            .field("qp_number", &self.qp_number())
            .finish()
    }
}

/// Where requests that ended are found. If more end than it is deep before somebody polls, it is lost.
#[derive(Debug)]
pub(crate) struct CompletionQueue {
    pub(super) cq: NonNull<ibv_cq>,
    depth: u32,
    // Destroyed after the queue, by `Channel`'s own drop.
    channel: Channel,
}

/// A completion channel: a file that is readable when an event waits. Only its own queue sends events to it.
#[derive(Debug)]
struct Channel {
    channel: NonNull<ibv_comp_channel>,
    context: Arc<Context>,
}

// SAFETY: verbs may be called by any thread on any object; the library and its providers lock.
unsafe impl Send for CompletionQueue {}
// SAFETY: as above.
unsafe impl Sync for CompletionQueue {}

impl CompletionQueue {
    /// A queue for at least `depth` completions.
    pub(crate) fn new(context: &Arc<Context>, depth: u32) -> Result<Arc<Self>, VerbsError> {
        let failed = |what: String, errno, hint| VerbsError::Create {
            device: context.name().to_owned(),
            what,
            errno,
            hint,
        };
        // SAFETY: the context is open.
        let channel = unsafe { (context.library.symbols.ibv_create_comp_channel)(context.context.as_ptr()) };
        let channel = NonNull::new(channel).ok_or_else(|| {
            failed(
                "a completion channel".to_owned(),
                Errno::last(),
                "It needs a file descriptor: see `ulimit -n`",
            )
        })?;
        let channel = Channel { channel, context: Arc::clone(context) };
        let fd = channel.fd();
        fcntl_getfl(fd).and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK)).map_err(|error| {
            let errno = Errno(error.raw_os_error());
            failed("a completion channel that does not block".to_owned(), errno, "See `dmesg`")
        })?;
        let entries = c_int::try_from(depth).unwrap_or(c_int::MAX);
        // SAFETY: context and channel are open, and completion vector 0 is there on every device.
        let cq = unsafe {
            let create = context.library.symbols.ibv_create_cq;
            create(context.context.as_ptr(), entries, ptr::null_mut(), channel.channel.as_ptr(), 0)
        };
        let cq = NonNull::new(cq).ok_or_else(|| {
            failed(
                format!("a completion queue for {depth} completions"),
                Errno::last(),
                "See max_cqe and max_cq of `ibv_devinfo -v` for what it takes, and `ulimit -l` for memory; fewer PEs or \
                 fewer requests under way need a smaller queue",
            )
        })?;
        // SAFETY: a queue that was just made.
        let granted = unsafe { (*cq.as_ptr()).cqe };
        let depth = u32::try_from(granted).unwrap_or(0).max(depth);
        Ok(Arc::new(Self { cq, depth, channel }))
    }

    /// Its device.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.channel.context
    }

    /// Completions that it has room for; at least what was asked for.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Takes what has ended, at most as many as `out` has room for, and says how many that are. Never waits.
    #[inline]
    pub(crate) fn poll(&self, out: &mut [WorkCompletion]) -> Result<usize, VerbsError> {
        let room = c_int::try_from(out.len()).unwrap_or(c_int::MAX);
        // SAFETY: the queue is alive, and a `WorkCompletion` is an `ibv_wc`, of which `out` has at least `room`.
        let count = unsafe { abi::poll_cq(self.cq.as_ptr(), room, out.as_mut_ptr().cast()) };
        // A device that counts past the end would make us read garbage.
        usize::try_from(count)
            .ok()
            .filter(|&count| count <= out.len())
            .ok_or_else(|| self.error("poll", count))
    }

    /// Asks for one event when the next request ends. What ended before makes none: poll once more after this call.
    pub(crate) fn request_notification(&self) -> Result<(), VerbsError> {
        // SAFETY: the queue is alive.
        match unsafe { abi::req_notify_cq(self.cq.as_ptr()) } {
            0 => Ok(()),
            returned => Err(self.error("ask for events of", returned)),
        }
    }

    /// Takes and acknowledges all events that wait on the channel, and says how many. Never waits.
    pub(crate) fn take_events(&self) -> Result<u32, VerbsError> {
        let symbols = &self.context().library.symbols;
        let mut taken = 0;
        loop {
            let (mut cq, mut user) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: the channel is open, and both out parameters live.
            let returned =
                unsafe { (symbols.ibv_get_cq_event)(self.channel.channel.as_ptr(), &mut cq, &mut user) };
            let errno = if returned == 0 { None } else { Some(Errno::last()) };
            match errno {
                None => taken += 1,
                // A signal came between.
                Some(Errno::INTR) => {}
                Some(errno) => {
                    if taken > 0 {
                        // SAFETY: so many events of this queue were taken, and none is acknowledged yet.
                        unsafe { (symbols.ibv_ack_cq_events)(self.cq.as_ptr(), taken) };
                    }
                    return if errno == Errno::AGAIN {
                        Ok(taken)
                    } else {
                        Err(self.error("read events of", -1))
                    };
                }
            }
        }
    }

    /// The file that becomes readable when an event waits; it never blocks. Only to be watched.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.channel.fd()
    }

    #[cold]
    fn error(&self, doing: &'static str, returned: c_int) -> VerbsError {
        VerbsError::CompletionQueue {
            device: self.context().name().to_owned(),
            doing,
            errno: Errno::of(returned),
        }
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        let context = &self.channel.context;
        // SAFETY: made once, destroyed once; queue pairs kept it alive and so are gone. Every event that was taken is
        // acknowledged, so this does not wait.
        let returned = unsafe { (context.library.symbols.ibv_destroy_cq)(self.cq.as_ptr()) };
        context.log_destroy("completion queue", returned);
    }
}

impl Channel {
    fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel owns this descriptor, and closes it when it is destroyed, after this borrow.
        unsafe { BorrowedFd::borrow_raw((*self.channel.as_ptr()).fd) }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once, after its queue.
        let returned =
            unsafe { (self.context.library.symbols.ibv_destroy_comp_channel)(self.channel.as_ptr()) };
        self.context.log_destroy("completion channel", returned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_is_read_as_c_wrote_it() {
        let mut raw = ibv_wc::zeroed();
        (raw.wr_id, raw.status, raw.vendor_err, raw.qp_num) = (7, 12, 129, 17);
        let completion = WorkCompletion(raw);
        assert_eq!((completion.wr_id(), completion.status().code()), (7, 12));
        assert_eq!((completion.vendor_error(), completion.qp_number()), (129, 17));
        assert!(WorkCompletion::default().status().is_success());
    }
}
