//! Whether the kernel gives huge pages to heaps.

use std::path::Path;

use super::Section;
use super::control_group::{Read, read};
use crate::config::ByteSize;
use crate::memory::huge_page;

const DIRECTORY: &str = "/sys/kernel/mm/transparent_hugepage";

/// What a heap is to the kernel, which has a switch for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapMemory {
    /// A file in memory, shared by processes.
    Shared,
    /// Memory of one process, which a NIC reads and writes.
    Private,
}

impl HeapMemory {
    /// The switch's name, and what to set it to so that those get huge pages who ask for them.
    const fn switch(self) -> (&'static str, &'static str) {
        match self {
            Self::Shared => ("shmem_enabled", "advise"),
            Self::Private => ("enabled", "madvise"),
        }
    }
}

/// Adds whether heaps get huge pages, and what to type if not. That is never worse than `ok`: a job runs without them.
pub fn huge_pages(section: &mut Section, heap: HeapMemory) {
    section.ok("huge-pages", what(heap, huge_page(), &read));
}

fn what(heap: HeapMemory, huge_page: Option<usize>, read: Read<'_>) -> String {
    let Some(huge_page) = huge_page else {
        return "no huge pages are asked for: on a kernel whose pages are larger than 4 KiB they are too large".into();
    };
    let (name, asked) = heap.switch();
    let file = format!("{DIRECTORY}/{name}");
    let Some(chosen) = chosen(read, &file) else {
        return format!("this kernel has no huge pages for heaps ({file} is not there)");
    };
    // A switch of this size alone goes before that of all sizes, unless it says `inherit`.
    let own = format!("{DIRECTORY}/hugepages-{}kB/{name}", huge_page >> 10);
    let own = self::chosen(read, &own).filter(|chosen| chosen != "inherit").map(|chosen| (own, chosen));
    let (file, chosen) = own.unwrap_or((file, chosen));
    let size = ByteSize::new(huge_page as u64);
    if matches!(chosen.as_str(), "never" | "deny") {
        format!(
            "heaps get no huge pages ({file} is {chosen}); those of {size} and more would by \
             `echo {asked} | sudo tee {file}`"
        )
    } else {
        format!("heaps of {size} and more get huge pages ({file} is {chosen})")
    }
}

/// The word in brackets, of those that could be chosen.
fn chosen(read: Read<'_>, file: &str) -> Option<String> {
    let text = read(Path::new(file))?;
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Level;

    /// What is said of a shared heap where the switches of all sizes and of huge pages say this.
    fn said(all: &str, own: &str) -> String {
        let read = |file: &Path| match file.strip_prefix(DIRECTORY).unwrap().to_str().unwrap() {
            "shmem_enabled" => Some(all.to_owned()).filter(|text| !text.is_empty()),
            "hugepages-2048kB/shmem_enabled" => Some(own.to_owned()).filter(|text| !text.is_empty()),
            other => panic!("{other}"),
        };
        what(HeapMemory::Shared, Some(2 << 20), &read)
    }

    #[test]
    fn who_gets_none_is_told_what_to_type() {
        let inherit = "always [inherit] within_size advise never\n";
        for (all, own, file) in [
            ("always within_size advise [never] deny force\n", "", "shmem_enabled"),
            ("always within_size advise never [deny] force\n", inherit, "shmem_enabled"),
            ("[always] never", "always inherit advise [never]", "hugepages-2048kB/shmem_enabled"),
        ] {
            let said = said(all, own);
            let command = format!("would by `echo advise | sudo tee {DIRECTORY}/{file}`");
            assert!(said.contains("no huge pages") && said.ends_with(&command), "{said}");
        }
    }

    #[test]
    fn who_gets_them_is_told_by_which_switch() {
        for (all, own, by) in [
            (
                "always within_size [advise] never deny force",
                "always [inherit] never",
                "/shmem_enabled is advise",
            ),
            ("[always] within_size advise never deny force", "", "/shmem_enabled is always"),
            ("always [never]", "[advise] inherit never", "/hugepages-2048kB/shmem_enabled is advise"),
        ] {
            let said = said(all, own);
            assert!(
                said.starts_with("heaps of 2 MiB and more get huge pages") && said.contains(by),
                "{said}"
            );
        }
    }

    #[test]
    fn a_kernel_without_them_or_with_other_pages_says_so() {
        for all in ["", "nonsense"] {
            assert!(said(all, "").contains("has no huge pages"), "{all}");
        }
        let said = what(HeapMemory::Private, None, &|file| panic!("{file:?}"));
        assert!(said.contains("larger than 4 KiB"), "{said}");
    }

    #[test]
    fn on_this_host_it_is_a_note() {
        for heap in [HeapMemory::Shared, HeapMemory::Private] {
            let mut section = Section::new("loopback", "Loopback");
            huge_pages(&mut section, heap);
            let found: Vec<_> = section.findings.iter().map(|finding| (finding.id, finding.level)).collect();
            assert_eq!(found, [("huge-pages", Level::Ok)]);
        }
    }
}
