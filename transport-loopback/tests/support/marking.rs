//! A simulated PE whose plain puts go as puts of marked bytes: the collectives post these by themselves, and no call of a user does.

use bytes::Bytes;
use transport_core::transport::{Remote, Transfer, Word};
use transport_core::{AtomicOp, Cmp, Endpoint, Result, SignalOp, Transport};
use transport_loopback::sim::SimPe;

/// Its puts must be of whole words, to words that are 0.
#[derive(Clone)]
pub(crate) struct Marking(pub(crate) SimPe);

impl Transport for Marking {
    fn endpoint(&self) -> &Endpoint {
        self.0.endpoint()
    }

    fn backend(&self) -> &'static str {
        self.0.backend()
    }

    fn abort(&self, reason: &str) {
        self.0.abort(reason);
    }

    #[track_caller]
    fn post_put(&self, put: Transfer) -> Result<()> {
        self.0.post_put_marked(put)
    }

    #[track_caller]
    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.0.post_put_bytes(dst, data)
    }

    #[track_caller]
    fn post_get(&self, get: Transfer) -> Result<()> {
        self.0.post_get(get)
    }

    #[track_caller]
    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        self.0.post_put_signal(put, signal, op)
    }

    fn post_fence(&self) -> Result<()> {
        self.0.post_fence()
    }

    async fn wait_quiet(&self) -> Result<()> {
        self.0.wait_quiet().await
    }

    async fn wait_barrier_all(&self) -> Result<()> {
        self.0.wait_barrier_all().await
    }

    async fn wait_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        self.0.wait_atomic(word, op).await
    }

    async fn wait_signal(&self, word: Word, cmp: Cmp, value: u64) -> Result<u64> {
        self.0.wait_signal(word, cmp, value).await
    }

    async fn wait_leave(&self) -> Result<()> {
        self.0.wait_leave().await
    }
}
