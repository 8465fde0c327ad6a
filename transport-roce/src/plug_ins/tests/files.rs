//! Files that are no shared objects of this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::tempdir;

use super::super::machine::Machine;
use super::objects::{NOTHING, Objects};
use super::{PlugInError, assert_says, look, only};
use crate::verbs::Errno;

/// What is wrong with `file`.
fn wrong(file: &Path) -> PlugInError {
    only(look(file, Path::new("/nothing/here"))).unwrap_err()
}

#[test]
fn a_missing_file_is_named_with_where_there_is_one() {
    let (here, there) = (tempdir().unwrap(), tempdir().unwrap());
    let file = here.path().join("liba.so");
    let path = file.display();
    assert_says(
        &wrong(&file),
        &format!(
            "IBV_EXTEND_DRIVERS names {path}, which does not exist; correct the path, or install the NIC's driver package"
        ),
        "find / -name liba.so 2>/dev/null",
    );
    symlink("/nothing/at/all.so", &file).unwrap();
    let found = there.path().join("liba.so");
    fs::write(&found, "").unwrap();
    assert_says(
        &only(look(&file, there.path())).unwrap_err(),
        &format!(
            "IBV_EXTEND_DRIVERS names {path}, which does not exist (it is a link to /nothing/at/all.so); there is {}",
            found.display()
        ),
        &format!("export IBV_EXTEND_DRIVERS={}", found.display()),
    );
    // A file where a directory should be.
    assert!(matches!(wrong(&found.join("liba.so")), PlugInError::NoSuchFile { .. }));
}

#[test]
fn directories_and_pipes_are_no_files_and_nobody_waits_for_them() {
    let here = tempdir().unwrap();
    let path = here.path().display();
    assert_says(
        &wrong(here.path()),
        &format!("{path} is a directory, not a file; write the path of the plug-in itself"),
        &format!("ls -l {path}/*.so*"),
    );
    let pipe = here.path().join("pipe.so");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert_says(
        &wrong(&pipe),
        &format!("{path}/pipe.so is a named pipe, not a file; write the path of the plug-in itself"),
        &format!("ls -l {path}/pipe.so"),
    );
    let socket = here.path().join("socket.so");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(matches!(wrong(&socket), PlugInError::NotRegular { what: "a socket", .. }));
    assert!(matches!(wrong(Path::new("/dev/null")), PlugInError::NotRegular { what: "a device", .. }));
}

#[test]
fn missing_rights_are_told_with_the_command_that_gives_them() {
    let here = tempdir().unwrap();
    let file = here.path().join("liba.so");
    fs::write(&file, "").unwrap();
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(&file, Permissions::from_mode(0o000)).unwrap();
        let error = wrong(&file);
        assert!(matches!(error, PlugInError::Unreadable { errno: Errno::ACCES, .. }), "{error}");
        fs::set_permissions(here.path(), Permissions::from_mode(0o000)).unwrap();
        let error = wrong(&file);
        fs::set_permissions(here.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(matches!(error, PlugInError::Unreachable { errno: Errno::ACCES, .. }), "{error}");
    }
    let file = || "/x/liba.so".to_owned();
    assert_says(
        &PlugInError::Unreadable { file: file(), errno: Errno::ACCES },
        "/x/liba.so cannot be read: Permission denied (os error 13). Give this user the right to read it",
        "chmod a+r /x/liba.so",
    );
    assert_says(
        &PlugInError::Unreachable { file: file(), errno: Errno::ACCES },
        "/x/liba.so cannot be reached: Permission denied (os error 13). Does this user have the right to enter each \
         directory above it?",
        "namei -l /x/liba.so",
    );
    let broken = PlugInError::Unreadable { file: file(), errno: Errno(5) };
    assert_says(
        &broken,
        "/x/liba.so cannot be read: Input/output error (os error 5). Its rights are not the cause: the disk or the server that \
         has it may fail, or it is no file of a disk",
        "ls -l /x/liba.so; cksum /x/liba.so",
    );
    let text = PlugInError::Unreachable { file: file(), errno: Errno(116) }.to_string();
    assert!(text.contains("is the file system or its server down?"), "{text}");
}

#[test]
fn files_that_are_made_up_as_they_are_read_are_told_as_such() {
    let error = wrong(Path::new("/proc/self/mountinfo"));
    let text = error.to_string();
    // By the kernel its end cannot be had, or is at once.
    match error {
        PlugInError::Unreadable { errno: Errno::INVAL, .. } => {
            assert!(text.contains("those of /proc"), "{text}")
        }
        error => assert!(matches!(error, PlugInError::NotElf { .. }), "{error}"),
    }
    let error = wrong(Path::new("/proc/self/mem"));
    assert!(matches!(error, PlugInError::Unreadable { .. }), "{error}");
    assert!(!error.to_string().contains("the right to read"), "{error}");
    assert_says(
        &PlugInError::Unreadable { file: "/proc/x".to_owned(), errno: Errno::INVAL },
        "/proc/x cannot be read: Invalid argument (os error 22). It is no file of a disk (those of /proc, for example, are made \
         up as they are read); name another",
        "ls -l /proc/x; cksum /proc/x",
    );
}

#[test]
fn a_link_that_leads_to_itself_cannot_be_reached() {
    let here = tempdir().unwrap();
    let file = here.path().join("liba.so");
    symlink(&file, &file).unwrap();
    let path = file.display();
    let errno = Errno(rustix::io::Errno::LOOP.raw_os_error());
    assert_says(
        &wrong(&file),
        &format!(
            "{path} cannot be reached: {errno}. A link on the way leads back to itself; let it lead to the file"
        ),
        &format!("namei -l {path}"),
    );
}

#[test]
fn what_is_no_elf_file_is_described() {
    let here = tempdir().unwrap();
    let file = here.path().join("liba.so");
    let path = file.display();
    for (content, looks) in [
        (&b""[..], "is empty"),
        (b"#!/bin/bash\nexit", "is a script (#!/bin/bash)"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid",
            "is text (\"version https://git-lfs.github.com/spec/\")",
        ),
        (b"\x7fELK", "is data that begins with the bytes 7f 45 4c 4b"),
    ] {
        fs::write(&file, content).unwrap();
        assert_says(
            &wrong(&file),
            &format!("{path} is no shared object: it {looks}. Take the file from the NIC's driver package"),
            &format!("file -L {path}"),
        );
    }
}

/// A header, of 64 or 32 bits, with nothing behind it.
fn header(bits: u32, big_endian: bool, machine: u16) -> Vec<u8> {
    let mut header = vec![0; if bits == 64 { 64 } else { 52 }];
    let (class, order) = (if bits == 64 { 2 } else { 1 }, if big_endian { 2 } else { 1 });
    header[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, order, 1]);
    let number = |n: u16| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    header[16..18].copy_from_slice(&number(3));
    header[18..20].copy_from_slice(&number(machine));
    header
}

#[test]
fn other_machines_are_named_with_width_and_byte_order() {
    let here = tempdir().unwrap();
    let file = here.path().join("liba.so");
    let path = file.display();
    let ours = Machine::own().unwrap();
    // The machine of this process is not in the table.
    for (bits, big_endian, machine, theirs) in [
        (64, true, 183, "aarch64 (64-bit, big-endian)"),
        (64, true, 22, "s390x (64-bit, big-endian)"),
        (32, false, 3, "x86 (32-bit, little-endian)"),
        (32, false, 62, "x86_64 (32-bit, little-endian)"),
        (32, true, 40, "arm (32-bit, big-endian)"),
        (64, false, 2000, "machine number 2000 (64-bit, little-endian)"),
    ] {
        fs::write(&file, header(bits, big_endian, machine)).unwrap();
        assert_says(
            &wrong(&file),
            &format!(
                "{path} was built for {theirs}, but this process runs on {ours}; install the NIC's driver package for this \
                 machine"
            ),
            "find / -name liba.so -exec file -L {} + 2>/dev/null",
        );
    }
}

#[test]
fn other_sorts_of_elf_files_are_named() {
    let objects = Objects::new();
    let unlinked = objects.build_with("liba.o", NOTHING, &["-c"]);
    let path = unlinked.display();
    assert_says(
        &wrong(&unlinked),
        &format!(
            "{path} is an object that was not linked (a .o file), not a shared object; take the .so file of the NIC's \
             driver package"
        ),
        &format!("file -L {path}"),
    );
    let source = "void _start(void) { for (;;) {} }";
    for (name, arguments) in [("fixed", &["-no-pie"][..]), ("movable", &["-pie"])] {
        let error = wrong(&objects.build_with(name, source, arguments));
        assert!(matches!(error, PlugInError::NotShared { what: "a program", .. }), "{name}: {error}");
    }
    // Its segments are not what a loader needs.
    let mut bare = fs::read(objects.build("libbare.so", NOTHING, &[])).unwrap();
    bare[56..58].copy_from_slice(&[0, 0]);
    let file = objects.path().join("libbare.debug");
    fs::write(&file, bare).unwrap();
    let error = wrong(&file);
    assert!(error.to_string().contains("without anything to link"), "{error}");
}

#[test]
fn what_is_cut_off_says_how_much_is_there_and_needed() {
    let objects = Objects::new();
    let whole = fs::read(objects.build("libwhole.so", NOTHING, &[])).unwrap();
    let file = objects.path().join("libcut.so");
    let path = file.display();
    fs::write(&file, &whole[..4096]).unwrap();
    assert_says(
        &wrong(&file),
        &format!(
            "{path} is cut off: it has 4096 bytes, but by its headers it needs {}. Copy or install it again; is the disk \
             full?",
            whole.len()
        ),
        &format!("rpm -qf {path} || dpkg -S {path}; df -h {path}"),
    );
}

#[test]
fn tables_that_cannot_be_are_damage() {
    let objects = Objects::new();
    let mut bytes = fs::read(objects.build("libwhole.so", NOTHING, &[])).unwrap();
    let file = objects.path().join("libdamaged.so");
    let path = file.display();
    // The size of an entry in the table of segments.
    bytes[54] = 1;
    fs::write(&file, bytes).unwrap();
    assert_says(
        &wrong(&file),
        &format!("{path} is damaged (Invalid ELF program header entry size); copy or install it again"),
        &format!("rpm -qf {path} || dpkg -S {path}; df -h {path}"),
    );
}

#[test]
fn a_table_that_is_too_large_for_any_library_is_not_read() {
    const SIZE: u64 = 24 << 27;
    let objects = Objects::new();
    let built = objects.build("libsparse.so", NOTHING, &[]);
    let mut bytes = fs::read(&built).unwrap();
    let word = |bytes: &[u8], at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    let sections = usize::try_from(word(&bytes, 40)).unwrap();
    let dynsym =
        (sections..bytes.len()).step_by(64).find(|at| bytes[at + 4..at + 8] == 11_u32.to_ne_bytes()).unwrap();
    // Its symbols are behind all else, where nothing is on the disk.
    let end = bytes.len() as u64;
    bytes[dynsym + 24..dynsym + 32].copy_from_slice(&end.to_ne_bytes());
    bytes[dynsym + 32..dynsym + 40].copy_from_slice(&SIZE.to_ne_bytes());
    fs::write(&built, bytes).unwrap();
    fs::OpenOptions::new().write(true).open(&built).unwrap().set_len(end + SIZE).unwrap();
    let path = built.display();
    assert_says(
        &wrong(&built),
        &format!(
            "{path} is damaged (by its headers, its tables have more than 128 MiB); copy or install it again"
        ),
        &format!("rpm -qf {path} || dpkg -S {path}; df -h {path}"),
    );
}
