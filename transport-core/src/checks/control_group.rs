//! What the control groups of this process allow it: CPU time, memory, tasks. Versions 1 and 2, as `/proc` and the mounted
//! files of the groups show them.

use std::path::{Path, PathBuf};

/// Deeper than any tree of groups; whatever a file says, nothing goes round for long.
const DEEPEST: usize = 64;

/// What reads a file; `None` for one that is not there.
pub(super) type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Reads the real file.
pub(super) fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The directories whose limits hold for this process: its own group of `controller` and the groups around it, innermost
/// first.
pub(super) fn directories(controller: &str, read: Read<'_>) -> Vec<PathBuf> {
    let (Some(groups), Some(mounts)) =
        (read(Path::new("/proc/self/cgroup")), read(Path::new("/proc/self/mountinfo")))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (version_1, group) in groups.lines().filter_map(|line| group_of(line, controller)) {
        let mount = mounts.lines().find_map(|line| mount_of(line, version_1.then_some(controller)));
        let Some((root, point)) = mount else { continue };
        let own = point.join(below(group, root));
        let around = own.ancestors().take(DEEPEST).take_while(|directory| directory.starts_with(point));
        found.extend(around.map(Path::to_path_buf));
    }
    found
}

/// Out of a line of `/proc/self/cgroup`: whether it is of version 1, and the path of the group.
fn group_of<'a>(line: &'a str, controller: &str) -> Option<(bool, &'a str)> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let version_2 = number == "0" && controllers.is_empty();
    let version_1 = controllers.split(',').any(|name| name == controller);
    (version_1 || version_2).then_some((version_1, path))
}

/// Out of a line of `/proc/self/mountinfo`: the root and the point of a mount of version 2, or of version 1 with the
/// controller.
fn mount_of<'a>(line: &'a str, controller: Option<&str>) -> Option<(&'a str, &'a Path)> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    let mut fields = file_system.split(' ');
    let (kind, options) = (fields.next()?, fields.nth(1).unwrap_or_default());
    let right = match controller {
        None => kind == "cgroup2",
        Some(controller) => kind == "cgroup" && options.split(',').any(|option| option == controller),
    };
    right.then_some((root, Path::new(point)))
}

/// Where `group` is below a mount of `root`; the mount itself where a namespace hides it.
fn below<'a>(group: &'a str, root: &str) -> &'a Path {
    let inside = Path::new(group).strip_prefix(root).unwrap_or(Path::new(""));
    let climbs = inside.components().any(|part| !matches!(part, std::path::Component::Normal(_)));
    if climbs { Path::new("") } else { inside }
}

/// A share of the CPUs' time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CpuQuota {
    /// Thousandths of a CPU.
    pub(super) milli_cpus: u64,
    /// The file that says so.
    pub(super) file: PathBuf,
}

/// The smallest share that holds for this process, `None` without one.
pub(super) fn cpu_quota(read: Read<'_>) -> Option<CpuQuota> {
    let quota = |directory: PathBuf| {
        let (file, milli_cpus) = match read(&directory.join("cpu.max")) {
            Some(text) => ("cpu.max", share(text.split_whitespace())?),
            None => {
                let quota = read(&directory.join("cpu.cfs_quota_us"))?;
                let period = read(&directory.join("cpu.cfs_period_us"))?;
                ("cpu.cfs_quota_us", share([quota.trim(), period.trim()].into_iter())?)
            }
        };
        Some(CpuQuota { milli_cpus, file: directory.join(file) })
    };
    directories("cpu", read).into_iter().filter_map(quota).min_by_key(|quota| quota.milli_cpus)
}

/// Thousandths of a CPU out of quota and period (microseconds); `None` for `max`, `-1` and what is no number.
fn share<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<u64> {
    let quota: u64 = fields.next()?.parse().ok()?;
    let period: u64 = fields.next().map_or(Some(100_000), |period| period.parse().ok())?;
    quota.saturating_mul(1000).checked_div(period)
}

/// A limit of memory and what of it is in use, both in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryLimit {
    pub(super) limit: u64,
    /// Without the pages of files that can be dropped at once.
    pub(super) used: u64,
    /// The file that says so.
    pub(super) file: PathBuf,
}

impl MemoryLimit {
    /// Bytes that are left.
    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

/// The limits of memory that hold for this process.
pub(super) fn memory_limits(read: Read<'_>) -> Vec<MemoryLimit> {
    // Version 1 says "no limit" by the largest number of pages.
    const NONE: u64 = 1 << 62;
    let number = |path: PathBuf| read(&path)?.trim().parse::<u64>().ok();
    let limit = |directory: PathBuf| {
        let names = [("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")];
        names.into_iter().find_map(|(limit_file, usage_file)| {
            let file = directory.join(limit_file);
            let limit = number(file.clone()).filter(|&limit| limit < NONE)?;
            let used = number(directory.join(usage_file)).unwrap_or(0);
            let stat = read(&directory.join("memory.stat")).unwrap_or_default();
            Some(MemoryLimit { limit, used: used.saturating_sub(inactive_file(&stat)), file })
        })
    };
    directories("memory", read).into_iter().filter_map(limit).collect()
}

/// Bytes of files' pages that nobody needs at the moment, out of `memory.stat`; with those of groups inside.
fn inactive_file(stat: &str) -> u64 {
    let count = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    count("total_inactive_file").or_else(|| count("inactive_file")).unwrap_or(0)
}

/// How many more processes and threads this process' groups allow, and the file that says so; `None` without a limit.
pub(super) fn tasks_left(read: Read<'_>) -> Option<(u64, PathBuf)> {
    let left = |directory: PathBuf| {
        let number = |name: &str| read(&directory.join(name))?.trim().parse::<u64>().ok();
        let most = number("pids.max")?;
        Some((most.saturating_sub(number("pids.current").unwrap_or(0)), directory.join("pids.max")))
    };
    directories("pids", read).into_iter().filter_map(left).min()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A host made of files.
    pub(in crate::checks) fn files<'a>(
        files: &'a [(&'a str, &'a str)],
    ) -> impl Fn(&Path) -> Option<String> + 'a {
        move |path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
    }

    const GROUPS_2: (&str, &str) = ("/proc/self/cgroup", "0::/job.slice/pe\n");
    const MOUNTS_2: (&str, &str) = (
        "/proc/self/mountinfo",
        "22 27 0:21 / /proc rw - proc proc rw\n30 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n",
    );
    const GROUPS_1: (&str, &str) =
        ("/proc/self/cgroup", "5:cpuacct,cpu:/docker/abc\n4:memory:/docker/abc\n3:pids:/docker/abc\n0::/\n");
    const MOUNTS_1: (&str, &str) = (
        "/proc/self/mountinfo",
        "32 31 0:29 /docker/abc /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
         35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n40 31 0:37 / /cg/pids rw - cgroup cgroup rw,pids\n",
    );

    #[test]
    fn version_2_counts_the_groups_around_too() {
        let host = [
            GROUPS_2,
            MOUNTS_2,
            ("/sys/fs/cgroup/job.slice/pe/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/job.slice/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/job.slice/pe/memory.max", "max\n"),
            ("/sys/fs/cgroup/job.slice/memory.max", "1073741824\n"),
            ("/sys/fs/cgroup/job.slice/memory.current", "600000\n"),
            ("/sys/fs/cgroup/job.slice/memory.stat", "anon 5\ninactive_file 200000\n"),
            ("/sys/fs/cgroup/job.slice/pe/pids.max", "100\n"),
            ("/sys/fs/cgroup/job.slice/pe/pids.current", "60\n"),
            ("/sys/fs/cgroup/job.slice/pids.max", "max\n"),
        ];
        let host = files(&host);
        let quota = cpu_quota(&host).unwrap();
        assert_eq!((quota.milli_cpus, quota.file), (1500, PathBuf::from("/sys/fs/cgroup/job.slice/cpu.max")));
        let limits = memory_limits(&host);
        assert_eq!((limits.len(), limits[0].limit, limits[0].used), (1, 1 << 30, 400_000));
        assert_eq!(limits[0].left(), (1 << 30) - 400_000);
        assert_eq!(tasks_left(&host).unwrap().0, 40);
    }

    #[test]
    fn version_1_has_a_tree_for_each_controller() {
        let host = [
            GROUPS_1,
            MOUNTS_1,
            ("/cg/cpu/cpu.cfs_quota_us", "50000\n"),
            ("/cg/cpu/cpu.cfs_period_us", "100000\n"),
            ("/cg/memory/docker/abc/memory.limit_in_bytes", "1000\n"),
            ("/cg/memory/docker/abc/memory.usage_in_bytes", "3000\n"),
            ("/cg/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/cg/memory/docker/abc/memory.stat", "inactive_file 1\ntotal_inactive_file 7\n"),
        ];
        let host = files(&host);
        assert_eq!(cpu_quota(&host).unwrap().milli_cpus, 500);
        let limits = memory_limits(&host);
        assert_eq!((limits.len(), limits[0].limit, limits[0].used, limits[0].left()), (1, 1000, 2993, 0));
        assert_eq!(tasks_left(&host), None);
    }

    #[test]
    fn no_limit_and_rubbish_are_none() {
        let none = [("max 100000", None), ("", None), ("x y", None), ("100000 0", None), ("5 z", None)];
        for (text, expected) in none.into_iter().chain([("200000", Some(2000)), ("1 1000000", Some(0))]) {
            let host = [GROUPS_2, MOUNTS_2, ("/sys/fs/cgroup/job.slice/pe/cpu.max", text)];
            assert_eq!(cpu_quota(&files(&host)).map(|quota| quota.milli_cpus), expected, "{text:?}");
        }
        let minus =
            [GROUPS_1, MOUNTS_1, ("/cg/cpu/cpu.cfs_quota_us", "-1"), ("/cg/cpu/cpu.cfs_period_us", "5")];
        assert_eq!(cpu_quota(&files(&minus)), None);
        assert_eq!(inactive_file("inactive_file\ninactive_filet 3\n\ninactive_file x"), 0);
        for host in [
            &[][..],
            &[GROUPS_2],
            &[MOUNTS_2],
            &[("/proc/self/cgroup", "\n:\n::\n0:\nx"), MOUNTS_2],
            &[GROUPS_2, ("/proc/self/mountinfo", " - \n - cgroup2\n1 2 3 / - cgroup2\n\n- -")],
        ] {
            let host = files(host);
            assert_eq!(directories("cpu", &host), Vec::<PathBuf>::new());
            assert_eq!((cpu_quota(&host), tasks_left(&host)), (None, None));
            assert_eq!(memory_limits(&host), []);
        }
    }

    #[test]
    fn what_a_namespace_hides_is_the_mount_itself() {
        for (group, root, expected) in [
            ("/a/b", "/", "a/b"),
            ("/docker/x", "/docker/x", ""),
            ("/docker/x/y", "/docker/x", "y"),
            ("/other", "/docker/x", ""),
            ("/../../up", "/", ""),
            ("/", "/..", ""),
        ] {
            assert_eq!(below(group, root), Path::new(expected), "{group} {root}");
        }
        let deep = format!("0::{}", "/a".repeat(500));
        let host = [("/proc/self/cgroup", deep.as_str()), MOUNTS_2];
        assert_eq!(directories("cpu", &files(&host)).len(), DEEPEST);
    }
}
