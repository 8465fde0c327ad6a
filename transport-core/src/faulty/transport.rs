//! The trait, each call with its faults.

use bytes::Bytes;

use super::Faulty;
use super::dice::About;
use super::fault::Fault;
use super::operation::Operation;
use crate::error::Result;
use crate::transport::{AtomicOp, Cmp, Endpoint, Remote, SignalOp, Transfer, Transport, Word};

impl<T: Transport> Transport for Faulty<T> {
    fn endpoint(&self) -> &Endpoint {
        self.shared.inner.endpoint()
    }

    /// That of the inner transport, since programs choose by it.
    fn backend(&self) -> &'static str {
        self.shared.inner.backend()
    }

    fn abort(&self, reason: &str) {
        self.shared.inner.abort(reason);
    }

    fn post_prepare(&self, pe: usize) -> Result<()> {
        self.shared.check_alive(&self.shared.lock(), "prepare")?;
        self.shared.inner.post_prepare(pe)
    }

    fn post_put(&self, put: Transfer) -> Result<()> {
        self.shared.submit(Operation::Put(put))
    }

    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.shared.submit(Operation::PutBytes(dst, data))
    }

    fn post_get(&self, get: Transfer) -> Result<()> {
        self.shared.submit(Operation::Get(get))
    }

    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        self.shared.submit(Operation::Signal(put, signal, op))
    }

    fn post_fence(&self) -> Result<()> {
        let (mut state, _) = self.shared.begin("fence")?;
        // It orders; it need not hurry what is held.
        state.held.epoch += 1;
        self.shared.inner.post_fence()
    }

    async fn wait_quiet(&self) -> Result<()> {
        const OP: &str = "quiet";
        let (failed, twice) = {
            let (mut state, step) = self.shared.begin(OP)?;
            let failed = self.shared.fails_to_somebody(&mut state, &step);
            if failed {
                self.shared.see_completions(&mut state);
            }
            if step.fate.is_told_twice {
                state.note(&step, Fault::ToldTwice);
            }
            (failed, step.fate.is_told_twice)
        };
        if failed {
            self.endpoint().failures().check_all(OP)?;
        }
        self.shared.awake(OP).await?;
        self.shared.go(OP, |_| true)?;
        if twice {
            self.shared.inner.wait_quiet().await?;
        }
        self.shared.inner.wait_quiet().await
    }

    async fn wait_barrier_all(&self) -> Result<()> {
        const OP: &str = "barrier_all";
        let failed = {
            let (mut state, step) = self.shared.begin(OP)?;
            let failed = self.shared.fails_to_somebody(&mut state, &step);
            if failed {
                self.shared.see_completions(&mut state);
            }
            failed
        };
        if failed {
            self.endpoint().failures().check_all(OP)?;
        }
        self.shared.awake(OP).await?;
        self.shared.go(OP, |_| true)?;
        self.shared.inner.wait_barrier_all().await
    }

    async fn wait_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        const OP: &str = "atomic";
        {
            let (mut state, step) = self.shared.begin(OP)?;
            if self.shared.fails(&mut state, &step, word.pe()) {
                self.shared.see_completions(&mut state);
            }
        }
        self.endpoint().failures().check_peer(OP, word.pe())?;
        self.shared.awake(OP).await?;
        self.shared.go_before_atomic(OP, word.pe())?;
        self.shared.inner.wait_atomic(word, op).await
    }

    async fn wait_signal(&self, word: Word, cmp: Cmp, value: u64) -> Result<u64> {
        const OP: &str = "signal_wait_until";
        let number = self.shared.begin(OP)?.1.number;
        self.shared.awake(OP).await?;
        // What is held goes now, or by itself while this waits.
        let at_once = self.shared.dice.below(About::ReleaseAtWait, number, 2) == 0;
        self.shared.go(OP, |_| at_once)?;
        self.shared.inner.wait_signal(word, cmp, value).await
    }

    async fn wait_leave(&self) -> Result<()> {
        const OP: &str = "finalize";
        drop(self.shared.begin(OP)?);
        self.shared.awake(OP).await?;
        self.shared.go(OP, |_| true)?;
        self.shared.inner.wait_leave().await
    }
}
