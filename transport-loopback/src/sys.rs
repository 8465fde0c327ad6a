//! The system calls: memory that is mapped, and the futex. The only module with raw memory in this crate.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use transport_core::memory::Region;

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

/// Zeroed memory of this process alone; pages cost memory when touched.
pub(crate) fn private_memory(len: usize) -> io::Result<Region> {
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let base = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, prot, flags)? };
    region(base, len)
}

/// Maps all of `fd`, shared with whoever else maps it.
pub(crate) fn shared_memory(fd: BorrowedFd<'_>, len: usize) -> io::Result<Region> {
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
    // SAFETY: as in `private_memory`. The file's size is sealed, so the pages stay.
    let base = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, prot, flags, fd, 0)? };
    region(base, len)
}

/// A file in memory without a name anywhere, of a size that nobody can change: it is gone with the last process.
pub(crate) fn sealed_memory_file(name: &str, len: u64) -> io::Result<OwnedFd> {
    // Past this limit the system does not answer with an error but kills the process.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if let Some(limit) = limit.filter(|&limit| limit < len) {
        return Err(io::Error::other(format!(
            "the limit of a file's size is {limit} bytes (`ulimit -f`); raise it"
        )));
    }
    let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&fd, len)?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(fd)
}

/// Checks that `fd` is such a file of `len` bytes, so that mapping it is sound whoever sent it.
pub(crate) fn check_memory_file(fd: impl AsFd, len: u64) -> io::Result<()> {
    let sealed = SealFlags::SHRINK | SealFlags::GROW;
    if !rustix::fs::fcntl_get_seals(&fd)?.contains(sealed) {
        return Err(io::Error::other("the memory file is not sealed"));
    }
    let size = rustix::fs::fstat(&fd)?.st_size;
    if u64::try_from(size) != Ok(len) {
        return Err(io::Error::other(format!("the memory file has {size} bytes, not {len}")));
    }
    Ok(())
}

/// Sleeps while `word` is `value`, at most `limit`; may end early. Works across processes.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, limit: Duration) {
    let limit = rustix::time::Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    // Woken, changed, interrupted, timed out: the caller looks again in each case.
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&limit));
}

/// Wakes all that sleep on `word`.
pub(crate) fn futex_wake_all(word: &AtomicU32) {
    // It can only fail for an address that is not mapped.
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}
