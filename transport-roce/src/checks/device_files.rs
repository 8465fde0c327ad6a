//! The files of the verbs devices in `/dev/infiniband`: whether they are there, and whether this user may use them.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use transport_core::checks::Section;

use crate::kind::NicKind;
use crate::seen::names_in;
use crate::verbs::Errno;

/// What is known about the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceFiles {
    /// Where they are: `/dev/infiniband`.
    pub(crate) place: PathBuf,
    /// Whether that directory is there.
    pub(crate) exists: bool,
    /// This process is in a container, as far as can be seen.
    pub(crate) container: bool,
    /// Each that the kernel has, in the order of their names.
    pub(crate) files: Vec<DeviceFile>,
    /// The verbs devices that the kernel has.
    pub(crate) kernel: Vec<String>,
}

/// The file of a verbs device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceFile {
    /// Its name: `uverbs0`.
    pub(crate) name: String,
    /// The device: `xscale_0`.
    pub(crate) device: Option<String>,
    /// Whether it can be opened for reading and writing.
    pub(crate) opened: Result<(), Errno>,
    /// A group whose members may read and write it, if there is one other than root's.
    pub(crate) group: Option<String>,
}

impl DeviceFiles {
    /// Looks. A file is opened for a moment, with which nothing is done.
    pub(crate) fn now() -> Self {
        Self::look(Path::new("/"))
    }

    /// As [`now`](Self::now), with another directory in place of `/`.
    fn look(root: &Path) -> Self {
        let place = root.join("dev/infiniband");
        let names = |class: &str| names_in(&root.join("sys/class").join(class));
        let groups = fs::read_to_string(root.join("etc/group")).unwrap_or_default();
        // A file `abi_version` stands among the devices.
        let uverbs = names("infiniband_verbs").into_iter().filter(|name| name.starts_with("uverbs"));
        let file = |name: String| {
            let path = place.join(&name);
            let ibdev = root.join("sys/class/infiniband_verbs").join(&name).join("ibdev");
            DeviceFile {
                device: fs::read_to_string(ibdev).ok().map(|device| device.trim().to_owned()),
                opened: open(&path),
                group: path.metadata().ok().and_then(|file| group(&groups, file.gid(), file.mode())),
                name,
            }
        };
        let files = uverbs.map(file).collect();
        let container = [".dockerenv", "run/.containerenv"].iter().any(|mark| root.join(mark).exists());
        Self { exists: place.is_dir(), place, container, files, kernel: names("infiniband") }
    }
}

fn open(path: &Path) -> Result<(), Errno> {
    match File::options().read(true).write(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(Errno(error.raw_os_error().unwrap_or(0))),
    }
}

/// The name of the group `gid`, if a file of this mode lets it read and write, and it is not root's.
fn group(groups: &str, gid: u32, mode: u32) -> Option<String> {
    if gid == 0 || mode & 0o060 != 0o060 {
        return None;
    }
    groups.lines().find_map(|line| {
        let mut columns = line.split(':');
        let (name, _, number) = (columns.next()?, columns.next()?, columns.next()?);
        (number.parse() == Ok(gid)).then(|| name.to_owned())
    })
}

/// Judges, for a backend of this kind.
pub(crate) fn device_files(found: &DeviceFiles, kind: &NicKind) -> Section {
    let mut section = Section::new("device-files", "Device files");
    let place = found.place.display();
    if found.files.is_empty() {
        if found.kernel.is_empty() {
            section.ok("directory", "the kernel has no verbs device, so that there are no files to look at");
        } else {
            let what = format!("the kernel has {}, but no file for verbs", found.kernel.join(", "));
            section.fail("directory", what, "modprobe ib_uverbs");
        }
        return section;
    }
    if !found.exists {
        let what = format!("{place} is not there, though the kernel has verbs devices");
        section.fail("directory", what, make(found, None));
        return section;
    }
    let serves = |file: &DeviceFile| file.device.as_deref().is_none_or(|device| kind.serves(device));
    // With one that can be used a job may run.
    let enough = found.files.iter().any(|file| serves(file) && file.opened.is_ok());
    for file in &found.files {
        let path = found.place.join(&file.name);
        let device = file.device.as_deref().unwrap_or("of a device without a name");
        let name = format!("{} ({device})", path.display());
        let errno = match file.opened {
            Ok(()) => {
                section.ok("file", format!("{name} can be read and written"));
                continue;
            }
            Err(errno) => errno,
        };
        let what = format!("{name} cannot be opened for reading and writing: {errno}");
        let remedy = match errno {
            Errno::NOENT => make(found, Some(&path)),
            // Not by its mode, but by the rules for the devices of a container.
            Errno::PERM if found.container => make(found, Some(&path)),
            Errno::ACCES | Errno::PERM => match &file.group {
                Some(group) => format!("usermod -aG {group} \"$USER\" && newgrp {group}"),
                None => format!("chmod 666 {}", path.display()),
            },
            _ => format!("ls -l {place}; dmesg | tail -n 50"),
        };
        if !serves(file) {
            section.ok("file", format!("{what}; it is no {}", kind.name));
        } else if enough {
            section.warn("file", what, remedy);
        } else {
            section.fail("file", what, remedy);
        }
    }
    section
}

/// How a missing file comes to be there.
fn make(found: &DeviceFiles, path: Option<&Path>) -> String {
    match path {
        _ if found.container => format!("docker run --device={} --net=host IMAGE", found.place.display()),
        Some(_) => "udevadm trigger --subsystem-match=infiniband_verbs && udevadm settle".to_owned(),
        None => "modprobe ib_uverbs && udevadm trigger --subsystem-match=infiniband_verbs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use transport_core::checks::Level;

    use super::*;

    fn file(name: &str, device: &str, opened: Result<(), Errno>, group: Option<&str>) -> DeviceFile {
        DeviceFile { name: name.into(), device: Some(device.into()), opened, group: group.map(str::to_owned) }
    }

    fn found(files: Vec<DeviceFile>, container: bool) -> DeviceFiles {
        let kernel = files.iter().filter_map(|file| file.device.clone()).collect();
        DeviceFiles { place: "/dev/infiniband".into(), exists: true, container, files, kernel }
    }

    #[track_caller]
    fn only(found: &DeviceFiles, level: Level, what: &str, remedy: &str) {
        let section = device_files(found, &NicKind::ROCE);
        let [finding] = section.findings.as_slice() else { panic!("{section:?}") };
        assert_eq!(finding.level, level, "{finding:?}");
        assert!(finding.what.contains(what), "{finding:?}");
        assert_eq!(finding.remedy.as_deref().unwrap_or(""), remedy, "{finding:?}");
    }

    #[test]
    fn each_failure_to_open_has_its_remedy() {
        let of =
            |errno, group, container| found(vec![file("uverbs0", "rxe_0", Err(errno), group)], container);
        let (fail, name) = (Level::Fail, "/dev/infiniband/uverbs0 (rxe_0) cannot be opened");
        only(&of(Errno::ACCES, Some("rdma"), false), fail, name, "usermod -aG rdma \"$USER\" && newgrp rdma");
        only(&of(Errno::ACCES, None, false), fail, "Permission denied", "chmod 666 /dev/infiniband/uverbs0");
        only(&of(Errno::PERM, None, false), fail, name, "chmod 666 /dev/infiniband/uverbs0");
        let docker = "docker run --device=/dev/infiniband --net=host IMAGE";
        only(&of(Errno::PERM, None, true), fail, name, docker);
        only(&of(Errno::NOENT, None, true), fail, "No such file", docker);
        let udev = "udevadm trigger --subsystem-match=infiniband_verbs && udevadm settle";
        only(&of(Errno::NOENT, None, false), fail, name, udev);
        only(&of(Errno::NODEV, None, false), fail, name, "ls -l /dev/infiniband; dmesg | tail -n 50");
    }

    #[test]
    fn missing_directories() {
        let mut none = found(Vec::new(), false);
        only(&none, Level::Ok, "no verbs device", "");
        none.kernel.push("hrn5_0".into());
        only(&none, Level::Fail, "the kernel has hrn5_0", "modprobe ib_uverbs");
        let mut gone = found(vec![file("uverbs0", "rxe_0", Err(Errno::NOENT), None)], false);
        gone.exists = false;
        let udev = "modprobe ib_uverbs && udevadm trigger --subsystem-match=infiniband_verbs";
        only(&gone, Level::Fail, "/dev/infiniband is not there", udev);
        gone.container = true;
        only(&gone, Level::Fail, "is not there", "docker run --device=/dev/infiniband --net=host IMAGE");
    }

    #[test]
    fn one_good_file_is_enough_and_other_kinds_do_not_matter() {
        let kind = NicKind { device_prefix: Some("xscale_"), name: "XSCALE NIC", ..NicKind::ROCE };
        let levels = |files| {
            let section = device_files(&found(files, false), &kind);
            section.findings.iter().map(|finding| finding.level).collect::<Vec<_>>()
        };
        let bad = Err(Errno::ACCES);
        let (good, no) = (file("uverbs0", "xscale_0", Ok(()), None), file("uverbs1", "xscale_1", bad, None));
        assert_eq!(levels(vec![good, no.clone()]), [Level::Ok, Level::Warn]);
        let (other, fine) = (file("uverbs2", "mlx5_0", bad, None), file("uverbs3", "mlx5_1", Ok(()), None));
        assert_eq!(levels(vec![no, other, fine]), [Level::Fail, Level::Ok, Level::Ok]);
        // It may be one of them.
        let nameless = DeviceFile { device: None, ..file("uverbs4", "", bad, None) };
        assert_eq!(levels(vec![nameless]), [Level::Fail]);
    }

    #[test]
    fn the_host_is_looked_at() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        let empty = DeviceFiles::look(root.path());
        assert!(!empty.exists && !empty.container && empty.files.is_empty() && empty.kernel.is_empty());
        write("sys/class/infiniband_verbs/uverbs0/ibdev", "rxe_0\n");
        write("sys/class/infiniband_verbs/uverbs1/ibdev", "rxe_1\n");
        write("sys/class/infiniband_verbs/abi_version", "6\n");
        write("sys/class/infiniband/rxe_0/node_type", "1: CA\n");
        write("dev/infiniband/uverbs0", "");
        write(".dockerenv", "");
        let seen = DeviceFiles::look(root.path());
        assert!(seen.exists && seen.container);
        assert_eq!(seen.kernel, ["rxe_0"]);
        let [first, second] = seen.files.as_slice() else { panic!("{seen:?}") };
        assert_eq!(
            (first.name.as_str(), first.device.as_deref(), first.opened),
            ("uverbs0", Some("rxe_0"), Ok(()))
        );
        assert_eq!((second.name.as_str(), second.opened), ("uverbs1", Err(Errno::NOENT)));
        // Root may open whatever its mode.
        fs::set_permissions(at("dev/infiniband/uverbs0"), fs::Permissions::from_mode(0o000)).unwrap();
        let opened = DeviceFiles::look(root.path()).files[0].opened;
        assert!(opened == Ok(()) || opened == Err(Errno::ACCES), "{opened:?}");
    }

    #[test]
    fn a_group_that_may_is_named() {
        let groups = "root:x:0:\nbad line\nrdma:x:113:alice,bob\n";
        assert_eq!(group(groups, 113, 0o20660).as_deref(), Some("rdma"));
        assert_eq!(group(groups, 113, 0o20600), None);
        assert_eq!(group(groups, 0, 0o20660), None);
        assert_eq!(group(groups, 114, 0o20660), None);
    }
}
