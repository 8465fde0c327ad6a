//! The limits that the shell or the service manager gave to this process.

use rustix::process::{Resource, getrlimit};

use super::Section;
use super::container::Signs;
use super::control_group;
use crate::config::ByteSize;

/// Open files that every PE gets along with, in a job of hundreds too: PE 0 keeps a connection to each PE.
const ENOUGH_FILES: u64 = 1024;
/// Open files of a launcher beside two pipes for each PE that it starts.
const LAUNCHER_FILES: u64 = 40;
/// Threads of a PE: the program's, the rendezvous', one that wakes futures, a stream's, and some for the program.
const TASKS_OF_A_PE: u64 = 8;

/// Limits; `None` where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Limits {
    /// Open files: what holds, and the most that this user may set.
    files: (Option<u64>, Option<u64>),
    /// Processes and threads of this user; none for root, whom the kernel exempts.
    processes: Option<u64>,
    /// Bytes of addresses.
    addresses: Option<u64>,
}

/// Looks at the limits of this process that the library can run into: open files, processes, and addresses for the
/// heaps, of `heap_bytes` bytes each if that is known, of `pes_here` PEs on this host.
#[must_use]
pub fn limits(heap_bytes: Option<u64>, pes_here: usize) -> Section {
    let mut section = Section::new("limits", "Limits of this process");
    let (limits, pes) = (Limits::of_this_process(), pes_here as u64);
    judge_files(&mut section, limits.files, pes);
    let tasks_left = control_group::tasks_left(&control_group::read);
    let tasks_left = tasks_left.map(|(left, file)| (left, file.display().to_string()));
    let in_container = Signs::of_this_process().of_container().is_some();
    judge_processes(&mut section, limits.processes, tasks_left, pes, in_container);
    judge_addresses(&mut section, limits.addresses, heap_bytes, pes);
    section
}

impl Limits {
    fn of_this_process() -> Self {
        let files = getrlimit(Resource::Nofile);
        let exempt = rustix::process::geteuid().is_root();
        Self {
            files: (files.current, files.maximum),
            processes: getrlimit(Resource::Nproc).current.filter(|_| !exempt),
            addresses: getrlimit(Resource::As).current,
        }
    }
}

fn judge_files(section: &mut Section, (soft, hard): (Option<u64>, Option<u64>), pes: u64) {
    const ID: &str = "open-files";
    let needed = pes.saturating_mul(2).saturating_add(LAUNCHER_FILES);
    let wanted = needed.max(ENOUGH_FILES);
    let Some(soft) = soft else {
        return section.ok(ID, "no limit of open files");
    };
    if hard.is_some_and(|hard| hard < wanted) {
        let remedy = format!("sudo prlimit --pid $$ --nofile={wanted}:{wanted}");
        let hard = hard.unwrap_or(soft);
        if hard < needed {
            let what = format!("at most {hard} open files (`ulimit -Hn`); {pes} PEs here need {needed}");
            return section.fail(ID, what, remedy);
        }
        let what =
            format!("{soft} open files, at most {hard} (`ulimit -Hn`); {wanted} are enough for any job");
        return section.warn(ID, what, remedy);
    }
    if soft < wanted {
        let what =
            format!("{soft} open files (`ulimit -n`): PE 0 keeps one for each PE; {wanted} are enough");
        section.warn(ID, what, format!("ulimit -n {wanted}"));
    } else {
        section.ok(ID, format!("{soft} open files"));
    }
}

fn judge_processes(
    section: &mut Section,
    user: Option<u64>,
    group: Option<(u64, String)>,
    pes: u64,
    in_container: bool,
) {
    const ID: &str = "processes";
    let needed = pes.saturating_mul(TASKS_OF_A_PE);
    if let Some((left, file)) = group.as_ref().filter(|(left, _)| *left < needed) {
        let what = format!("{left} more processes and threads by {file}; {pes} PEs here may take {needed}");
        let container = if in_container { "; docker run --pids-limit=-1 ..." } else { "" };
        let remedy = format!("cat {file}{container}");
        return section.warn(ID, what, remedy);
    }
    if let Some(limit) = user.filter(|&limit| limit < needed) {
        let what = format!(
            "{limit} processes and threads of this user (`ulimit -u`); {pes} PEs here may take {needed} beside all others"
        );
        return section.warn(ID, what, format!("sudo prlimit --pid $$ --nproc={0}:{0}", needed.max(4096)));
    }
    match (user, group) {
        (None, None) => section.ok(ID, "no limit of processes"),
        (Some(limit), None) => section.ok(ID, format!("{limit} processes and threads of this user")),
        (_, Some((left, file))) => section.ok(ID, format!("{left} more processes and threads by {file}")),
    }
}

fn judge_addresses(section: &mut Section, limit: Option<u64>, heap: Option<u64>, pes: u64) {
    const ID: &str = "addresses";
    let Some(limit) = limit else {
        return section.ok(ID, "no limit of addresses");
    };
    let heap = heap.unwrap_or(0);
    let all = heap.saturating_mul(pes);
    let (limit_text, heap_text) = (ByteSize::new(limit), ByteSize::new(heap));
    if heap >= limit {
        let what =
            format!("{limit_text} of addresses (`ulimit -v`), which leave no room for a heap of {heap_text}");
        section.fail(ID, what, "ulimit -v unlimited");
    } else if all >= limit {
        let what = format!(
            "{limit_text} of addresses (`ulimit -v`), less than {pes} heaps of {heap_text}: over shared memory each PE maps \
             them all"
        );
        section.warn(ID, what, "ulimit -v unlimited");
    } else {
        section.ok(ID, format!("{limit_text} of addresses"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{Finding, Level};

    fn judged(judge: impl FnOnce(&mut Section)) -> Finding {
        let mut section = Section::new("limits", "Limits");
        judge(&mut section);
        assert_eq!(section.findings.len(), 1);
        section.findings.remove(0)
    }

    #[test]
    fn open_files() {
        for (soft, hard, pes, level, remedy) in [
            (None, None, 1, Level::Ok, None),
            (Some(1024), Some(1024), 8, Level::Ok, None),
            (Some(256), None, 8, Level::Warn, Some("ulimit -n 1024")),
            (Some(1024), Some(4096), 1000, Level::Warn, Some("ulimit -n 2040")),
            (Some(200), Some(200), 80, Level::Warn, Some("sudo prlimit --pid $$ --nofile=1024:1024")),
            (Some(64), Some(64), 48, Level::Fail, Some("sudo prlimit --pid $$ --nofile=1024:1024")),
        ] {
            let finding = judged(|section| judge_files(section, (soft, hard), pes));
            assert_eq!((finding.level, finding.remedy.as_deref()), (level, remedy), "{}", finding.what);
        }
        let what = judged(|section| judge_files(section, (Some(64), Some(64)), 48)).what;
        // As the launcher says it.
        assert!(what.contains("48 PEs here need 136"), "{what}");
    }

    #[test]
    fn processes() {
        let group = |left: u64| Some((left, "/cg/pids.max".to_owned()));
        for (user, group, level, remedy) in [
            (None, None, Level::Ok, None),
            (Some(32), None, Level::Ok, None),
            (Some(5), group(32), Level::Warn, Some("sudo prlimit --pid $$ --nproc=4096:4096")),
            (Some(5), group(31), Level::Warn, Some("cat /cg/pids.max; docker run --pids-limit=-1 ...")),
            (None, group(100), Level::Ok, None),
        ] {
            let finding = judged(|section| judge_processes(section, user, group.clone(), 4, true));
            assert_eq!((finding.level, finding.remedy.as_deref()), (level, remedy), "{}", finding.what);
        }
        let on_host = judged(|section| judge_processes(section, None, group(1), 4, false));
        assert_eq!(on_host.remedy.as_deref(), Some("cat /cg/pids.max"));
    }

    #[test]
    fn addresses() {
        for (limit, heap, pes, level) in [
            (None, Some(u64::MAX), 9, Level::Ok),
            (Some(1 << 30), None, 9, Level::Ok),
            (Some(1 << 30), Some(1 << 30), 1, Level::Fail),
            (Some(1 << 30), Some(1 << 29), 2, Level::Warn),
            (Some(1 << 30), Some(1 << 20), 2, Level::Ok),
            (Some(1 << 30), Some(1 << 20), u64::MAX, Level::Warn),
        ] {
            let finding = judged(|section| judge_addresses(section, limit, heap, pes));
            assert_eq!(finding.level, level, "{}", finding.what);
            assert_eq!(finding.remedy.is_some(), level != Level::Ok);
        }
    }

    #[test]
    fn this_process_has_limits_that_tests_can_run_with() {
        let section = limits(None, 1);
        let ids: Vec<_> = section.findings.iter().map(|finding| finding.id).collect();
        assert_eq!((section.id, ids.as_slice()), ("limits", &["open-files", "processes", "addresses"][..]));
        assert_ne!(section.level(), Level::Fail);
    }
}
