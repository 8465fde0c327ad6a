//! The transport of a simulated PE.

use std::panic::Location;

use bytes::Bytes;
use transport_core::transport::{Medium, Remote, Transfer, Word};
use transport_core::{AtomicOp, Cmp, Endpoint, Error, Result, SignalOp, Transport};

use super::event::{Event, OpId};
use super::pe::SimPe;
use super::waits::Waiting;

impl Transport for SimPe {
    #[inline]
    fn endpoint(&self) -> &Endpoint {
        &self.0.endpoint
    }

    fn backend(&self) -> &'static str {
        Self::BACKEND
    }

    fn abort(&self, reason: &str) {
        self.world().post_lost(self.pe(), &reason.into());
    }

    fn reads_source_at_post(&self, _len: u64) -> bool {
        self.endpoint().medium() == Medium::Memory
    }

    #[track_caller]
    fn post_put(&self, put: Transfer) -> Result<()> {
        self.world().post_put(self.pe(), put, Location::caller());
        Ok(())
    }

    #[track_caller]
    fn post_put_marked(&self, put: Transfer) -> Result<()> {
        self.world().post_put_marked(self.pe(), put, Location::caller());
        Ok(())
    }

    #[track_caller]
    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.world().post_put_bytes(self.pe(), dst, data, Location::caller());
        Ok(())
    }

    #[track_caller]
    fn post_get(&self, get: Transfer) -> Result<()> {
        self.world().post_get(self.pe(), get, Location::caller());
        Ok(())
    }

    #[track_caller]
    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        self.world().post_put_signal(self.pe(), put, signal, op, Location::caller());
        Ok(())
    }

    fn post_fence(&self) -> Result<()> {
        self.world().pes[self.pe()].fences += 1;
        Ok(())
    }

    async fn wait_quiet(&self) -> Result<()> {
        self.quiet().await
    }

    async fn wait_barrier_all(&self) -> Result<()> {
        const OP: &str = "barrier_all";
        let (my_pe, inner, failures) = (self.pe(), &self.0, self.0.endpoint.failures());
        let take = || inner.barrier.try_take(&inner.flags).ok_or(Waiting::Turn);
        let late = |after| Error::Timeout { op: OP, my_pe, after, missing: [my_pe].into_iter().collect() };
        let turn = self.wait(OP, take, |_| false, late).await?;
        if !turn.is_under_way() {
            failures.check_all(OP)?;
        }
        turn.enter();
        let advance = || turn.advance().ok_or_else(|| Waiting::Barrier(inner.flags.needs()));
        let late = |after| {
            let missing = inner.flags.missing(&turn).into_iter().collect();
            Error::Timeout { op: OP, my_pe, after, missing }
        };
        self.wait(OP, advance, |pe| inner.flags.is_done(&turn, pe), late).await
    }

    async fn wait_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        const OP: &str = "atomic";
        let (pe, to) = (self.pe(), word.pe());
        let (number, mut answer) = self.world().post_atomic(pe, word, op, Location::caller());
        let ready = || {
            let answers = &mut self.world().pes[pe].answers;
            let at = answers.iter().position(|(of, _)| *of == number);
            answer.take().or_else(|| at.map(|at| answers.swap_remove(at).1)).ok_or(Waiting::Atomic { number })
        };
        let late = |after| Error::Timeout { op: OP, my_pe: pe, after, missing: [to].into_iter().collect() };
        let value = self.wait(OP, ready, |other| other != to, late).await?;
        let mut world = self.world();
        world.received(pe);
        world.tell(|| Event::AtomicAnswered { id: OpId { pe, number }, value });
        Ok(value)
    }

    async fn wait_signal(&self, at: Word, cmp: Cmp, value: u64) -> Result<u64> {
        const OP: &str = "signal_wait_until";
        let (pe, word) = (self.pe(), at.offset());
        let ready = || {
            let found = self.world().pes[pe].memory.load(word);
            if cmp.holds(found, value) { Ok(found) } else { Err(Waiting::Signal { word, cmp, value }) }
        };
        let late = |after| {
            let found = self.world().pes[pe].memory.load(word);
            let expected = format!("{} {value:#x}", cmp.symbol());
            Error::SignalTimeout { op: OP, my_pe: pe, offset: word, value: found, expected, after }
        };
        let value = self.wait(OP, ready, |_| false, late).await?;
        let mut world = self.world();
        world.received(pe);
        if world.tell.is_on() {
            let seen = world.tell.seen(pe, word);
            world.tell(|| Event::SignalSeen { pe, word, cmp, value, seen });
        }
        Ok(value)
    }

    /// The last barrier said all there is to say.
    async fn wait_leave(&self) -> Result<()> {
        Ok(())
    }
}
