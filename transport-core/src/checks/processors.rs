//! Whether the PEs of this host have CPUs to run on.

use super::Section;
use super::control_group::{self, CpuQuota, Read};

/// So many PEs may share a CPU: waits give it to others and sleep. Beyond, a barrier is mostly switching between PEs.
const MOST_ON_A_CPU: u64 = 8;

/// What there is to run on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Processors {
    /// CPUs that this process may run on.
    allowed: u64,
    /// The share of their time, if it is limited.
    quota: Option<CpuQuota>,
}

/// Compares the CPUs that this process may use (its affinity, and the quota of its control groups) with `pes_here`, the
/// number of PEs of the job on this host.
#[must_use]
pub fn processors(pes_here: usize) -> Section {
    let mut section = Section::new("processors", "Processors");
    judge(&mut section, &Processors::of_this_process(), pes_here);
    section
}

impl Processors {
    fn of_this_process() -> Self {
        let affinity = rustix::thread::sched_getaffinity(None).ok().map(|set| u64::from(set.count()));
        Self::new(affinity, &control_group::read)
    }

    /// `affinity` is `None` where there are more CPUs than the call has room for.
    fn new(affinity: Option<u64>, read: Read<'_>) -> Self {
        let listed = || count_in_status(&read("/proc/self/status".as_ref())?);
        let parallel = || std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let allowed = affinity.filter(|&count| count > 0).or_else(listed).unwrap_or_else(parallel);
        Self { allowed, quota: control_group::cpu_quota(read) }
    }

    /// Thousandths of a CPU that can be used at a time.
    fn milli_cpus(&self) -> u64 {
        let all = self.allowed.saturating_mul(1000);
        self.quota.as_ref().map_or(all, |quota| all.min(quota.milli_cpus.max(1)))
    }
}

/// How many CPUs `Cpus_allowed_list` of `/proc/self/status` names, as in `0-3,8`.
fn count_in_status(status: &str) -> Option<u64> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.split(',').try_fold(0u64, |sum, range| sum.checked_add(count(range)?)).filter(|&count| count > 0)
}

fn judge(section: &mut Section, processors: &Processors, pes_here: usize) {
    let (pes, allowed) = (pes_here as u64, processors.allowed);
    let usable = processors.milli_cpus();
    let needed = pes.saturating_mul(1000);
    let mut have = format!("{allowed} {}", if allowed == 1 { "CPU" } else { "CPUs" });
    let mut look = "nproc; taskset -p $$".to_owned();
    if let Some(quota) = processors.quota.as_ref().filter(|_| usable < allowed.saturating_mul(1000)) {
        let (whole, thousandths) = (usable / 1000, usable % 1000);
        have = format!("the time of {whole}.{thousandths:03} of {have} ({})", quota.file.display());
        look = format!("nproc; cat {}", quota.file.display());
    }
    let pes_text = if pes == 1 { "1 PE".to_owned() } else { format!("{pes} PEs") };
    if needed <= usable {
        section.ok("cpus", format!("{have} for {pes_text} of this host"));
    } else if needed <= usable.saturating_mul(MOST_ON_A_CPU) {
        section.ok(
            "cpus",
            format!(
                "{have} for {pes_text} of this host: PEs that wait give their CPU to the others, and sleep. Times are not \
                 those of a PE with a CPU of its own"
            ),
        );
    } else {
        section.warn(
            "cpus",
            format!(
                "{have} for {pes_text} of this host, more than {MOST_ON_A_CPU} on each CPU: most of the time goes into \
                 switching between them. Let the process use more CPUs, or start fewer PEs"
            ),
            look,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::control_group::tests::files;
    use super::*;
    use crate::checks::Level;

    fn judged(allowed: u64, milli_cpus: Option<u64>, pes: usize) -> (Level, String, Option<String>) {
        let quota = milli_cpus.map(|milli_cpus| CpuQuota { milli_cpus, file: "/cg/cpu.max".into() });
        let mut section = Section::new("processors", "Processors");
        judge(&mut section, &Processors { allowed, quota }, pes);
        let finding = section.findings.remove(0);
        assert_eq!((finding.id, section.findings.len()), ("cpus", 0));
        (finding.level, finding.what, finding.remedy)
    }

    #[test]
    fn up_to_eight_pes_share_a_cpu() {
        assert_eq!(judged(1, None, 1), (Level::Ok, "1 CPU for 1 PE of this host".into(), None));
        assert_eq!(judged(4, None, 0).0, Level::Ok);
        let (level, what, _) = judged(2, None, 16);
        assert!(level == Level::Ok && what.contains("2 CPUs for 16 PEs") && what.contains("sleep"), "{what}");
        let (level, what, remedy) = judged(2, None, 17);
        assert!(level == Level::Warn && what.contains("more than 8"), "{what}");
        assert_eq!(remedy.as_deref(), Some("nproc; taskset -p $$"));
        assert_eq!(judged(u64::MAX, None, usize::MAX).0, Level::Ok);
    }

    #[test]
    fn a_quota_counts_if_it_is_below_the_cpus() {
        let (level, what, remedy) = judged(4, Some(250), 4);
        assert!(level == Level::Warn && what.contains("0.250 of 4 CPUs (/cg/cpu.max)"), "{what}");
        assert_eq!(remedy.as_deref(), Some("nproc; cat /cg/cpu.max"));
        assert_eq!(judged(4, Some(2000), 4).0, Level::Ok);
        assert_eq!(judged(4, Some(9000), 4).1, "4 CPUs for 4 PEs of this host");
        assert_eq!(judged(4, Some(0), 1).0, Level::Warn);
    }

    #[test]
    fn the_list_of_cpus_is_counted_and_rubbish_is_none() {
        for (text, expected) in [
            ("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n", Some(5)),
            ("Cpus_allowed_list:\t7", Some(1)),
            ("Cpus_allowed_list:\t\n", None),
            ("Cpus_allowed_list:\t3-1\n", None),
            ("Cpus_allowed_list:\t0-18446744073709551615\n", None),
            ("Cpus_allowed_list:\t0-18446744073709551614,1\n", None),
            ("Cpus_allowed_list:\ta-b\n", None),
            ("", None),
        ] {
            assert_eq!(count_in_status(text), expected, "{text:?}");
        }
        let host = [("/proc/self/status", "Cpus_allowed_list:\t0-2047\n")];
        assert_eq!(Processors::new(None, &files(&host)).allowed, 2048);
        assert_eq!(Processors::new(Some(3), &files(&host)).allowed, 3);
        assert!(Processors::new(Some(0), &files(&[])).allowed > 0);
    }

    #[test]
    fn this_host_has_some() {
        let section = processors(1);
        assert_eq!((section.id, section.findings.len()), ("processors", 1));
        assert!(Processors::of_this_process().allowed > 0);
    }
}
