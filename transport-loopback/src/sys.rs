//! The system calls: the job's memory file, the futex, and a fence. The only module with `unsafe` in this crate.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(not(shmem_loom))]
use std::{sync::atomic::AtomicU32, time::Duration};

use rustix::fs::{MemfdFlags, SealFlags};
#[cfg(not(shmem_loom))]
use rustix::thread::futex;
use transport_core::memory::Region;

/// Maps all of `fd`, a file as [`sealed_memory_file`] makes them.
pub(crate) fn shared_memory(fd: BorrowedFd<'_>, len: usize) -> io::Result<Region> {
    check_memory_file(fd, len as u64)?;
    // SAFETY: it has this size, as was just checked, and is sealed, so the pages stay.
    unsafe { Region::map_shared(fd, len) }
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
#[cfg(not(shmem_loom))]
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, limit: Duration) {
    let limit = rustix::time::Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    // Woken, changed, interrupted, timed out: the caller looks again in each case.
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&limit));
}

/// Wakes all that sleep on `word`.
#[cfg(not(shmem_loom))]
pub(crate) fn futex_wake_all(word: &AtomicU32) {
    // It can only fail for an address that is not mapped.
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

/// A full fence, as `fence(SeqCst)` is, but not by `mfence`, which takes about twice as long as a locked instruction.
#[cfg(all(target_arch = "x86_64", not(miri), not(shmem_loom)))]
#[inline]
pub(crate) fn locked_fence() {
    // SAFETY: it writes what is there into the top word of this thread's own stack, in one step. It is taken to read and write
    // memory, so the compiler moves no access past it.
    unsafe { std::arch::asm!("lock or dword ptr [rsp], 0") }
}
