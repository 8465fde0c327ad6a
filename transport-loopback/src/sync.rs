//! The atomics of the shared memory, and the futex on them.
//!
//! In a build with `--cfg shmem_loom` they are loom's, and the futex is a model of it: then the models in `loom_models` run the
//! code of the product and no copy of it.

#[cfg(shmem_loom)]
pub(crate) use loom::sync::atomic;
#[cfg(not(shmem_loom))]
pub(crate) use std::sync::atomic;

#[cfg(not(shmem_loom))]
pub(crate) use crate::sys::{futex_wait, futex_wake_all};
#[cfg(shmem_loom)]
pub(crate) use modelled::{futex_wait, futex_wake_all};

/// The futex as futex(2) has it: the word is compared and the sleep begun in one step against all wakes of that word. A
/// sleep has no limit here, so that a ring that is lost is a deadlock, which loom reports.
#[cfg(shmem_loom)]
mod modelled {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex as StdMutex, PoisonError};
    use std::time::Duration;

    use loom::sync::{Condvar, Mutex};

    use super::atomic::{AtomicU32, Ordering};

    #[derive(Default)]
    struct Queue {
        lock: Mutex<()>,
        sleepers: Condvar,
    }

    loom::lazy_static! {
        /// For each word a queue of its own: a wake of another word wakes nobody, as on a real machine nearly always.
        static ref QUEUES: StdMutex<BTreeMap<usize, Arc<Queue>>> = StdMutex::default();
    }

    fn queue(word: &AtomicU32) -> Arc<Queue> {
        let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(std::ptr::from_ref(word).addr()).or_default())
    }

    pub(crate) fn futex_wait(word: &AtomicU32, value: u32, _: Duration) {
        let queue = queue(word);
        let lock = queue.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if word.load(Ordering::Relaxed) == value {
            drop(queue.sleepers.wait(lock));
        }
    }

    pub(crate) fn futex_wake_all(word: &AtomicU32) {
        let queue = queue(word);
        let _lock = queue.lock.lock().unwrap_or_else(PoisonError::into_inner);
        queue.sleepers.notify_all();
    }
}

/// A fence between all that this thread does before and after.
#[inline]
pub(crate) fn full_fence() {
    #[cfg(all(target_arch = "x86_64", not(miri), not(shmem_loom)))]
    crate::sys::locked_fence();
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(shmem_loom))))]
    atomic::fence(atomic::Ordering::SeqCst);
}
