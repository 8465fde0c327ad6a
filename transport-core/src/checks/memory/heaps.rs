//! The heaps against the memory that there is, and that is free.

use super::about;
use super::meminfo::bytes_of;
use crate::checks::Section;
use crate::checks::control_group::{self, Read};
use crate::config::{ByteSize, MIN_HEAP_SIZE};

/// The heaps of a job on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heaps {
    /// Bytes of each.
    pub(super) each: u64,
    /// How many there are.
    pub(super) pes: u64,
}

impl Heaps {
    fn bytes(self) -> u64 {
        self.each.saturating_mul(self.pes)
    }

    fn text(self) -> String {
        let each = ByteSize::new(self.each);
        match self.pes {
            1 => format!("the heap of {each}"),
            pes => format!("the heaps of {pes} PEs, {each} each,"),
        }
    }

    /// What goes with [`text`](Self::text).
    fn verb(self, plural: &str) -> String {
        if self.pes == 1 { format!("{plural}s") } else { plural.to_owned() }
    }

    /// What to type so that all of them take no more than nine tenths of `limit` bytes.
    fn fit(self, limit: u64) -> String {
        let each = (limit / 10 * 9).checked_div(self.pes).unwrap_or(limit);
        match each {
            mib if mib >= 1 << 20 => format!("export SHMEM_HEAP_SIZE={}M", mib >> 20),
            kib if kib >= MIN_HEAP_SIZE.bytes() => format!("export SHMEM_HEAP_SIZE={}K", kib >> 10),
            // Not even the smallest: something else has it.
            _ => "free -m; ps -eo pid,rss,comm --sort=-rss | head".to_owned(),
        }
    }
}

/// What memory there is, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// The most there can be, with what says so.
    pub(super) limits: Vec<(u64, String)>,
    /// What is free or can be freed at once, with what says so.
    pub(super) available: Vec<(u64, String)>,
    /// What may still be promised, if the kernel promises no more than it has.
    pub(super) promises_left: Option<u64>,
}

impl Memory {
    pub(super) fn of_this_process(read: Read<'_>) -> Self {
        let mut memory = Self::new(read);
        let known = crate::host::memory_limits().map(|(bytes, what)| (bytes, what.to_owned()));
        memory.limits.extend(known);
        memory
    }

    fn new(read: Read<'_>) -> Self {
        let groups = control_group::memory_limits(read);
        let meminfo = read("/proc/meminfo".as_ref()).unwrap_or_default();
        let free = bytes_of(&meminfo, "MemAvailable").map(|bytes| (bytes, "MemAvailable".to_owned()));
        let strict = read("/proc/sys/vm/overcommit_memory".as_ref()).is_some_and(|mode| mode.trim() == "2");
        let promises_left =
            || Some(bytes_of(&meminfo, "CommitLimit")?.saturating_sub(bytes_of(&meminfo, "Committed_AS")?));
        let named = |bytes, group: &control_group::MemoryLimit| (bytes, group.file.display().to_string());
        Self {
            limits: groups.iter().map(|group| named(group.limit, group)).collect(),
            available: free
                .into_iter()
                .chain(groups.iter().map(|group| named(group.left(), group)))
                .collect(),
            promises_left: strict.then(promises_left).flatten(),
        }
    }
}

pub(super) fn judge(section: &mut Section, heaps: Heaps, memory: &Memory) {
    let (total, text) = (heaps.bytes(), heaps.text());
    let limit = memory.limits.iter().min();
    match limit {
        Some((limit, by)) if total > *limit => section.fail(
            "heap",
            format!(
                "{text} {} {}, more than the {} by {by}",
                heaps.verb("need"),
                about(total),
                about(*limit)
            ),
            heaps.fit(*limit),
        ),
        Some((limit, by)) => {
            section.ok("heap", format!("{text} {} into {} by {by}", heaps.verb("fit"), about(*limit)))
        }
        None => section.ok("heap", format!("{text}; this host does not say what memory it has")),
    }
    match memory.available.iter().min() {
        Some((left, by)) if total > *left => section.warn(
            "available",
            format!(
                "{text} {} {}, and {} are free at the moment by {by}: when more is touched, the system swaps or kills",
                heaps.verb("need"),
                about(total),
                about(*left)
            ),
            heaps.fit(*left),
        ),
        Some((left, by)) => section.ok("available", format!("{} are free at the moment by {by}", about(*left))),
        None => section.ok("available", "this host does not say how much memory is free at the moment"),
    }
    if let Some(left) = memory.promises_left {
        judge_promises(section, heaps, left);
    }
}

fn judge_promises(section: &mut Section, heaps: Heaps, left: u64) {
    let strict = "vm.overcommit_memory is 2, so the system promises no more memory than it has";
    if heaps.bytes() > left {
        section.warn(
            "overcommit",
            format!(
                "{strict}: {} are left to promise, and {} {} {}. A heap may be refused, or end its process when touched",
                about(left),
                heaps.text(),
                heaps.verb("need"),
                about(heaps.bytes())
            ),
            "sudo sysctl vm.overcommit_memory=0",
        );
    } else {
        section.ok("overcommit", format!("{strict}: {} are left to promise", about(left)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::control_group::tests::files;
    use crate::checks::{Finding, Level};

    fn judged(each: u64, pes: u64, memory: &Memory) -> Vec<Finding> {
        let mut section = Section::new("memory", "Memory");
        judge(&mut section, Heaps { each, pes }, memory);
        section.findings
    }

    fn memory(limit: u64, available: u64) -> Memory {
        let limits = vec![(limit, "RAM and swap".into()), (u64::MAX, "nothing".into())];
        Memory { limits, available: vec![(available, "MemAvailable".into())], promises_left: None }
    }

    #[test]
    fn more_than_there_is_fails_and_more_than_is_free_warns() {
        let levels = |findings: &[Finding]| findings.iter().map(|f| (f.id, f.level)).collect::<Vec<_>>();
        let fits = judged(1 << 20, 4, &memory(4 << 20, 4 << 20));
        assert_eq!(levels(&fits), [("heap", Level::Ok), ("available", Level::Ok)]);
        assert_eq!(fits[0].what, "the heaps of 4 PEs, 1 MiB each, fit into 4 MiB by RAM and swap");
        let tight = judged(100 << 20, 4, &memory(400 << 20, 300 << 20));
        assert_eq!(levels(&tight), [("heap", Level::Ok), ("available", Level::Warn)]);
        assert_eq!(tight[1].remedy.as_deref(), Some("export SHMEM_HEAP_SIZE=67M"));
        let large = judged(1 << 30, 2, &memory(1 << 30, 1 << 30));
        assert_eq!(levels(&large), [("heap", Level::Fail), ("available", Level::Warn)]);
        let what = "the heaps of 2 PEs, 1 GiB each, need 2 GiB, more than the 1 GiB by RAM and swap";
        assert_eq!(
            (large[0].what.as_str(), large[0].remedy.as_deref()),
            (what, Some("export SHMEM_HEAP_SIZE=460M"))
        );
    }

    #[test]
    fn one_heap_reads_well_too() {
        let one = judged(2 << 30, 1, &memory(1 << 30, 1 << 20));
        assert_eq!(one[0].what, "the heap of 2 GiB needs 2 GiB, more than the 1 GiB by RAM and swap");
        let fits = judged(1 << 20, 1, &memory(1 << 30, 1 << 30));
        assert_eq!(fits[0].what, "the heap of 1 MiB fits into 1 GiB by RAM and swap");
    }

    #[test]
    fn the_remedy_is_a_size_that_fits_or_a_look_at_who_has_the_memory() {
        let fit = |pes, limit| Heaps { each: 1 << 30, pes }.fit(limit);
        assert_eq!(fit(1, 1 << 20), "export SHMEM_HEAP_SIZE=921K");
        assert_eq!(fit(16, 1 << 20), "free -m; ps -eo pid,rss,comm --sort=-rss | head");
        assert_eq!(fit(0, 2 << 20), "export SHMEM_HEAP_SIZE=2M");
        for (pes, limit) in [(3, 1 << 32), (1, u64::MAX), (7, 100 << 20)] {
            let size = fit(pes, limit).replace("export SHMEM_HEAP_SIZE=", "").parse::<ByteSize>().unwrap();
            assert!(size.bytes().checked_mul(pes).is_some_and(|total| total <= limit));
        }
    }

    #[test]
    fn a_host_that_promises_no_more_than_it_has_is_told_of() {
        let strict = |left| Memory { promises_left: Some(left), ..memory(u64::MAX, u64::MAX) };
        let (good, bad) = (judged(1 << 20, 1, &strict(1 << 30)), judged(1 << 20, 2, &strict(1 << 20)));
        assert_eq!((good[2].id, good[2].level), ("overcommit", Level::Ok));
        assert_eq!(
            (bad[2].level, bad[2].remedy.as_deref()),
            (Level::Warn, Some("sudo sysctl vm.overcommit_memory=0"))
        );
    }

    #[test]
    fn a_host_that_says_nothing_is_no_failure() {
        let findings = judged(u64::MAX, u64::MAX, &Memory::new(&files(&[])));
        assert!(findings.len() == 2 && findings.iter().all(|finding| finding.level == Level::Ok));
    }

    #[test]
    fn the_files_are_read() {
        let host = [
            ("/proc/meminfo", "MemAvailable: 4096 kB\nCommitLimit: 10 kB\nCommitted_AS: 4 kB\n"),
            ("/proc/sys/vm/overcommit_memory", "2\n"),
            ("/proc/self/cgroup", "0::/\n"),
            ("/proc/self/mountinfo", "1 2 0:3 / /cg rw - cgroup2 cgroup2 rw\n"),
            ("/cg/memory.max", "1000\n"),
            ("/cg/memory.current", "400\n"),
        ];
        let memory = Memory::new(&files(&host));
        assert_eq!(memory.limits, [(1000, "/cg/memory.max".to_owned())]);
        assert_eq!(memory.available[0], (4 << 20, "MemAvailable".to_owned()));
        assert_eq!(memory.available[1], (600, "/cg/memory.max".to_owned()));
        assert_eq!(memory.promises_left, Some(6 << 10));
        let host = [("/proc/meminfo", "CommitLimit: 10 kB\n"), ("/proc/sys/vm/overcommit_memory", "2\n")];
        assert_eq!(Memory::new(&files(&host)).promises_left, None);
    }
}
