//! Regions that the system maps.

use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::region::Region;

/// How often to look for an aligned address before any will do.
const TRIES: usize = 4;
const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Bytes of a huge page; `None` if none are asked for. On a kernel whose pages have 16 or 64 KiB a huge page has 32 or 512 MiB,
/// and each word that is touched might cost all that.
pub(crate) fn huge_page() -> Option<usize> {
    (rustix::param::page_size() == 4 << 10).then_some(2 << 20)
}

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
        // SAFETY: mapped by this module with this length, and no region is over it any more: it would keep us alive.
        if let Err(error) = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.len) } {
            tracing::warn!(%error, len = self.len, "munmap failed");
        }
    }
}

impl Mapping {
    /// A new one of `len` bytes: of `file` from its start, shared; or of zeroes, private. It is at `hint` if nothing is
    /// there, else where the system likes.
    fn new(hint: *mut c_void, len: usize, prot: ProtFlags, file: Option<BorrowedFd<'_>>) -> io::Result<Self> {
        let base = match file {
            Some(file) => {
                let flags = MapFlags::SHARED | MapFlags::NORESERVE;
                // SAFETY: without MAP_FIXED a new mapping touches no memory in use, whatever the hint.
                unsafe { rustix::mm::mmap(hint, len, prot, flags, file, 0)? }
            }
            None => {
                let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
                // SAFETY: as above.
                unsafe { rustix::mm::mmap_anonymous(hint, len, prot, flags)? }
            }
        };
        let base = NonNull::new(base).ok_or_else(|| io::Error::other("mmap gave the null page"))?;
        Ok(Self { base, len })
    }

    /// As [`new`](Self::new), readable and writable, for much of it to be used: in huge pages, where it is large enough for
    /// one and the kernel gives them.
    fn in_huge_pages(len: usize, file: Option<BorrowedFd<'_>>) -> io::Result<Self> {
        let Some(huge_page) = huge_page().filter(|&huge_page| len >= huge_page) else {
            return Self::new(ptr::null_mut(), len, READ_WRITE, file);
        };
        let mut tries = TRIES;
        let mapping = loop {
            let mapping = Self::new(free_multiple_of(huge_page, len), len, READ_WRITE, file)?;
            tries -= 1;
            // Else another thread has mapped something there in the meantime.
            if tries == 0 || mapping.base.addr().get().is_multiple_of(huge_page) {
                break mapping;
            }
        };
        mapping.advise(Advice::LinuxHugepage);
        Ok(mapping)
    }

    /// Tells the kernel what pages it wants. A kernel without huge pages refuses, and there is nothing to tell it then.
    fn advise(&self, pages: Advice) {
        // SAFETY: the whole of a mapping of ours; the advice changes no byte of it.
        if let Err(error) = unsafe { rustix::mm::madvise(self.base.as_ptr(), self.len, pages) } {
            tracing::debug!(%error, len = self.len, ?pages, "madvise failed");
        }
    }

    fn into_region(self) -> Region {
        let (base, len) = (self.base.cast(), self.len);
        // SAFETY: freshly mapped, zeroed by the kernel or written by peers as bytes, readable and writable, `len` long, kept
        // mapped by the keeper; nothing but regions and the kernel knows of it.
        unsafe { Region::new(base, len, Arc::new(self)) }
    }
}

/// A multiple of `align` from which `len` bytes are free at the moment. Null if there is none.
///
/// It is found by mapping so many bytes that one is among them, and giving them back. So the mapping proper needs no
/// MAP_FIXED, which would unmap what it finds, and there is nothing to trim.
fn free_multiple_of(align: usize, len: usize) -> *mut c_void {
    let free = len.checked_add(align).ok_or(io::ErrorKind::OutOfMemory.into());
    let free = free.and_then(|len| Mapping::new(ptr::null_mut(), len, ProtFlags::empty(), None));
    free.map_or(ptr::null_mut(), |free| {
        ptr::without_provenance_mut(free.base.addr().get().next_multiple_of(align))
    })
}

impl Region {
    /// Zeroed memory of this process alone, on whole pages, which cost memory when touched. They are small ones, whatever the
    /// system does by default: of memory like this little is touched.
    ///
    /// # Errors
    ///
    /// The system's word if there are no addresses for it, or `len` is 0.
    pub fn map_private(len: usize) -> io::Result<Self> {
        let mapping = Mapping::new(ptr::null_mut(), len, READ_WRITE, None)?;
        if huge_page().is_some_and(|huge_page| len >= huge_page) {
            mapping.advise(Advice::LinuxNoHugepage);
        }
        Ok(mapping.into_region())
    }

    /// As [`map_private`](Self::map_private), for a NIC to write to: a child that this process forks does not get it. Else
    /// the first write after a fork could give this process a copy of a page, while the NIC goes on with the other.
    ///
    /// The NIC pins all of it anyway, so it is in huge pages where the kernel gives them.
    ///
    /// # Errors
    ///
    /// As `map_private`.
    pub fn map_for_nic(len: usize) -> io::Result<Self> {
        let mapping = Mapping::in_huge_pages(len, None)?;
        // SAFETY: the whole of a private mapping of ours; the advice only concerns processes that are forked later.
        unsafe { rustix::mm::madvise(mapping.base.as_ptr(), len, Advice::LinuxDontFork)? };
        Ok(mapping.into_region())
    }

    /// Maps all of `fd`, shared with whoever else maps it; in huge pages where the kernel gives them to such a file.
    ///
    /// # Errors
    ///
    /// The system's word.
    ///
    /// # Safety
    ///
    /// The file has `len` bytes and never fewer (it is sealed, say): a page that is gone would end the process.
    pub unsafe fn map_shared(fd: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        Mapping::in_huge_pages(len, Some(fd)).map(Mapping::into_region)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    use super::*;
    use crate::checks::{HeapMemory, Section, huge_pages};

    type Map = fn(usize) -> io::Result<Region>;

    fn map_file(len: usize) -> io::Result<Region> {
        let file = memfd_create("test", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, len as u64)?;
        // SAFETY: the file has this length, and nobody else has it.
        unsafe { Region::map_shared(file.as_fd(), len) }
    }

    fn address(region: &Region) -> usize {
        region.at(0, 1).addr()
    }

    /// What the kernel says under `key` of the mapping that `region` is in.
    fn of_mapping(region: &Region, key: &str) -> String {
        let (mut inside, address) = (false, address(region));
        for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            if let Some((from, to)) = first.split_once('-') {
                let [from, to] = [from, to].map(|hex| usize::from_str_radix(hex, 16).unwrap());
                inside = (from..to).contains(&address);
            } else if inside && first == key {
                return rest.trim().to_owned();
            }
        }
        panic!("no {key} of a mapping at {address:#x}");
    }

    #[test]
    fn a_mapping_is_zero_and_can_be_written_to_its_end() {
        for map in [Region::map_private, Region::map_for_nic, map_file] {
            for len in [5000, (4 << 20) + 5000] {
                let region = map(len).unwrap();
                assert_eq!((region.len(), region.load(len as u64 - 8)), (len, 0));
                region.write(len as u64 - 1, &[7]);
                let mut last = [0];
                region.read(len as u64 - 1, &mut last);
                assert_eq!(last, [7]);
            }
            assert!(map(0).is_err());
            assert!(map(usize::MAX / 2).is_err());
        }
        for len in [usize::MAX, usize::MAX - 4096, usize::MAX - (2 << 20)] {
            assert!(Region::map_for_nic(len).is_err());
        }
    }

    #[test]
    fn heaps_that_can_hold_a_huge_page_begin_at_one() {
        let Some(huge) = huge_page() else { return eprintln!("skipped: pages of this kernel are large") };
        for map in [Region::map_for_nic, map_file] {
            for len in [1, 4095, huge - 1, huge, huge + 1, 5 << 20] {
                // Several at once: one alone could be aligned by luck.
                for region in [(); 4].map(|()| map(len).unwrap()) {
                    assert!(len < huge || address(&region).is_multiple_of(huge), "{len} bytes");
                    assert_eq!(region.len(), len);
                }
            }
        }
    }

    #[test]
    fn the_kernel_is_told_who_wants_huge_pages() {
        if !std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap() {
            return eprintln!("skipped: this kernel has none");
        }
        let Some(huge) = huge_page() else { return eprintln!("skipped: pages of this kernel are large") };
        let flags = |map: Map, len| {
            let flags = of_mapping(&map(len).unwrap(), "VmFlags:");
            ["hg", "nh", "dc"].map(|flag| flags.split(' ').any(|other| other == flag))
        };
        assert_eq!(flags(Region::map_for_nic, huge), [true, false, true]);
        assert_eq!(flags(map_file, huge), [true, false, false]);
        assert_eq!(flags(map_file, huge - 1), [false, false, false]);
        assert_eq!(flags(Region::map_private, huge), [false, true, false]);
    }

    #[test]
    fn where_the_kernel_gives_huge_pages_a_heap_has_them() {
        let maps: [(HeapMemory, &str, Map); 2] = [
            (HeapMemory::Private, "AnonHugePages:", Region::map_for_nic),
            (HeapMemory::Shared, "ShmemPmdMapped:", map_file),
        ];
        for (heap, key, map) in maps {
            let mut section = Section::new("test", "Test");
            huge_pages(&mut section, heap);
            let said = &section.findings[0].what;
            if !said.contains("and more get huge pages") {
                eprintln!("skipped, {heap:?}: {said}");
                continue;
            }
            let region = map(16 << 20).unwrap();
            region.fill(0, 16 << 20, 1);
            assert!(!of_mapping(&region, key).starts_with("0 "), "{heap:?}: {said}");
        }
    }
}
