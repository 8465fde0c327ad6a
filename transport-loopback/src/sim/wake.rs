//! Which PEs can go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// The PEs that were woken and not polled since.
pub(super) struct Woken {
    list: Arc<List>,
    pes: Vec<(Arc<Bell>, Waker)>,
}

/// In the order in which they were woken.
#[derive(Default)]
struct List {
    any: AtomicBool,
    pes: Mutex<Vec<u32>>,
}

struct Bell {
    pe: u32,
    woken: AtomicBool,
    list: Arc<List>,
}

impl List {
    fn pes(&self) -> MutexGuard<'_, Vec<u32>> {
        self.pes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::Relaxed) {
            self.list.pes().push(self.pe);
            self.list.any.store(true, Ordering::Release);
        }
    }
}

impl Woken {
    pub(super) fn new(n_pes: usize) -> Self {
        let list = Arc::new(List::default());
        let bell = |pe| {
            let bell = Arc::new(Bell { pe, woken: AtomicBool::new(false), list: Arc::clone(&list) });
            (Arc::clone(&bell), Waker::from(bell))
        };
        Self { pes: (0..n_pes as u32).map(bell).collect(), list: Arc::clone(&list) }
    }

    pub(super) fn waker(&self, pe: usize) -> &Waker {
        &self.pes[pe].1
    }

    /// Wakes a PE.
    pub(super) fn set(&self, pe: u32) {
        self.pes[pe as usize].1.wake_by_ref();
    }

    /// The PE is about to be polled: who wakes it from now on has something new.
    pub(super) fn clear(&self, pe: usize) {
        self.pes[pe].0.woken.store(false, Ordering::Relaxed);
    }

    /// Those that were woken since the last call.
    pub(super) fn take(&self) -> Vec<u32> {
        let mut taken = Vec::new();
        self.take_into(&mut taken);
        taken
    }

    /// As `take`, at the end of `to`.
    pub(super) fn take_into(&self, to: &mut Vec<u32>) {
        if self.list.any.swap(false, Ordering::Acquire) {
            to.append(&mut self.list.pes());
        }
    }
}
