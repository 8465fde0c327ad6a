//! An open device: what it can, and its ports.

use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

use super::errno::Errno;
use super::error::VerbsError;
use super::library::Library;
use super::port::PortAttributes;
use crate::abi::{IBV_ATOMIC_GLOB, IBV_ATOMIC_HCA, ibv_context, ibv_device_attr, ibv_port_attr};

/// An open device, closed with the last object on it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(super) library: Arc<Library>,
    pub(super) context: NonNull<ibv_context>,
    name: String,
}

// SAFETY: verbs may be called by any thread on any object; the library and its providers lock.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// Whether a device has atomic operations, and with whom they are atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicSupport {
    /// It has none.
    None,
    /// With each other through this one device, but not with the processor's.
    Hca,
    /// With the processor's too.
    Global,
}

/// What a device can; limits of the kernel's count too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceAttributes {
    /// Queue pairs.
    pub(crate) max_qp: u32,
    /// Requests of a queue.
    pub(crate) max_qp_wr: u32,
    /// Completion queues.
    pub(crate) max_cq: u32,
    /// Completions of a queue.
    pub(crate) max_cqe: u32,
    /// Bytes of a memory region.
    pub(crate) max_mr_size: u64,
    /// Reads and atomics that a queue pair answers at a time.
    pub(crate) max_qp_rd_atom: u32,
    /// Reads and atomics that a queue pair has under way at a time.
    pub(crate) max_qp_init_rd_atom: u32,
    /// Its atomic operations.
    pub(crate) atomics: AtomicSupport,
    /// Ports, counted from 1.
    pub(crate) ports: u8,
}

impl Context {
    pub(super) fn new(library: Arc<Library>, context: NonNull<ibv_context>, name: String) -> Self {
        Self { library, context, name }
    }

    /// The device's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The file of the provider that drives it: the one whose code its polling is. `None` if the system does not say.
    pub(crate) fn provider(&self) -> Option<PathBuf> {
        // SAFETY: the context is open; its operations are set once, when it is opened.
        let poll = unsafe { (*self.context.as_ptr()).ops.poll_cq }?;
        super::mappings::file_at(poll as usize)
    }

    /// What the device can.
    pub(crate) fn attributes(&self) -> Result<DeviceAttributes, VerbsError> {
        let mut raw = ibv_device_attr::zeroed();
        // SAFETY: the context is open, and `raw` is what it fills.
        let returned = unsafe { (self.library.symbols.ibv_query_device)(self.context.as_ptr(), &mut raw) };
        Errno::check(returned).map_err(|errno| self.query_error("attributes", errno))?;
        let count = |n| u32::try_from(n).unwrap_or(0);
        Ok(DeviceAttributes {
            max_qp: count(raw.max_qp),
            max_qp_wr: count(raw.max_qp_wr),
            max_cq: count(raw.max_cq),
            max_cqe: count(raw.max_cqe),
            max_mr_size: raw.max_mr_size,
            max_qp_rd_atom: count(raw.max_qp_rd_atom),
            max_qp_init_rd_atom: count(raw.max_qp_init_rd_atom),
            atomics: match raw.atomic_cap {
                IBV_ATOMIC_HCA => AtomicSupport::Hca,
                IBV_ATOMIC_GLOB => AtomicSupport::Global,
                _ => AtomicSupport::None,
            },
            ports: raw.phys_port_cnt,
        })
    }

    /// What `port` (counted from 1) is like at this moment.
    pub(crate) fn port(&self, port: u8) -> Result<PortAttributes, VerbsError> {
        // Zeroed, because the exported function fills only what the struct had in its first release.
        let mut raw = ibv_port_attr::zeroed();
        // SAFETY: the context is open, and `raw` is as large as what it fills, or larger.
        let returned =
            unsafe { (self.library.symbols.ibv_query_port)(self.context.as_ptr(), port, &mut raw) };
        Errno::check(returned).map_err(|errno| self.query_error(format!("port {port}"), errno))?;
        Ok(PortAttributes::from_raw(&raw))
    }

    #[cold]
    pub(super) fn query_error(&self, what: impl Into<String>, errno: Errno) -> VerbsError {
        VerbsError::Query { device: self.name.clone(), what: what.into(), errno }
    }

    /// Logs that `what` could not be destroyed: there is nobody left to tell.
    pub(super) fn log_destroy(&self, what: &str, returned: std::ffi::c_int) {
        if let Err(errno) = Errno::check(returned) {
            tracing::warn!(device = %self.name, object = what, %errno, "a verbs object could not be destroyed");
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once, and every object on it kept it alive and so is gone.
        let returned = unsafe { (self.library.symbols.ibv_close_device)(self.context.as_ptr()) };
        self.log_destroy("device context", returned);
    }
}
