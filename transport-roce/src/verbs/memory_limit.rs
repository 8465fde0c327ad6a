//! How much memory this process may lock: what registering fails with most often.

use std::fmt;
use std::fs;

use rustix::process::{Resource, getrlimit};

/// The limit of locked memory, and what is locked, at one moment. Its text says what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedMemory {
    /// Bytes that this process may lock, `None` if there is no limit.
    pub(crate) limit: Option<u64>,
    /// Bytes that are locked already, `None` if the system does not say.
    pub(crate) locked: Option<u64>,
}

impl LockedMemory {
    /// Of now.
    pub(crate) fn now() -> Self {
        let limit = getrlimit(Resource::Memlock).current;
        let locked = fs::read_to_string("/proc/self/status").ok().and_then(|status| locked_bytes(&status));
        Self { limit, locked }
    }
}

/// The sum of `VmLck` (locked by mlock) and `VmPin` (pinned by drivers).
fn locked_bytes(status: &str) -> Option<u64> {
    let (locked, pinned) = (status_bytes(status, "VmLck"), status_bytes(status, "VmPin"));
    locked.or(pinned)?;
    Some(locked.unwrap_or(0).saturating_add(pinned.unwrap_or(0)))
}

/// The bytes of a line such as `VmPin:      8 kB` of `/proc/self/status`.
pub(crate) fn status_bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes = line.trim_start_matches(':').trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    kilobytes.checked_mul(1024)
}

impl fmt::Display for LockedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(limit) = self.limit else {
            return f.write_str(
                "There is no limit of locked memory (RLIMIT_MEMLOCK), so the machine or the device has none left: use \
                 a smaller heap, and see `free`, the memory limit of the container, and `dmesg`",
            );
        };
        write!(f, "This process may lock {limit} bytes (RLIMIT_MEMLOCK)")?;
        if let Some(locked) = self.locked {
            write!(f, ", and {locked} are locked")?;
        }
        f.write_str(
            ". Raise the limit: `ulimit -l unlimited` in the shell that starts the job, or `memlock` in \
             /etc/security/limits.conf; `--ulimit memlock=-1` for a container; LimitMEMLOCK=infinity for a service; or give \
             the program CAP_IPC_LOCK. A smaller heap needs less",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counts_of_the_status_are_added() {
        assert_eq!(locked_bytes("VmPeak:\t 9 kB\nVmLck:\t     4 kB\nVmPin:\t   8 kB\n"), Some(12 << 10));
        assert_eq!(locked_bytes("VmPin:\t8 kB\n"), Some(8 << 10));
        assert_eq!(locked_bytes("VmLck:\n"), None);
        assert_eq!(locked_bytes(""), None);
        let _ = LockedMemory::now();
    }

    #[test]
    fn the_text_has_numbers_and_every_remedy() {
        let text = LockedMemory { limit: Some(8 << 20), locked: Some(4096) }.to_string();
        for part in [
            "8388608 bytes",
            "4096 are locked",
            "ulimit -l unlimited",
            "/etc/security/limits.conf",
            "--ulimit memlock=-1",
            "LimitMEMLOCK=infinity",
            "CAP_IPC_LOCK",
            "smaller heap",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = LockedMemory { limit: None, locked: Some(4096) }.to_string();
        assert!(text.contains("no limit") && text.contains("smaller heap"), "{text}");
    }
}
