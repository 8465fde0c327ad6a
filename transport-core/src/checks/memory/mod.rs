//! Whether there is memory for the heaps of the PEs of this host.

mod dev_shm;
mod heaps;
mod meminfo;

use super::Section;
use super::container::Signs;
use super::control_group;
use crate::config::ByteSize;

/// Compares heaps of `heap_bytes` bytes each, of `pes_here` PEs on this host, with its memory, with the limits of this
/// process' control groups, and with what is free at the moment; and looks at `/dev/shm`, which this library leaves alone
/// and others of a job do not.
///
/// Heaps that are larger together than any memory fail. A backend with a NIC pins them all; over shared memory they are
/// virtual until touched, so that such a job runs as long as it leaves most of them alone: there a caller may take the
/// section [`at_most_warn`](Section::at_most_warn).
#[must_use]
pub fn memory(heap_bytes: u64, pes_here: usize) -> Section {
    let mut section = Section::new("memory", "Memory");
    let heaps = heaps::Heaps { each: heap_bytes, pes: pes_here as u64 };
    heaps::judge(&mut section, heaps, &heaps::Memory::of_this_process(&control_group::read));
    dev_shm::judge(&mut section, dev_shm::DevShm::of_this_host(), heaps.pes, &Signs::of_this_process());
    section
}

/// A measured number of bytes for people: whole MiB where it has any.
fn about(bytes: u64) -> ByteSize {
    let mib = bytes >> 20 << 20;
    ByteSize::new(if mib == 0 { bytes } else { mib })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_room_for_a_small_heap_and_none_for_the_largest() {
        use crate::checks::Level;
        let level = |section: &Section, id| section.findings.iter().find(|f| f.id == id).map(|f| f.level);
        let small = memory(64 << 10, 1);
        assert_eq!((small.id, level(&small, "heap")), ("memory", Some(Level::Ok)));
        assert!(level(&small, "dev-shm").is_some());
        assert_eq!(level(&memory(u64::MAX, usize::MAX), "heap"), Some(Level::Fail));
        assert_eq!(level(&memory(0, 0), "heap"), Some(Level::Ok));
    }

    #[test]
    fn measured_sizes_are_short() {
        assert_eq!(about((5 << 20) + 1).to_string(), "5 MiB");
        assert_eq!(about(1025).to_string(), "1025 B");
    }
}
