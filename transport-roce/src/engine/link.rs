//! A link: one queue pair to one peer, and how far its requests are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use crate::verbs::QueuePair;

/// One queue pair to one peer. Its requests are numbered in the order in which they are posted, and complete in that order:
/// so one counter says which are done.
#[derive(Debug)]
pub(crate) struct Link {
    /// Its place among the links.
    pub(crate) index: usize,
    /// The peer.
    pub(crate) pe: usize,
    /// Set when it is connected.
    qp: OnceLock<QueuePair>,
    /// Held to post.
    queue: Mutex<Queue>,
    /// One past the last request that will tell of its completion.
    signaled: AtomicU64,
    /// One past the last request that a quiet waits for.
    needed: AtomicU64,
    /// What a quiet asked for last.
    asked: AtomicU64,
    /// One past the last request that is complete. Only who polls the completion queue writes it.
    completed: AtomicU64,
}

/// What a post changes.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The number of the next request.
    pub(crate) next: u64,
}

/// Whether counter `a` is at `b` or past it, across the wrap.
#[inline]
pub(crate) fn at_least(a: u64, b: u64) -> bool {
    a.wrapping_sub(b) as i64 >= 0
}

impl Link {
    /// Not connected; its first request has number `first`.
    pub(crate) fn new(index: usize, pe: usize, first: u64) -> Self {
        let counter = || AtomicU64::new(first);
        Self {
            index,
            pe,
            qp: OnceLock::new(),
            queue: Mutex::new(Queue { next: first }),
            signaled: counter(),
            needed: counter(),
            asked: counter(),
            completed: counter(),
        }
    }

    /// Its queue pair, once it is connected.
    #[inline]
    pub(crate) fn qp(&self) -> Option<&QueuePair> {
        self.qp.get()
    }

    /// From now on it can be posted to. A second queue pair is given up.
    pub(crate) fn connected(&self, qp: QueuePair) {
        if self.qp.set(qp).is_err() {
            tracing::warn!(pe = self.pe, "a link was connected twice; the second queue pair is not used");
        }
    }

    /// The right to post.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Queue> {
        // A counter is whole at any time.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to post, if nobody has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Queue>> {
        match self.queue.try_lock() {
            Ok(queue) => Some(queue),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Requests up to here (exclusive) are complete.
    #[inline]
    pub(crate) fn done(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Whether all requests below `number` are complete.
    #[inline]
    pub(crate) fn is_done(&self, number: u64) -> bool {
        at_least(self.done(), number)
    }

    /// Whether some request from `number - 1` on will tell of its completion.
    #[inline]
    pub(crate) fn is_signaled(&self, number: u64) -> bool {
        at_least(self.signaled.load(Ordering::Acquire), number)
    }

    /// One past the last request that will tell of its completion.
    #[inline]
    pub(crate) fn signaled(&self) -> u64 {
        self.signaled.load(Ordering::Relaxed)
    }

    /// Whether a quiet has waited for one of the last so many requests below `next`: then one will for the next, too.
    #[inline]
    pub(crate) fn is_awaited(&self, next: u64, so_many: u64) -> bool {
        next.wrapping_sub(self.asked.load(Ordering::Relaxed)) <= so_many
    }

    /// A quiet waits for what is below `number`.
    #[inline]
    pub(crate) fn asked(&self, number: u64) {
        self.asked.store(number, Ordering::Relaxed);
    }

    /// What a quiet waits for.
    #[inline]
    pub(crate) fn needed(&self) -> u64 {
        self.needed.load(Ordering::Acquire)
    }

    /// From now on a quiet waits for all that is posted.
    pub(crate) fn need_all(&self) {
        let queue = self.lock();
        self.needed.store(queue.next, Ordering::Release);
    }

    /// What was posted: under the lock. `signaled` is one past the last of it that tells of its completion.
    #[inline]
    pub(crate) fn posted(&self, queue: &mut Queue, next: u64, signaled: u64, needed: bool) {
        queue.next = next;
        self.signaled.store(signaled, Ordering::Release);
        if needed {
            self.needed.store(next, Ordering::Release);
        }
    }

    /// All requests up to and with `number` are complete. Only who polls calls it.
    #[inline]
    pub(crate) fn complete(&self, number: u64) {
        self.completed.store(number.wrapping_add(1), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_right_around_their_wrap() {
        for first in [0, (1 << 40) - 1, u64::MAX - 1, u64::MAX] {
            let link = Link::new(3, 1, first);
            assert!(link.is_done(first) && link.is_signaled(first));
            let next = first.wrapping_add(3);
            let mut queue = link.lock();
            link.posted(&mut queue, next, first.wrapping_add(2), true);
            drop(queue);
            assert!(!link.is_done(next) && !link.is_signaled(next));
            assert!(link.is_signaled(first.wrapping_add(2)));
            assert_eq!(link.needed(), next);
            link.complete(first);
            assert!(link.is_done(first.wrapping_add(1)) && !link.is_done(first.wrapping_add(2)));
            link.complete(first.wrapping_add(2));
            assert!(link.is_done(next));
        }
    }
}
