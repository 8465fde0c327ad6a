//! What to type after a verbs call failed.

use super::errno::Errno;
use super::error::VerbsError;
use crate::abi::LoadError;

/// Lifts the limit of locked memory for this shell and what it starts.
const UNLIMITED: &str = "ulimit -l unlimited";

impl LoadError {
    /// A command that puts it right, or that shows more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Library { soname, cause } if missing(cause, soname) => {
                "apt-get install libibverbs1 ibverbs-providers  # RPM: dnf install libibverbs".to_owned()
            }
            Self::Library { soname, .. } | Self::Symbol { soname, .. } => {
                format!("ldconfig -p | grep -F {soname}; echo \"$LD_LIBRARY_PATH\"")
            }
        }
    }
}

/// Whether the loader found no such file at all, and not one that it cannot load or that needs another one.
fn missing(cause: &str, soname: &str) -> bool {
    cause.starts_with(soname) && cause.contains("No such file or directory")
}

impl VerbsError {
    /// A command that puts it right, or that shows more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Library(error) => error.remedy(),
            Self::DeviceList { .. } => {
                "modprobe ib_uverbs; ls -l /sys/class/infiniband /dev/infiniband".to_owned()
            }
            Self::Open { device, errno, .. } => match *errno {
                Errno::PERM | Errno::ACCES => "ls -l /dev/infiniband; usermod -aG rdma \"$USER\"".to_owned(),
                Errno::NOENT | Errno::NXIO | Errno::NODEV => {
                    "modprobe ib_uverbs; ls -l /dev/infiniband".to_owned()
                }
                Errno::NOMEM | Errno::AGAIN => UNLIMITED.to_owned(),
                _ => format!("IBV_SHOW_WARNINGS=1 ibv_devinfo -d {device}"),
            },
            Self::Create { errno: Errno::NOMEM, .. } => UNLIMITED.to_owned(),
            Self::Query { device, .. } | Self::Create { device, .. } | Self::Register { device, .. } => {
                format!("ibv_devinfo -v -d {device}")
            }
            // Without a limit it is memory itself that is short.
            Self::MemoryLock { memory, .. } if memory.limit.is_none() => {
                "free -h; dmesg | tail -n 50".to_owned()
            }
            Self::MemoryLock { .. } => UNLIMITED.to_owned(),
            Self::CompletionQueue { device, .. } => format!("dmesg | grep -i -C 5 {device}"),
            Self::Modify {
                errno: Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::TIMEDOUT, device, ..
            } => {
                format!("ip route; ip neigh; rdma link show {device}/1")
            }
            Self::Modify { device, .. } => format!("ibv_devinfo -v -d {device}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory_limit::LockedMemory;
    use super::super::queue_pair_states::QueuePairState;
    use super::*;

    fn library(cause: &str) -> LoadError {
        LoadError::Library { soname: "libibverbs.so.1".into(), cause: cause.into() }
    }

    #[test]
    fn a_missing_library_is_installed_and_a_bad_one_looked_for() {
        let gone = "libibverbs.so.1: cannot open shared object file: No such file or directory";
        assert!(library(gone).remedy().starts_with("apt-get install libibverbs1 ibverbs-providers"));
        let needs = "libnl-3.so.200: cannot open shared object file: No such file or directory";
        assert_eq!(
            library(needs).remedy(),
            "ldconfig -p | grep -F libibverbs.so.1; echo \"$LD_LIBRARY_PATH\""
        );
        let symbol = LoadError::Symbol {
            soname: "libibverbs.so.1".into(),
            symbol: "ibv_open_device",
            cause: "?".into(),
        };
        assert_eq!(VerbsError::from(symbol).remedy(), library(needs).remedy());
        // The loader's own words.
        let real = crate::abi::Symbols::load("libibverbs-of-nobody.so.1").unwrap_err();
        assert!(real.remedy().starts_with("apt-get install"), "{real}");
    }

    #[test]
    fn every_failure_to_open_has_its_own() {
        let open = |errno| VerbsError::Open { device: "hrn5_0".into(), errno, hint: "" }.remedy();
        assert!(open(Errno::ACCES).contains("usermod -aG rdma"));
        assert_eq!(open(Errno::PERM), open(Errno::ACCES));
        assert!(open(Errno::NXIO).contains("modprobe ib_uverbs"));
        assert_eq!(open(Errno::NOMEM), "ulimit -l unlimited");
        assert_eq!(open(Errno::INVAL), "IBV_SHOW_WARNINGS=1 ibv_devinfo -d hrn5_0");
    }

    #[test]
    fn the_device_stands_in_the_command() {
        let (device, errno) = ("xscale_0".to_owned(), Errno::INVAL);
        let show = "ibv_devinfo -v -d xscale_0";
        let memory = LockedMemory { limit: Some(65536), locked: None };
        let to = QueuePairState::ReadyToSend;
        for (error, remedy) in [
            (
                VerbsError::DeviceList { errno },
                "modprobe ib_uverbs; ls -l /sys/class/infiniband /dev/infiniband",
            ),
            (VerbsError::Query { device: device.clone(), what: "port 1".into(), errno }, show),
            (VerbsError::Create { device: device.clone(), what: "a queue".into(), errno, hint: "" }, show),
            (
                VerbsError::Create {
                    device: device.clone(),
                    what: "a queue".into(),
                    errno: Errno::NOMEM,
                    hint: "",
                },
                UNLIMITED,
            ),
            (
                VerbsError::Register {
                    device: device.clone(),
                    address: 0,
                    len: 1,
                    access: "?".into(),
                    errno,
                },
                show,
            ),
            (VerbsError::MemoryLock { device: device.clone(), needed: 1, errno, memory }, UNLIMITED),
            (
                VerbsError::MemoryLock {
                    device: device.clone(),
                    needed: 1,
                    errno,
                    memory: LockedMemory { limit: None, ..memory },
                },
                "free -h; dmesg | tail -n 50",
            ),
            (
                VerbsError::CompletionQueue { device: device.clone(), doing: "poll", errno },
                "dmesg | grep -i -C 5 xscale_0",
            ),
            (VerbsError::Modify { device: device.clone(), qp: 7, to, errno, hint: String::new() }, show),
            (
                VerbsError::Modify { device, qp: 7, to, errno: Errno::HOSTUNREACH, hint: String::new() },
                "ip route; ip neigh; rdma link show xscale_0/1",
            ),
        ] {
            assert_eq!(error.remedy(), remedy, "{error}");
        }
    }
}
