//! What this process and host have: the environment, and an installed libibverbs if there is one.

use std::process::Command;

use super::super::{PlugIns, VARIABLE, library_abi};
use super::{look, only};
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
