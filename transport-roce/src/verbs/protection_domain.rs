//! A protection domain: queue pairs reach the memory of their own domain only.

use std::ptr::NonNull;
use std::sync::Arc;

use super::context::Context;
use super::errno::Errno;
use super::error::VerbsError;
use crate::abi::ibv_pd;

/// A protection domain.
#[derive(Debug)]
pub(crate) struct ProtectionDomain {
    pub(super) context: Arc<Context>,
    pub(super) pd: NonNull<ibv_pd>,
}

// SAFETY: verbs may be called by any thread on any object; the library and its providers lock.
unsafe impl Send for ProtectionDomain {}
// SAFETY: as above.
unsafe impl Sync for ProtectionDomain {}

impl ProtectionDomain {
    /// A new domain of an open device.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Arc<Self>, VerbsError> {
        // SAFETY: the context is open.
        let pd = unsafe { (context.library.symbols.ibv_alloc_pd)(context.context.as_ptr()) };
        let pd = NonNull::new(pd).ok_or_else(|| VerbsError::Create {
            device: context.name().to_owned(),
            what: "a protection domain".to_owned(),
            errno: Errno::last(),
            hint: "Other processes may hold all that it has: see `rdma resource`, and `dmesg`",
        })?;
        Ok(Arc::new(Self { context: Arc::clone(context), pd }))
    }

    /// Its device.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

impl Drop for ProtectionDomain {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once; what was made in it kept it alive and so is gone.
        let returned = unsafe { (self.context.library.symbols.ibv_dealloc_pd)(self.pd.as_ptr()) };
        self.context.log_destroy("protection domain", returned);
    }
}
