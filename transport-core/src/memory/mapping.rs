//! Regions that the system maps.

use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::region::Region;

/// A mapping, unmapped when dropped.
struct Mapping {
    base: NonNull<c_void>,
    len: usize,
}

// SAFETY: the pointer is only used to unmap, once; what it points to is governed by `Region`.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by this module with this length, and nobody holds the region any more: it keeps us alive.
        if let Err(error) = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.len) } {
            tracing::warn!(%error, len = self.len, "munmap failed");
        }
    }
}

fn region(base: *mut c_void, len: usize) -> io::Result<Region> {
    let base = NonNull::new(base).ok_or_else(|| io::Error::other("mmap gave the null page"))?;
    let keeper = Arc::new(Mapping { base, len });
    // SAFETY: freshly mapped, zeroed by the kernel or written by peers as bytes, readable and writable, `len` long, kept
    // mapped by the keeper; nothing but regions and the kernel knows of it.
    Ok(unsafe { Region::new(base.cast(), len, keeper) })
}

impl Region {
    /// Zeroed memory of this process alone, on whole pages, which cost memory when touched.
    ///
    /// # Errors
    ///
    /// The system's word if there are no addresses for it, or `len` is 0.
    pub fn map_private(len: usize) -> io::Result<Self> {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let base = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, prot, flags)? };
        region(base, len)
    }

    /// As [`map_private`](Self::map_private), for a NIC to write to: a child that this process forks does not get it. Else
    /// the first write after a fork could give this process a copy of a page, while the NIC goes on with the other.
    ///
    /// # Errors
    ///
    /// As `map_private`.
    pub fn map_for_nic(len: usize) -> io::Result<Self> {
        let region = Self::map_private(len)?;
        let base = region.at(0, len as u64);
        // SAFETY: the whole of a private mapping of ours; the advice only concerns processes that are forked later.
        unsafe { rustix::mm::madvise(base.cast(), len, Advice::LinuxDontFork)? };
        Ok(region)
    }

    /// Maps all of `fd`, shared with whoever else maps it.
    ///
    /// # Errors
    ///
    /// The system's word.
    ///
    /// # Safety
    ///
    /// The file has `len` bytes and never fewer (it is sealed, say): a page that is gone would end the process.
    pub unsafe fn map_shared(fd: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use; the caller answers for the file.
        let base = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, prot, flags, fd, 0)? };
        region(base, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_zero_and_can_be_written_to_its_end() {
        for map in [Region::map_private, Region::map_for_nic] {
            let region = map(5000).unwrap();
            assert_eq!((region.len(), region.load(4992)), (5000, 0));
            region.write(4999, &[7]);
            let mut last = [0];
            region.read(4999, &mut last);
            assert_eq!(last, [7]);
        }
        assert!(Region::map_private(0).is_err());
        assert!(Region::map_private(usize::MAX / 2).is_err());
    }
}
