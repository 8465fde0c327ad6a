//! `/dev/shm`. The shared memory of this library's loopback backend is a file without a name, which counts against the
//! memory of the control group and not against `/dev/shm`; but other libraries of a job put theirs there.

use super::about;
use crate::checks::Section;
use crate::checks::container::Signs;

const PATH: &str = "/dev/shm";
/// What Docker and Kubernetes give when nobody asks for more, in bytes.
const CONTAINERS_DEFAULT: u64 = 64 << 20;
const OTHERS: &str = "Open MPI, UCX and PyTorch put their shared memory there; this library does not (it uses a memory \
                      file, which counts as memory)";

/// What is mounted there, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DevShm {
    pub(super) size: u64,
    pub(super) free: u64,
}

impl DevShm {
    /// `None` if there is none.
    pub(super) fn of_this_host() -> Option<Self> {
        let found = rustix::fs::statvfs(PATH).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        // A tmpfs without a limit of its own counts no blocks.
        let unlimited = found.f_blocks == 0;
        let of = |blocks| if unlimited { u64::MAX } else { bytes(blocks) };
        Some(Self { size: of(found.f_blocks), free: of(found.f_bavail) })
    }
}

pub(super) fn judge(section: &mut Section, found: Option<DevShm>, pes: u64, signs: &Signs) {
    const ID: &str = "dev-shm";
    // A GiB for each PE is plenty, and costs nothing until it is used.
    let gib = pes.clamp(1, 64);
    let remedy = |on_host: String| match signs.of_container() {
        None => on_host,
        Some(_) if signs.of_pod() => "kubectl explain pod.spec.volumes.emptyDir.medium".to_owned(),
        Some(_) => format!("docker run --shm-size={gib}g ..."),
    };
    let Some(DevShm { size, free }) = found else {
        let mount = "sudo mkdir -p -m 1777 /dev/shm && sudo mount -t tmpfs -o mode=1777,nosuid,nodev";
        let mount = format!("{mount},size={gib}g tmpfs {PATH}");
        section.warn(ID, format!("there is no {PATH}. {OTHERS}"), remedy(mount));
        return;
    };
    if size <= CONTAINERS_DEFAULT {
        let remount = format!("sudo mount -o remount,size={gib}g {PATH}");
        let what = format!("{PATH} has {}, which is little: {OTHERS}", about(size));
        section.warn(ID, what, remedy(remount));
    } else if free <= CONTAINERS_DEFAULT {
        let what = format!("{PATH} is full: {} of {} are free. {OTHERS}", about(free), about(size));
        section.warn(ID, what, format!("ls -lS {PATH}"));
    } else if size == u64::MAX {
        section.ok(ID, format!("{PATH} has no limit of its own. {OTHERS}"));
    } else {
        section.ok(ID, format!("{PATH} has {}, of which {} are free. {OTHERS}", about(size), about(free)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{Finding, Level};

    fn judged(found: Option<(u64, u64)>, in_container: bool) -> Finding {
        let signs = Signs { docker_file: in_container, ..Signs::default() };
        judged_by(found, &signs)
    }

    fn judged_by(found: Option<(u64, u64)>, signs: &Signs) -> Finding {
        let mut section = Section::new("memory", "Memory");
        judge(&mut section, found.map(|(size, free)| DevShm { size, free }), 4, signs);
        assert_eq!(section.findings.len(), 1);
        section.findings.remove(0)
    }

    #[test]
    fn none_a_small_one_and_a_full_one_warn() {
        for (found, in_container, remedy) in [
            (None, true, "docker run --shm-size=4g ..."),
            (Some((64 << 20, 64 << 20)), true, "docker run --shm-size=4g ..."),
            (Some((0, 0)), false, "sudo mount -o remount,size=4g /dev/shm"),
            (Some((1 << 30, 5)), true, "ls -lS /dev/shm"),
        ] {
            let finding = judged(found, in_container);
            assert_eq!((finding.level, finding.id), (Level::Warn, "dev-shm"));
            assert_eq!(finding.remedy.as_deref(), Some(remedy), "{}", finding.what);
            assert!(finding.what.contains("this library does not"));
        }
        let pod = Signs { kubernetes: true, ..Signs::default() };
        assert!(judged_by(None, &pod).remedy.unwrap().starts_with("kubectl explain"));
        assert!(judged(None, false).remedy.unwrap().ends_with("size=4g tmpfs /dev/shm"));
    }

    #[test]
    fn enough_is_ok() {
        assert_eq!(judged(Some((65 << 20, 65 << 20)), true).level, Level::Ok);
        let unlimited = judged(Some((u64::MAX, u64::MAX)), false);
        assert!(unlimited.level == Level::Ok && unlimited.what.contains("no limit"));
    }

    #[test]
    fn that_of_this_host_is_no_larger_than_its_size() {
        assert_eq!(DevShm::of_this_host().is_some(), std::path::Path::new(PATH).exists());
        assert!(DevShm::of_this_host().is_none_or(|found| found.free <= found.size));
    }
}
