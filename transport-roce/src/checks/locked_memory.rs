//! Locked memory: whether the heap fits what this process may lock, which registering it does.

use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};
use transport_core::checks::Section;
use transport_core::config::ByteSize;

use crate::verbs::status_bytes;

/// What the queues and the tables of a job may lock besides the heap.
const BESIDES: u64 = 4 << 20;

/// What this process may lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lockable {
    /// The limit, bytes; `None` if there is none.
    pub(crate) limit: Option<u64>,
    /// What drivers have pinned already, bytes. What `mlock` locked is counted by itself, and does not matter here.
    pub(crate) pinned: u64,
    /// How far this user may lift the limit, bytes; `None` for as far as it goes.
    pub(crate) hard: Option<u64>,
    /// The limit does not count for this process.
    pub(crate) exempt: bool,
}

impl Lockable {
    /// Of now.
    pub(crate) fn now() -> Self {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let (status, limits) = (read("status"), getrlimit(Resource::Memlock));
        Self {
            limit: limits.current,
            pinned: status_bytes(&status, "VmPin").unwrap_or(0),
            hard: limits.maximum,
            exempt: may_lock_all() && is_initial(&read("uid_map")),
        }
    }
}

/// Whether the process has CAP_IPC_LOCK, which lifts the limit.
fn may_lock_all() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK))
}

/// Whether this is the host's own user namespace, where drivers ask for the capability: in one of its own, as a container
/// without root has it, the capability is there but does not count. Without `/proc` nobody says, and it is taken for that.
fn is_initial(uid_map: &str) -> bool {
    uid_map.is_empty() || uid_map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Judges whether `heap` bytes can be registered.
pub(crate) fn locked_memory(heap: u64, lockable: &Lockable) -> Section {
    let mut section = Section::new("locked-memory", "Locked memory");
    let size = |bytes: u64| ByteSize::new(bytes).to_string();
    let limit = match lockable.limit {
        None => {
            section.ok("limit", "there is no limit of locked memory");
            return section;
        }
        Some(limit) if lockable.exempt => {
            section.ok(
                "limit",
                format!("the limit of {} does not count for this user (CAP_IPC_LOCK)", size(limit)),
            );
            return section;
        }
        Some(limit) => limit,
    };
    let needed = heap.saturating_add(lockable.pinned);
    let comfortable = needed.saturating_add(BESIDES);
    let already = match lockable.pinned {
        0 => String::new(),
        pinned => format!(", {} of it is pinned already", size(pinned)),
    };
    let may = format!("this process may lock {} (RLIMIT_MEMLOCK{already})", size(limit));
    if limit < needed {
        let what = format!("{may}, but a heap of {} must be locked to be registered", size(heap));
        section.fail("limit", what, raise(lockable.hard, comfortable));
    } else if limit < comfortable {
        let what =
            format!("{may}: enough for a heap of {}, but maybe not for the queues besides", size(heap));
        section.warn("limit", what, raise(lockable.hard, comfortable));
    } else {
        section.ok("limit", format!("{may}: enough for a heap of {}", size(heap)));
    }
    section
}

/// Lifts the limit; beyond the user's own reach by root, for the shell in which it is typed.
fn raise(hard: Option<u64>, needed: u64) -> String {
    match hard {
        None => "ulimit -l unlimited".to_owned(),
        // Counted in KiB.
        Some(hard) if hard >= needed => format!("ulimit -l {}", hard >> 10),
        Some(_) => {
            "sudo prlimit --pid $$ --memlock=unlimited:unlimited  # in a container: docker run --ulimit memlock=-1"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use transport_core::checks::Level;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn judged(heap: u64, limit: Option<u64>, hard: Option<u64>, pinned: u64) -> Section {
        locked_memory(heap, &Lockable { limit, pinned, hard, exempt: false })
    }

    #[track_caller]
    fn finding(section: &Section, level: Level, parts: &[&str]) {
        let [finding] = section.findings.as_slice() else { panic!("{section:?}") };
        assert_eq!((finding.id, finding.level), ("limit", level), "{finding:?}");
        let text = format!("{} {}", finding.what, finding.remedy.as_deref().unwrap_or("-"));
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in: {text}");
        }
    }

    #[test]
    fn too_little_fails_with_both_numbers() {
        let section = judged(64 * MIB, Some(8 * MIB), None, 0);
        finding(&section, Level::Fail, &["may lock 8 MiB", "heap of 64 MiB", "ulimit -l unlimited"]);
        let section = judged(u64::MAX, Some(8 * MIB), None, 1);
        finding(&section, Level::Fail, &["1 B of it is pinned already"]);
    }

    #[test]
    fn the_remedy_is_one_that_this_user_can_type() {
        let section = judged(64 * MIB, Some(8 * MIB), Some(128 * MIB), 0);
        finding(&section, Level::Fail, &["ulimit -l 131072"]);
        let section = judged(64 * MIB, Some(8 * MIB), Some(8 * MIB), 0);
        finding(&section, Level::Fail, &["prlimit --pid $$", "--ulimit memlock=-1"]);
    }

    #[test]
    fn what_is_locked_already_and_the_queues_count() {
        finding(&judged(64 * MIB, Some(68 * MIB), None, 0), Level::Ok, &["enough for a heap of 64 MiB"]);
        finding(&judged(64 * MIB, Some(68 * MIB), None, 4096), Level::Warn, &["queues", "ulimit"]);
        finding(&judged(64 * MIB, Some(64 * MIB), None, 4096), Level::Fail, &["4 KiB of it"]);
    }

    #[test]
    fn no_limit_and_no_limit_that_counts_are_fine() {
        finding(&judged(u64::MAX, None, None, 0), Level::Ok, &["no limit"]);
        let exempt = Lockable { limit: Some(65536), pinned: 0, hard: Some(65536), exempt: true };
        let section = locked_memory(64 * MIB, &exempt);
        finding(&section, Level::Ok, &["64 KiB", "CAP_IPC_LOCK"]);
    }

    #[test]
    fn what_is_pinned_is_read() {
        assert_eq!(status_bytes("VmLck:\t     4 kB\nVmPin:\t     8 kB\n", "VmPin"), Some(8192));
        for status in ["", "VmPin:\n", "VmPin:\t8\n", "VmPin:\t18446744073709551615 kB\n"] {
            assert_eq!(status_bytes(status, "VmPin"), None, "{status:?}");
        }
    }

    #[test]
    fn the_capability_counts_in_the_host_s_namespace_only() {
        assert!(is_initial("         0          0 4294967295\n"));
        assert!(!is_initial("         0       1000          1\n"));
        assert!(is_initial(""), "without /proc nobody says");
        // Root has it here and an ordinary user does not.
        if !rustix::process::geteuid().is_root() {
            assert!(!may_lock_all());
        }
        let now = Lockable::now();
        assert!(now.limit.is_some() || now.hard.is_none(), "the soft limit is within the hard one");
    }
}
