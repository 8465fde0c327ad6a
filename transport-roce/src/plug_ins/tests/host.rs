//! What this process and host have: the environment, and an installed libibverbs if there is one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{StatVfsMountFlags, XattrFlags, setxattr, statvfs};

use super::super::{PlugIns, VARIABLE, is_privileged, library_abi};
use super::{look, only};
use crate::abi::is_secure_execution;
use crate::verbs::Library;

#[test]
fn the_environment_is_read_once() {
    let value = "/nothing/at/all.so;a..b";
    if std::env::var(VARIABLE).as_deref() != Ok(value) {
        // It must not change in a process with threads, and so another one has it.
        let (_, module) = module_path!().split_once("::").unwrap();
        let test = format!("{module}::the_environment_is_read_once");
        let mut again = Command::new(std::env::current_exe().unwrap());
        let ran = again.args([&test, "--exact"]).env(VARIABLE, value).output().unwrap();
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let plug_ins = PlugIns::of_process(None);
    assert_eq!((plug_ins.value.as_deref(), plug_ins.ignored), (Some(value), false));
    let texts: Vec<&str> = plug_ins.entries.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(texts, ["/nothing/at/all.so", "a..b"]);
    assert!(plug_ins.usable().is_empty());
    assert!(std::ptr::eq(plug_ins, PlugIns::of_process(None)));
}

#[test]
fn the_providers_of_an_installed_library_are_known_as_such() {
    let Some(library) = Library::open().ok().and_then(|library| library.path()) else { return };
    let abi = library_abi(&library).expect("libibverbs has a private ABI");
    let Ok(files) = std::fs::read_dir(library.with_file_name("libibverbs")) else { return };
    let ending = format!("-rdmav{abi}.so");
    let files = files.flatten().map(|file| file.path());
    for file in files.filter(|file| file.to_string_lossy().ends_with(&ending)) {
        let plug_in = only(look(&file, std::path::Path::new("/nothing/here"))).unwrap();
        assert_eq!((plug_in.provider_abi, plug_in.extends), (Some(abi), false), "{}", file.display());
    }
}

#[test]
fn the_kernel_says_whether_the_environment_is_to_be_heeded() {
    // The test's program has no rights that its caller has not, and the vector is open to it.
    let Ok(vector) = fs::read("/proc/self/auxv") else { return };
    let words: Vec<usize> = vector
        .chunks_exact(size_of::<usize>())
        .map(|word| usize::from_ne_bytes(word.try_into().unwrap()))
        .collect();
    let secure = words.chunks_exact(2).find(|pair| pair[0] == 23).is_some_and(|pair| pair[1] != 0);
    assert_eq!(is_secure_execution(), secure);
}

#[test]
fn capabilities_of_the_programs_file_make_the_variable_ignored() {
    const PROGRAM: &str = "TEST_OF_PLUG_INS_WITH_CAPABILITIES";
    /// `cap_net_raw=ep`, as the kernel has it on the disk (version 2, little-endian).
    const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    if std::env::var_os(PROGRAM).is_some() {
        let plug_ins = PlugIns::of_process(None);
        assert!(is_privileged() && plug_ins.ignored && plug_ins.entries.is_empty(), "{plug_ins:?}");
        return;
    }
    // Only root can give a file capabilities, and not everywhere; they count for other users only.
    let here = tempfile::tempdir().unwrap();
    let without = statvfs(here.path()).unwrap().f_flag.contains(StatVfsMountFlags::NOSUID);
    if without || rustix::thread::no_new_privs().unwrap_or(true) || !rustix::process::geteuid().is_root() {
        return;
    }
    let program = here.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(here.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    if setxattr(&program, "security.capability", &CAPABILITY, XattrFlags::empty()).is_err() {
        return;
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let test = format!("{module}::capabilities_of_the_programs_file_make_the_variable_ignored");
    let mut again = Command::new(&program);
    again.args([&test, "--exact"]).env(PROGRAM, "").env(VARIABLE, "/nothing/at/all.so");
    // Of all ids the real and the effective ones are the same then.
    let Ok(ran) = again.current_dir("/").uid(65534).gid(65534).output() else { return };
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && text.contains("1 passed"), "{text}");
}
