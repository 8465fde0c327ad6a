//! Quiet: waiting for exactly what was posted before.

use std::sync::{Mutex, PoisonError};

use transport_core::PeList;

use super::Engine;
use super::posting::{Posting, Requests};

/// What was posted on each link at some moment, and how much of it is complete.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// One past the last request of each link.
    numbers: Box<[u64]>,
    /// Links before this one will tell of their completion.
    asked: usize,
    /// Links before this one are complete.
    done: usize,
}

impl Snapshot {
    pub(crate) fn new(links: usize) -> Self {
        Self { numbers: vec![0; links].into(), asked: links, done: links }
    }

    /// What is posted now, of what a quiet waits for.
    #[inline]
    pub(crate) fn take(&mut self, engine: &Engine) {
        for (number, link) in self.numbers.iter_mut().zip(&engine.links) {
            *number = link.needed();
        }
        (self.asked, self.done) = (0, 0);
    }

    /// Takes completions; whether all of it is complete.
    #[inline]
    pub(crate) fn look(&mut self, engine: &Engine) -> bool {
        let links = &engine.links;
        if self.done == links.len() {
            return true;
        }
        engine.progress();
        while self.asked < links.len() && engine.ask(self.asked, self.numbers[self.asked]) {
            self.asked += 1;
        }
        while self.done < self.asked && links[self.done].is_done(self.numbers[self.done]) {
            self.done += 1;
        }
        self.done == links.len()
    }
}

/// Snapshots that are kept from one quiet to the next, so that a quiet allocates nothing.
#[derive(Debug)]
pub(crate) struct Snapshots {
    links: usize,
    kept: Mutex<Vec<Snapshot>>,
}

/// One of them, until dropped.
pub(crate) struct Lent<'a> {
    from: &'a Snapshots,
    snapshot: Option<Snapshot>,
}

/// As many as are kept: more quiets than this at once allocate.
const KEPT: usize = 8;

impl Snapshots {
    pub(super) fn new(links: usize) -> Self {
        let mut kept = Vec::with_capacity(KEPT);
        kept.resize_with(KEPT, || Snapshot::new(links));
        Self { links, kept: Mutex::new(kept) }
    }

    fn lend(&self) -> Lent<'_> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent { from: self, snapshot: Some(kept.unwrap_or_else(|| Snapshot::new(self.links))) }
    }
}

impl Lent<'_> {
    /// See [`Snapshot::look`].
    #[inline]
    pub(crate) fn look(&mut self, engine: &Engine) -> bool {
        self.snapshot.as_mut().is_none_or(|snapshot| snapshot.look(engine))
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut kept = self.from.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(snapshot), true) = (self.snapshot.take(), kept.len() < KEPT) {
            kept.push(snapshot);
        }
    }
}

impl Engine {
    /// Whether there is nothing that a quiet would wait for.
    #[inline]
    pub(crate) fn all_done(&self) -> bool {
        self.links.iter().all(|link| link.is_done(link.needed()))
    }

    /// What a quiet that begins now waits for.
    pub(crate) fn snapshot(&self) -> Lent<'_> {
        let mut lent = self.snapshots.lend();
        if let Some(snapshot) = &mut lent.snapshot {
            snapshot.take(self);
        }
        lent
    }

    /// From now on, quiet waits for the barrier's own requests too.
    pub(crate) fn need_all(&self) {
        self.links.iter().for_each(super::Link::need_all);
    }

    /// The PEs whose requests are not complete.
    pub(crate) fn unfinished(&self) -> PeList {
        self.links.iter().filter(|link| !link.is_done(link.needed())).map(|link| link.pe).collect()
    }

    /// Sees to it that a completion will tell when all requests below `number` of a link are done. False if that cannot be yet.
    #[inline]
    pub(super) fn ask(&self, link: usize, number: u64) -> bool {
        let link = &self.links[link];
        link.asked(number);
        if link.is_done(number) || link.is_signaled(number) {
            return true;
        }
        // Without room there are others under way that tell, so that there will be room.
        let mut chain = Requests::new();
        let Some(mut posting) = Posting::try_begin(self, link, &mut chain, "quiet", 1, true) else {
            return false;
        };
        // A failure is noted, and makes all before it complete.
        let _ = posting.flush().and_then(|()| posting.end());
        true
    }
}
