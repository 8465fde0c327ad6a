//! Where this PE sleeps: on the channel of its completion queue, and on an event of its own.
//!
//! What another PE writes into this one's heap makes no event here: that is what one-sided means. So a sleep that waits for
//! such a write is short against the time that was waited already, and at most [`LONGEST`].

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use transport_core::wait::{Doorbell, Ticket};

use super::Engine;

/// The shortest sleep at a time, about what it costs to sleep at all.
const SHORTEST: Duration = Duration::from_micros(20);
/// The longest, and so how late a write into the heap can be noticed by a PE that has waited for long.
const LONGEST: Duration = Duration::from_millis(1);
/// A sleep is this part of the time that was waited before.
const PART: u32 = 16;

/// The event, and how often it was rung.
#[derive(Debug)]
pub(super) struct Bell {
    event: OwnedFd,
    rings: AtomicU32,
    armed: AtomicU32,
    /// When somebody began to sleep, and no wait has ended since: nanoseconds since the engine's start, plus 1.
    asleep_since: AtomicU64,
}

impl Bell {
    pub(super) fn new() -> std::io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (rings, armed, asleep_since) = Default::default();
        Ok(Self { event, rings, armed, asleep_since })
    }
}

impl Engine {
    /// A wait has ended: the next sleeps begin short again.
    #[inline]
    pub(crate) fn wait_ended(&self) {
        if self.bell.asleep_since.load(Ordering::Relaxed) != 0 {
            self.bell.asleep_since.store(0, Ordering::Relaxed);
        }
    }

    /// How long to sleep now.
    fn nap(&self, limit: Duration) -> Duration {
        let now = 1 + self.started.elapsed().as_nanos() as u64;
        let since = &self.bell.asleep_since;
        let begun = since
            .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed)
            .unwrap_or_else(|begun| begun);
        let begun = if begun == 0 { now } else { begun };
        let waited = Duration::from_nanos(now.saturating_sub(begun));
        (waited / PART).clamp(SHORTEST, LONGEST).min(limit)
    }
}

impl Doorbell for Engine {
    fn arm(&self) {
        self.bell.armed.fetch_add(1, Ordering::SeqCst);
    }

    fn disarm(&self) {
        self.bell.armed.fetch_sub(1, Ordering::Relaxed);
    }

    fn ticket(&self) -> Ticket {
        Ticket(self.bell.rings.load(Ordering::Acquire))
    }

    fn sleep(&self, ticket: Ticket, limit: Duration) {
        if self.ticket() != ticket {
            return;
        }
        let limit = self.nap(limit);
        // A completion that came before the queue was asked to tell makes no event.
        if self.cq.request_notification().is_err() || self.progress_for_certain() {
            return;
        }
        let (channel, event) = (self.cq.fd(), self.bell.event.as_fd());
        let mut fds = [PollFd::new(&channel, PollFlags::IN), PollFd::new(&event, PollFlags::IN)];
        let limit = Timespec { tv_sec: 0, tv_nsec: i64::from(limit.subsec_nanos()) };
        // Interrupted, timed out, ready: the caller looks again in each case.
        let _ = poll(&mut fds, Some(&limit));
        if let Err(error) = self.cq.take_events() {
            tracing::warn!(%error, "the completion channel fails; waits go on by looking");
        }
        let _ = rustix::io::read(&self.bell.event, &mut [0_u8; 8]);
    }

    fn ring(&self) {
        self.bell.rings.fetch_add(1, Ordering::SeqCst);
        if self.bell.armed.load(Ordering::SeqCst) != 0 {
            // It can only fail if it is full, and then it is readable.
            let _ = rustix::io::write(&self.bell.event, &1_u64.to_ne_bytes());
        }
    }
}
