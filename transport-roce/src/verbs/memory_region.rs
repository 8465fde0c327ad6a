//! Memory that a device may read and write.

use std::fmt;
use std::ops::BitOr;
use std::ptr::NonNull;
use std::sync::Arc;

use transport_core::memory::Region;

use super::errno::Errno;
use super::error::VerbsError;
use super::memory_limit::LockedMemory;
use super::protection_domain::ProtectionDomain;
use crate::abi::{self, ibv_mr};

/// What a device may do with memory; reading it for requests of this side is always allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access(u32);

impl Access {
    /// Results of requests of this side may be written to it.
    pub(crate) const LOCAL_WRITE: Self = Self(abi::IBV_ACCESS_LOCAL_WRITE);
    /// Others may write it; needs `LOCAL_WRITE` too.
    pub(crate) const REMOTE_WRITE: Self = Self(abi::IBV_ACCESS_REMOTE_WRITE);
    /// Others may read it.
    pub(crate) const REMOTE_READ: Self = Self(abi::IBV_ACCESS_REMOTE_READ);
    /// Others may do atomic operations on it; needs `LOCAL_WRITE` too.
    pub(crate) const REMOTE_ATOMIC: Self = Self(abi::IBV_ACCESS_REMOTE_ATOMIC);
    /// All of these.
    pub(crate) const ALL: Self =
        Self(Self::LOCAL_WRITE.0 | Self::REMOTE_WRITE.0 | Self::REMOTE_READ.0 | Self::REMOTE_ATOMIC.0);

    /// Whether it has all of `other`.
    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// C's number for it.
    pub(crate) fn to_raw(self) -> u32 {
        self.0
    }
}

impl BitOr for Access {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("local read")?;
        for (bit, name) in [
            (Self::LOCAL_WRITE, "local write"),
            (Self::REMOTE_WRITE, "remote write"),
            (Self::REMOTE_READ, "remote read"),
            (Self::REMOTE_ATOMIC, "remote atomic"),
        ] {
            if self.contains(bit) {
                write!(f, ", {name}")?;
            }
        }
        Ok(())
    }
}

/// Registered memory: its pages stay where they are, and the device knows them. Keeps the memory mapped.
#[derive(Debug)]
pub(crate) struct MemoryRegion {
    mr: NonNull<ibv_mr>,
    lkey: u32,
    rkey: u32,
    address: u64,
    pd: Arc<ProtectionDomain>,
    // After `drop` took the registration back, the memory may go.
    region: Region,
}

// SAFETY: the pointer is only used to take the registration back, once; the memory is governed by `Region`.
unsafe impl Send for MemoryRegion {}
// SAFETY: as above.
unsafe impl Sync for MemoryRegion {}

impl MemoryRegion {
    /// Registers all of `region`.
    pub(crate) fn register(
        pd: &Arc<ProtectionDomain>,
        region: Region,
        access: Access,
    ) -> Result<Arc<Self>, VerbsError> {
        let len = region.len() as u64;
        let start = region.at(0, len);
        let context = pd.context();
        // SAFETY: the domain is alive. The bytes are mapped as long as we keep `region`, and touched by shared copies and
        // atomics only, so that a device may change them at any time.
        let mr = unsafe {
            let access = access.to_raw() as std::ffi::c_int;
            (context.library.symbols.ibv_reg_mr)(pd.pd.as_ptr(), start.cast(), region.len(), access)
        };
        let Some(mr) = NonNull::new(mr) else {
            return Err(register_error(context.name(), start as u64, len, access, Errno::last()));
        };
        // SAFETY: a registration that was just made.
        let (lkey, rkey) = unsafe { ((*mr.as_ptr()).lkey, (*mr.as_ptr()).rkey) };
        Ok(Arc::new(Self { mr, lkey, rkey, address: start as u64, pd: Arc::clone(pd), region }))
    }

    /// The key for requests of this side.
    #[inline]
    pub(crate) fn lkey(&self) -> u32 {
        self.lkey
    }

    /// The key that others need.
    #[inline]
    pub(crate) fn rkey(&self) -> u32 {
        self.rkey
    }

    /// The address of its first byte, as requests of both sides name it.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Bytes.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.region.len() as u64
    }

    /// The memory.
    #[inline]
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }
}

impl Drop for MemoryRegion {
    fn drop(&mut self) {
        let context = self.pd.context();
        // SAFETY: made once, destroyed once, and the domain is alive.
        let returned = unsafe { (context.library.symbols.ibv_dereg_mr)(self.mr.as_ptr()) };
        context.log_destroy("memory region", returned);
        if returned != 0 {
            // The device may still write to it, so nothing else may ever get these pages.
            std::mem::forget(self.region.clone());
        }
    }
}

#[cold]
fn register_error(device: &str, address: u64, len: u64, access: Access, errno: Errno) -> VerbsError {
    let device = device.to_owned();
    match errno {
        Errno::NOMEM | Errno::AGAIN => {
            VerbsError::MemoryLock { device, needed: len, errno, memory: LockedMemory::now() }
        }
        _ => VerbsError::Register { device, address, len, access: access.to_string(), errno },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_a_set_with_names() {
        let access = Access::LOCAL_WRITE | Access::REMOTE_READ;
        assert!(access.contains(Access::REMOTE_READ) && !access.contains(Access::REMOTE_WRITE));
        assert_eq!(access.to_string(), "local read, local write, remote read");
        assert_eq!(Access::ALL.to_raw(), 15);
    }

    #[test]
    fn lack_of_lockable_memory_is_told_from_other_failures() {
        for errno in [Errno::NOMEM, Errno::AGAIN] {
            let error = register_error("hrn5_1", 0x1000, 5 << 30, Access::ALL, errno);
            let VerbsError::MemoryLock { needed, .. } = &error else { panic!("{error}") };
            assert_eq!(*needed, 5 << 30);
            assert!(
                error.to_string().starts_with("hrn5_1 cannot register 5368709120 bytes of memory: "),
                "{error}"
            );
        }
        let text = register_error("hrn5_1", 0x1000, 64, Access::ALL, Errno::INVAL).to_string();
        assert!(text.contains("64 bytes at 0x1000 for local read, local write, remote write"), "{text}");
    }
}
