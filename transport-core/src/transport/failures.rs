//! What has failed stays failed: the one place where it is remembered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};

/// The peers that are gone, and whether this PE itself has left. Reading it costs one load while all is well.
#[derive(Debug)]
pub struct Failures {
    my_pe: usize,
    n_pes: usize,
    /// Set after anything below was.
    any: AtomicBool,
    finalized: AtomicBool,
    /// Why each is, since the first was: a job of thousands of PEs would have millions of these for nothing.
    lost: OnceLock<Box<[OnceLock<Arc<str>>]>>,
    /// The collective that ended half way.
    half_way: OnceLock<&'static str>,
    /// Who was lost first: the others may have followed from it.
    first: OnceLock<usize>,
}

impl Failures {
    pub(super) fn new(my_pe: usize, n_pes: usize) -> Self {
        Self {
            my_pe,
            n_pes,
            any: AtomicBool::new(false),
            finalized: AtomicBool::new(false),
            lost: OnceLock::new(),
            half_way: OnceLock::new(),
            first: OnceLock::new(),
        }
    }

    /// Remembers that `pe` is gone or can no longer be reached, and why. The first cause stays. A `pe` that does not
    /// exist is ignored.
    pub fn peer_lost(&self, pe: usize, cause: impl Into<Arc<str>>) {
        let lost = || self.lost.get_or_init(|| (0..self.n_pes).map(|_| OnceLock::new()).collect());
        if let Some(place) = (pe < self.n_pes).then(lost).and_then(|lost| lost.get(pe)) {
            let cause = cause.into();
            if place.set(Arc::clone(&cause)).is_ok() {
                tracing::info!(my_pe = self.my_pe, pe, %cause, "lost a peer");
                let _ = self.first.set(pe);
            }
            self.any.store(true, Ordering::Release);
        }
    }

    /// Remembers that this PE has left the job.
    pub fn finalized(&self) {
        self.finalized.store(true, Ordering::Relaxed);
        self.any.store(true, Ordering::Release);
    }

    /// `Err` if a collective of this PE ended half way: then no other may be begun.
    #[inline]
    pub(crate) fn check_in_step(&self, op: &'static str) -> Result<()> {
        match self.any.load(Ordering::Acquire).then(|| self.half_way.get()).flatten() {
            Some(&earlier) => Err(Error::OutOfStep { op, my_pe: self.my_pe, earlier }),
            None => Ok(()),
        }
    }

    /// From now until [`Steps::end`], `op` is half way: should it fail or be dropped, this PE is out of step.
    pub(crate) fn half_way(&self, op: &'static str) -> Steps<'_> {
        Steps { failures: self, op }
    }

    /// Whether this PE has left the job.
    #[must_use]
    pub fn is_finalized(&self) -> bool {
        self.finalized.load(Ordering::Relaxed)
    }

    /// `Err` if `pe` is lost, or this PE has left.
    ///
    /// # Errors
    ///
    /// [`Error::PeerLost`], [`Error::Finalized`].
    #[inline]
    pub fn check_peer(&self, op: &'static str, pe: usize) -> Result<()> {
        if self.any.load(Ordering::Acquire) { self.report(op, Some(pe)) } else { Ok(()) }
    }

    /// `Err` if any PE is lost, or this PE has left.
    ///
    /// # Errors
    ///
    /// [`Error::PeerLost`] naming the PE that was lost first, [`Error::Finalized`].
    #[inline]
    pub fn check_all(&self, op: &'static str) -> Result<()> {
        if self.any.load(Ordering::Acquire) { self.report(op, None) } else { Ok(()) }
    }

    /// As [`check_all`](Self::check_all), for a wait that needs nothing more of the PEs that `is_done` answers true for:
    /// their loss does not end it.
    ///
    /// # Errors
    ///
    /// As `check_all`.
    #[inline]
    pub fn check_needed(&self, op: &'static str, is_done: impl Fn(usize) -> bool) -> Result<()> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        let is_lost = |&pe: &usize| self.cause(pe).is_some();
        let first = self.first.get().copied();
        let needed = first.into_iter().chain(0..self.n_pes).filter(is_lost).find(|&pe| !is_done(pe));
        match needed {
            Some(pe) => self.report(op, Some(pe)),
            None if self.is_finalized() => self.report(op, None),
            None => Ok(()),
        }
    }

    /// Why `pe` is gone, if it is.
    fn cause(&self, pe: usize) -> Option<&Arc<str>> {
        self.lost.get()?.get(pe)?.get()
    }

    #[cold]
    fn report(&self, op: &'static str, pe: Option<usize>) -> Result<()> {
        let my_pe = self.my_pe;
        if self.is_finalized() {
            return Err(Error::Finalized { op, my_pe });
        }
        let lost = |pe: usize| Some((pe, self.cause(pe)?));
        match pe.or_else(|| self.first.get().copied()).and_then(lost) {
            Some((pe, cause)) => Err(Error::PeerLost { op, my_pe, pe, cause: Arc::clone(cause) }),
            None => Ok(()),
        }
    }
}

/// A collective between its first barrier and its last.
#[derive(Debug)]
pub(crate) struct Steps<'a> {
    failures: &'a Failures,
    op: &'static str,
}

impl Steps<'_> {
    /// It has come to its end.
    #[inline]
    pub(crate) fn end(self) {
        // It owns nothing: what is left out is that this PE is out of step.
        std::mem::forget(self);
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        let _ = self.failures.half_way.set(self.op);
        self.failures.any.store(true, Ordering::Release);
    }
}
