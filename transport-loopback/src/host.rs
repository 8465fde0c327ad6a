//! What this host has, and how it is known from others.

use std::hash::{DefaultHasher, Hash, Hasher};

use transport_core::heap::SymHeap;

use crate::error::LoopbackError;

/// Checks a heap's size against the limits of the library and the memory of the machine.
///
/// Heaps are virtual until touched, so that the heaps of all PEs together may well exceed the memory; a single one that
/// does can never be used, and is a slip.
pub(crate) fn check_heap_size(my_pe: usize, size: u64) -> Result<(), LoopbackError> {
    if !(SymHeap::MIN_SIZE..=SymHeap::MAX_SIZE).contains(&size) {
        return Err(LoopbackError::HeapSize { my_pe, size });
    }
    let info = rustix::system::sysinfo();
    let machine =
        (info.totalram.saturating_add(info.totalswap)).saturating_mul(u64::from(info.mem_unit.max(1)));
    let limits = [(machine, "RAM and swap"), (cgroup_limit(), "the memory limit of its control group")];
    for (available, limit) in limits {
        if size > available {
            return Err(LoopbackError::HeapLargerThanMemory { my_pe, size, available, limit });
        }
    }
    Ok(())
}

/// The limit that a container sets, if it can be read and is one.
fn cgroup_limit() -> u64 {
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let text = files.iter().find_map(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX)
}

/// A name that all processes of one boot of one host share.
pub(crate) fn host_name() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if boot.trim().is_empty() {
        return rustix::system::uname().nodename().to_string_lossy().into_owned();
    }
    boot.trim().to_owned()
}

/// A number made of what names a job, by which slices of other jobs are recognised.
pub(crate) fn job_seed(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() as u32
}
