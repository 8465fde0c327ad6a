//! What this host is and has.

mod processor_set;

pub use processor_set::ProcessorSet;

/// A name that all processes of one boot of one host share.
#[must_use]
pub fn name_of_boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if boot.trim().is_empty() {
        return node_name();
    }
    boot.trim().to_owned()
}

/// The name that people know it by.
#[must_use]
pub fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The most memory that this process can hope for, in bytes, and what says so: the machine, and a container's limit.
#[must_use]
pub fn memory_limits() -> [(u64, &'static str); 2] {
    let info = rustix::system::sysinfo();
    let all = info.totalram.saturating_add(info.totalswap);
    let machine = all.saturating_mul(u64::from(info.mem_unit.max(1)));
    [(machine, "RAM and swap"), (control_group_limit(), "the memory limit of its control group")]
}

/// The limit that a container sets, if it can be read and is one.
fn control_group_limit() -> u64 {
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let text = files.iter().find_map(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_name_and_memory() {
        assert_eq!(name_of_boot(), name_of_boot());
        assert!(!name_of_boot().is_empty());
        assert!(memory_limits().iter().all(|(bytes, _)| *bytes > 1 << 20));
    }
}
