//! Mappings give back all their addresses. The only test of its process: it counts the mappings of the process.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

use std::fs::read_to_string;
use std::os::fd::AsFd;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use transport_core::memory::Region;

/// How many mappings the process has, and bytes of addresses in KiB.
fn mappings() -> (usize, u64) {
    let status = read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kib = size.trim().trim_end_matches(" kB").parse().unwrap();
    (read_to_string("/proc/self/maps").unwrap().lines().count(), kib)
}

#[test]
fn mappings_that_end_leave_no_addresses_behind() {
    const LENGTHS: [usize; 6] = [1, 4095, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20];
    let files = LENGTHS.map(|len| {
        let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, len as u64).unwrap();
        (len, file)
    });
    let round = || {
        let held: Vec<_> = files
            .iter()
            .flat_map(|(len, file)| {
                // SAFETY: the file has this length, and nobody else has it.
                let shared = unsafe { Region::map_shared(file.as_fd(), *len) };
                [Region::map_private(*len), Region::map_for_nic(*len), shared].map(Result::unwrap)
            })
            .collect();
        held.iter().for_each(|region| region.write(0, &[1]));
        mappings()
    };
    // What the process allocates once, it has allocated after this.
    let (first, before) = (round(), mappings());
    assert!(first > before, "{first:?} {before:?}");
    for _ in 0..200 {
        assert_eq!(round(), first);
    }
    assert_eq!(mappings(), before);
}
