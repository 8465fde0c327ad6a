//! What completes: the one place where a status is looked at.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use transport_core::wait::Doorbell;
use transport_core::{Error, Result};

use super::link::Link;
use super::{Engine, request};
use crate::error::RoceError;
use crate::nic::Gid;
use crate::verbs::{PortState, PostError, Status, VerbsError, WorkCompletion};

/// The status of a request that an earlier one's failure swept away (IBV_WC_WR_FLUSH_ERR).
const FLUSHED: u32 = 5;
/// The status of a request that was sent again and again without an answer (IBV_WC_RETRY_EXC_ERR).
const NO_ANSWER: u32 = 12;
/// Completions that are taken at a time.
const BATCH: usize = 16;

/// Where they are taken to.
#[derive(Debug, Default)]
pub(super) struct Polled([WorkCompletion; BATCH]);

impl Engine {
    /// Takes what has completed, unless another thread is at it. Costs no system call.
    #[inline]
    pub(crate) fn progress(&self) {
        if let Ok(mut polled) = self.polled.try_lock() {
            self.take_all(&mut polled);
        }
    }

    /// As [`progress`](Self::progress), and waits for that other thread; answers whether there was anything.
    pub(super) fn progress_for_certain(&self) -> bool {
        // It holds no state between two polls.
        let mut polled = self.polled.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_all(&mut polled)
    }

    #[inline]
    fn take_all(&self, polled: &mut Polled) -> bool {
        let mut any = false;
        loop {
            match self.cq.poll(&mut polled.0) {
                Ok(taken) => {
                    polled.0.iter().take(taken).for_each(|completion| self.completed(completion));
                    any |= taken > 0;
                    if taken < BATCH {
                        return any;
                    }
                }
                Err(error) => {
                    self.queue_failed(&error);
                    return any;
                }
            }
        }
    }

    #[inline]
    fn completed(&self, completion: &WorkCompletion) {
        let name = completion.wr_id();
        let Some(link) = self.links.get(request::link(name)) else {
            tracing::error!("a completion of no link of this PE: {name:#x}");
            return;
        };
        let number = request::number(name, link.done());
        let status = completion.status();
        if !status.is_success() {
            self.request_failed(link, status, completion.vendor_error());
        }
        // After a failure was noted, so that who sees it complete sees that too.
        link.complete(number);
    }

    #[cold]
    fn request_failed(&self, link: &Link, status: Status, vendor: u32) {
        // What follows a failure is flushed; that says nothing new.
        let flushed = status.code() == FLUSHED;
        if flushed && self.failed.load(Ordering::Acquire) {
            return;
        }
        let to = &self.peers[link.pe].place;
        let state = link
            .qp()
            .and_then(|qp| qp.state().ok())
            .map_or_else(String::new, |state| format!(", its queue pair is in state {state}"));
        let advice = self.own_trouble().unwrap_or_else(|| match status.code() {
            NO_ANSWER => format!("{}; {}", self.patience, status.advice()),
            _ => status.advice().to_owned(),
        });
        let cause = format!(
            "a request from {} to {to} ended with {status}, vendor code {vendor:#x}{state}; {advice}",
            self.place
        );
        self.fail(link.pe, &cause);
    }

    /// What is wrong with this side's own port, if something is: that says more than the status of any request.
    fn own_trouble(&self) -> Option<String> {
        let (context, port, (index, gid)) = (self.cq.context(), self.port, self.gid);
        match context.port(port).map(|port| port.state) {
            Ok(PortState::Active) => {}
            Ok(state) => {
                return Some(format!("this side's port is {state} now: look at the cable and at `ip link`"));
            }
            Err(error) => return Some(error.to_string()),
        }
        let same = context.gid(port, index).is_ok_and(|now| now.is_some_and(|now| Gid(now.gid) == gid));
        (!same).then(|| {
            format!("this side's GID {index} ({gid}) is gone: was the interface's IP address taken away?")
        })
    }

    #[cold]
    pub(super) fn post_failed(&self, link: &Link, error: &PostError) {
        if let Some(qp) = link.qp() {
            // What it had accepted comes back as flushed.
            let _ = qp.to_error();
        }
        self.fail(
            link.pe,
            &format!("{} takes no request to {}: {error}", self.place, self.peers[link.pe].place),
        );
    }

    #[cold]
    fn queue_failed(&self, error: &VerbsError) {
        self.fail(self.endpoint.my_pe(), &format!("the completion queue of {} fails: {error}", self.place));
    }

    fn fail(&self, pe: usize, cause: &str) {
        self.endpoint.failures().peer_lost(pe, cause);
        self.failed.store(true, Ordering::Release);
        self.ring();
    }

    /// Whether a request of this PE has failed: then no wait can end well.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Waits in the calling thread until `ready`; for calls that are not async. `Err` if `pe` is lost, or at the deadline.
    #[cold]
    pub(super) fn wait_here(&self, op: &'static str, pe: usize, ready: impl Fn() -> bool) -> Result<()> {
        let (since, after) = (Instant::now(), self.endpoint.timeout());
        let mut looks = 0_u32;
        self.arm();
        let waited = loop {
            let ticket = self.ticket();
            self.progress();
            if ready() {
                break Ok(());
            }
            if let Err(lost) = self.endpoint.failures().check_peer(op, pe) {
                break Err(lost);
            }
            if since.elapsed() >= after {
                let (my_pe, in_flight) = (self.endpoint.my_pe(), self.limits.depth);
                let late = RoceError::NoRoom { op, my_pe, pe, after, in_flight };
                break Err(Error::backend(self.backend, late));
            }
            looks = looks.saturating_add(1);
            match looks {
                0..200 => std::hint::spin_loop(),
                200..2000 => std::thread::yield_now(),
                _ => self.sleep(ticket, Duration::from_millis(20)),
            }
        };
        self.disarm();
        self.wait_ended();
        waited
    }
}
