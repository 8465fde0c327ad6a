//! The barrier's flags, written by small Writes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use transport_core::transport::{BarrierFlags, Dissemination};
use transport_core::wait::Doorbell;

use super::Engine;
use super::posting::{End, Posting, Requests};
use super::quiet::Snapshot;

/// The flags of this PE and those that it sends.
#[derive(Debug)]
pub(crate) struct NicFlags {
    engine: Arc<Engine>,
    /// What was posted before the barrier under way.
    before: Mutex<Snapshot>,
    /// All of that is complete.
    quiet: AtomicBool,
    /// One past the request that sent the flag of each round last, where it is sent from memory.
    sent: Box<[AtomicU64]>,
}

impl NicFlags {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let rounds = Dissemination::rounds(engine.endpoint.n_pes());
        let before = Mutex::new(Snapshot::new(engine.links.len()));
        let first = |round: u32| {
            let neighbour = (engine.endpoint.my_pe() + (1 << round)) % engine.endpoint.n_pes();
            AtomicU64::new(engine.first_link(neighbour).done())
        };
        let quiet = AtomicBool::new(false);
        Self { sent: (0..rounds).map(first).collect(), before, quiet, engine }
    }

    /// Takes completions; whether all puts from before the barrier under way are complete.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        if self.quiet.load(Ordering::Relaxed) {
            return true;
        }
        let quiet = self.before.lock().unwrap_or_else(PoisonError::into_inner).look(&self.engine);
        self.quiet.store(quiet, Ordering::Relaxed);
        quiet
    }
}

impl BarrierFlags for NicFlags {
    #[inline]
    fn flag(&self, round: u32) -> u32 {
        self.engine.region().word32(self.engine.layout.flag(round)).load(Ordering::Acquire)
    }

    fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool {
        const OP: &str = "barrier_all";
        if !self.is_quiet() {
            return false;
        }
        let (engine, link) = (&*self.engine, self.engine.first_link(neighbour));
        let (flag, value) = (engine.layout.flag(round), epoch.to_ne_bytes());
        let inline = engine.limits.inline >= 4;
        let sent = &self.sent[round as usize];
        // The word that it is sent from is in use until the last Write from there is complete.
        if !inline && !link.is_done(sent.load(Ordering::Relaxed)) {
            engine.progress();
            return false;
        }
        let mut chain = Requests::new();
        let Some(mut posting) = Posting::try_begin(engine, link, &mut chain, OP, 1, false) else {
            // What would make room may be complete.
            engine.progress();
            return false;
        };
        let made = if inline {
            posting.write_inline(&value, flag, End::Silent)
        } else {
            let source = engine.layout.flag_source(round);
            engine.region().word32(source).store(epoch, Ordering::Release);
            posting.write(source, flag, 4, End::Signaled)
        };
        // A failure is noted as the peer's, where the wait sees it.
        if let Ok(number) = made.and_then(|()| posting.end()) {
            sent.store(number, Ordering::Relaxed);
        }
        true
    }

    fn entered(&self, epoch: u32) {
        self.engine.region().word32(self.engine.layout.entered()).store(epoch, Ordering::Release);
        self.before.lock().unwrap_or_else(PoisonError::into_inner).take(&self.engine);
        self.quiet.store(false, Ordering::Relaxed);
    }

    fn finished(&self, _epoch: u32) {}

    fn turn_ended(&self) {
        // For another thread of this PE that waits for its turn.
        self.engine.ring();
    }
}
