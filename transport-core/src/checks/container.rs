//! Whether this process is in a container.

use std::path::Path;

/// What a container leaves to be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// `/.dockerenv` is there.
    pub(super) docker_file: bool,
    /// `/run/.containerenv` is there: Podman and its kin.
    pub(super) podman_file: bool,
    /// `KUBERNETES_SERVICE_HOST` is set.
    pub(super) kubernetes: bool,
    /// The text of `/proc/self/cgroup`.
    pub(super) groups: String,
}

impl Signs {
    /// Of this process.
    pub(super) fn of_this_process() -> Self {
        Self {
            docker_file: Path::new("/.dockerenv").exists(),
            podman_file: Path::new("/run/.containerenv").exists(),
            kubernetes: std::env::var_os("KUBERNETES_SERVICE_HOST").is_some(),
            groups: std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
        }
    }

    /// The sign that it is in one, as people would name it; `None` without any.
    pub(super) fn of_container(&self) -> Option<&'static str> {
        // Parts of the names that engines give to the groups of their containers.
        const NAMES: [(&str, &str); 6] = [
            ("kubepods", "a control group of Kubernetes"),
            ("docker", "a control group of Docker"),
            ("libpod", "a control group of Podman"),
            ("containerd", "a control group of containerd"),
            ("crio-", "a control group of CRI-O"),
            ("/lxc", "a control group of LXC"),
        ];
        if self.kubernetes {
            return Some("KUBERNETES_SERVICE_HOST");
        }
        if self.docker_file {
            return Some("/.dockerenv");
        }
        if self.podman_file {
            return Some("/run/.containerenv");
        }
        let paths = || self.groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        // The engine itself is a service of the host, and so is what it starts outside of containers.
        let inside = |path: &str, name: &str| path.contains(name) && !path.ends_with(".service");
        NAMES.into_iter().find(|(name, _)| paths().any(|path| inside(path, name))).map(|(_, sign)| sign)
    }

    /// Whether its network is set by a pod, not by the one who types `docker run`.
    pub(super) fn of_pod(&self) -> bool {
        self.kubernetes || self.groups.contains("kubepods")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_seen() {
        let groups = |groups: &str| Signs { groups: groups.into(), ..Signs::default() };
        for (signs, expected) in [
            (Signs::default(), None),
            (Signs { docker_file: true, ..Signs::default() }, Some("/.dockerenv")),
            (Signs { podman_file: true, ..Signs::default() }, Some("/run/.containerenv")),
            (
                Signs { kubernetes: true, docker_file: true, ..Signs::default() },
                Some("KUBERNETES_SERVICE_HOST"),
            ),
            (groups("0::/\n"), None),
            (groups("0::/system.slice/docker.service\n"), None),
            (groups("0::/user.slice/user-0.slice"), None),
            (groups("docker\n::\n7"), None),
            (groups("0::/system.slice/docker-0a1b.scope\n"), Some("a control group of Docker")),
            (groups("1:cpu:/kubepods/burstable/pod1\n"), Some("a control group of Kubernetes")),
            (groups("0::/machine.slice/libpod-1.scope"), Some("a control group of Podman")),
            (groups("0::/lxc/c1"), Some("a control group of LXC")),
        ] {
            assert_eq!(signs.of_container(), expected, "{signs:?}");
        }
        assert!(groups("0::/kubepods.slice").of_pod() && !groups("0::/docker/1").of_pod());
        let _ = Signs::of_this_process().of_container();
    }
}
