//! What wakes the thread of a `block_on`, wherever it sleeps.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};

use super::doorbell::Doorbell;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};

/// A parker and the waker that wakes it.
pub(super) struct Kit {
    pub(super) parker: Arc<Parker>,
    pub(super) waker: Waker,
}

impl Kit {
    pub(super) fn new() -> Rc<Self> {
        let parker = Arc::new(Parker::new());
        Rc::new(Self { waker: Waker::from(Arc::clone(&parker)), parker })
    }
}

/// Wakes the thread, wherever it sleeps.
pub(super) struct Parker {
    thread: Thread,
    pub(super) woken: AtomicBool,
    /// The bell it sleeps on, if it does.
    bell: Mutex<Option<Arc<dyn Doorbell>>>,
}

impl Parker {
    fn new() -> Self {
        Self { thread: thread::current(), woken: AtomicBool::new(false), bell: Mutex::new(None) }
    }

    pub(super) fn park(&self) {
        while !self.woken.load(Ordering::Acquire) {
            thread::park();
        }
    }

    fn set_bell(&self, bell: Option<Arc<dyn Doorbell>>) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = bell;
    }
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.swap(true, Ordering::AcqRel);
        self.thread.unpark();
        if let Some(bell) = &*self.bell.lock().unwrap_or_else(PoisonError::into_inner) {
            bell.ring();
        }
    }
}

/// A bell that is armed and known to the parker, until dropped.
pub(super) struct Armed<'a> {
    parker: &'a Parker,
    pub(super) bell: Arc<dyn Doorbell>,
}

impl<'a> Armed<'a> {
    pub(super) fn new(parker: &'a Parker, bell: Arc<dyn Doorbell>) -> Self {
        bell.arm();
        parker.set_bell(Some(Arc::clone(&bell)));
        Self { parker, bell }
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        self.parker.set_bell(None);
        self.bell.disarm();
    }
}
