//! The object-safe face: a backend chosen at run time.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::{AtomicOp, Cmp, Endpoint, Remote, SignalOp, Transfer, Transport, Word};
use crate::error::Result;

/// [`Transport`] for `dyn`: every backend has it by one blanket implementation.
///
/// It carries what a backend writes; to call it as a user, wrap it in [`AnyTransport`], which is a [`Transport`] again.
/// Its futures are boxed, so each wait allocates; generic code over `T: Transport` does not.
#[async_trait]
pub trait DynTransport: Send + Sync + 'static {
    /// See [`Transport::endpoint`].
    fn dyn_endpoint(&self) -> &Endpoint;
    /// See [`Transport::backend`].
    fn dyn_backend(&self) -> &'static str;
    /// See [`Transport::abort`].
    fn dyn_abort(&self, reason: &str);
    /// See [`Transport::post_prepare`].
    fn dyn_prepare(&self, pe: usize) -> Result<()>;
    /// See [`Transport::reads_source_at_post`].
    fn dyn_reads_source_at_post(&self, len: u64) -> bool;
    /// See [`Transport::gets_at_post`].
    fn dyn_gets_at_post(&self) -> bool;
    /// See [`Transport::post_put`].
    fn dyn_put(&self, put: Transfer) -> Result<()>;
    /// See [`Transport::post_put_marked`].
    fn dyn_put_marked(&self, put: Transfer) -> Result<()>;
    /// See [`Transport::post_put_bytes`].
    fn dyn_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()>;
    /// See [`Transport::post_get`].
    fn dyn_get(&self, get: Transfer) -> Result<()>;
    /// See [`Transport::post_put_signal`].
    fn dyn_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()>;
    /// See [`Transport::post_fence`].
    fn dyn_fence(&self) -> Result<()>;
    /// See [`Transport::wait_quiet`].
    async fn dyn_quiet(&self) -> Result<()>;
    /// See [`Transport::wait_barrier_all`].
    async fn dyn_barrier_all(&self) -> Result<()>;
    /// See [`Transport::wait_atomic`].
    async fn dyn_atomic(&self, word: Word, op: AtomicOp) -> Result<u64>;
    /// See [`Transport::wait_signal`].
    async fn dyn_signal(&self, word: Word, cmp: Cmp, value: u64) -> Result<u64>;
    /// See [`Transport::wait_leave`].
    async fn dyn_leave(&self) -> Result<()>;
}

#[async_trait]
impl<T: Transport> DynTransport for T {
    fn dyn_endpoint(&self) -> &Endpoint {
        self.endpoint()
    }
    fn dyn_backend(&self) -> &'static str {
        self.backend()
    }
    fn dyn_abort(&self, reason: &str) {
        self.abort(reason);
    }
    fn dyn_prepare(&self, pe: usize) -> Result<()> {
        self.post_prepare(pe)
    }
    fn dyn_reads_source_at_post(&self, len: u64) -> bool {
        self.reads_source_at_post(len)
    }
    fn dyn_gets_at_post(&self) -> bool {
        self.gets_at_post()
    }
    fn dyn_put(&self, put: Transfer) -> Result<()> {
        self.post_put(put)
    }
    fn dyn_put_marked(&self, put: Transfer) -> Result<()> {
        self.post_put_marked(put)
    }
    fn dyn_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.post_put_bytes(dst, data)
    }
    fn dyn_get(&self, get: Transfer) -> Result<()> {
        self.post_get(get)
    }
    fn dyn_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        self.post_put_signal(put, signal, op)
    }
    fn dyn_fence(&self) -> Result<()> {
        self.post_fence()
    }
    async fn dyn_quiet(&self) -> Result<()> {
        self.wait_quiet().await
    }
    async fn dyn_barrier_all(&self) -> Result<()> {
        self.wait_barrier_all().await
    }
    async fn dyn_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        self.wait_atomic(word, op).await
    }
    async fn dyn_signal(&self, word: Word, cmp: Cmp, value: u64) -> Result<u64> {
        self.wait_signal(word, cmp, value).await
    }
    async fn dyn_leave(&self) -> Result<()> {
        self.wait_leave().await
    }
}

/// Any backend behind one type: a [`Transport`] over a shared [`DynTransport`].
///
/// ```
/// use std::sync::Arc;
/// use transport_core::{AnyTransport, Transport, wait::block_on};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pe = transport_loopback::Threads::new(1).start()?.remove(0);
/// let pe: AnyTransport = AnyTransport::new(Arc::new(pe));
/// assert_eq!((pe.backend(), pe.n_pes()), ("loopback", 1));
/// block_on(pe.barrier_all())?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct AnyTransport(Arc<dyn DynTransport>);

impl AnyTransport {
    /// Wraps a backend.
    #[must_use]
    pub fn new(transport: Arc<dyn DynTransport>) -> Self {
        Self(transport)
    }
}

impl std::fmt::Debug for AnyTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyTransport({}, PE {} of {})", self.backend(), self.my_pe(), self.n_pes())
    }
}

impl Transport for AnyTransport {
    fn endpoint(&self) -> &Endpoint {
        self.0.dyn_endpoint()
    }
    fn backend(&self) -> &'static str {
        self.0.dyn_backend()
    }
    fn abort(&self, reason: &str) {
        self.0.dyn_abort(reason);
    }
    fn post_prepare(&self, pe: usize) -> Result<()> {
        self.0.dyn_prepare(pe)
    }
    fn reads_source_at_post(&self, len: u64) -> bool {
        self.0.dyn_reads_source_at_post(len)
    }
    fn gets_at_post(&self) -> bool {
        self.0.dyn_gets_at_post()
    }
    fn post_put(&self, put: Transfer) -> Result<()> {
        self.0.dyn_put(put)
    }
    fn post_put_marked(&self, put: Transfer) -> Result<()> {
        self.0.dyn_put_marked(put)
    }
    fn post_put_bytes(&self, dst: Remote, data: Bytes) -> Result<()> {
        self.0.dyn_put_bytes(dst, data)
    }
    fn post_get(&self, get: Transfer) -> Result<()> {
        self.0.dyn_get(get)
    }
    fn post_put_signal(&self, put: Option<Transfer>, signal: Word, op: SignalOp) -> Result<()> {
        self.0.dyn_put_signal(put, signal, op)
    }
    fn post_fence(&self) -> Result<()> {
        self.0.dyn_fence()
    }
    async fn wait_quiet(&self) -> Result<()> {
        self.0.dyn_quiet().await
    }
    async fn wait_barrier_all(&self) -> Result<()> {
        self.0.dyn_barrier_all().await
    }
    async fn wait_atomic(&self, word: Word, op: AtomicOp) -> Result<u64> {
        self.0.dyn_atomic(word, op).await
    }
    async fn wait_signal(&self, word: Word, cmp: Cmp, value: u64) -> Result<u64> {
        self.0.dyn_signal(word, cmp, value).await
    }
    async fn wait_leave(&self) -> Result<()> {
        self.0.dyn_leave().await
    }
}
