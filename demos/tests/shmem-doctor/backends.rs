//! Backends that cannot run on a host like most where this is tested: without RDMA.

#![cfg(feature = "verbs")]

use crate::harness::{Said, doctor, said};

#[test]
fn a_setting_of_the_nics_that_is_wrong_is_a_wrong_command_line() {
    for backend in demos::BACKENDS.iter().filter(|backend| **backend != "loopback") {
        let mut command = doctor(&["--backend", backend, "--heap", "1MiB"]);
        let Said { code, out, err } = said(command.env("SHMEM_GID_INDEX", "many"));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains("SHMEM_GID_INDEX") && err.contains("many"), "{err}");
    }
}

/// On a host with NICs, the testbed runs the real thing.
fn has_nics() -> bool {
    std::fs::read_dir("/sys/class/infiniband").is_ok_and(|mut devices| devices.next().is_some())
}

#[test]
fn one_that_is_asked_for_fails_and_says_what_is_missing() {
    if has_nics() {
        return;
    }
    for backend in demos::BACKENDS.iter().filter(|backend| **backend != "loopback") {
        let Said { code, out, .. } = said(&mut doctor(&["--backend", backend, "--heap", "1MiB"]));
        assert_eq!(code, Some(1), "{out}");
        assert!(out.contains("\n  fail  ") && out.contains("\n    -> "), "{out}");
        assert!(out.contains("libibverbs") || out.contains("RDMA device"), "{out}");
        let last = out.lines().last().unwrap();
        assert!(last.contains(&format!("a job on backend {backend} cannot start here: ")), "{last}");
    }
}

#[cfg(feature = "loopback")]
#[test]
fn nobody_asked_for_it_so_it_is_a_warning() {
    if has_nics() {
        return;
    }
    let Said { code, out, .. } = said(&mut doctor(&["--heap", "1MiB"]));
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("\n  warn  ") && !out.contains("\n  fail  "), "{out}");
}

#[test]
fn what_a_plug_in_prints_does_not_spoil_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let (source, file) = (folder.path().join("loud.c"), folder.path().join("libloud.so"));
    let code =
        "#include <stdio.h>\n__attribute__((constructor)) static void loud(void) { puts(\"LOUD\"); }\n";
    std::fs::write(&source, code).unwrap();
    let mut compiler = std::process::Command::new("cc");
    assert!(compiler.args(["-shared", "-fPIC", "-o"]).args([&file, &source]).status().unwrap().success());
    for backend in demos::BACKENDS.iter().filter(|backend| **backend != "loopback") {
        let mut command = doctor(&["--backend", backend, "--heap", "1MiB", "--json"]);
        // At once, and at the end of the process, where C would write what it has kept.
        let Said { out, .. } = said(command.env("IBV_EXTEND_DRIVERS", &file));
        assert!(out.starts_with('{') && out.ends_with("}\n") && !out.contains("LOUD"), "{out}");
    }
}

/// Neither NIC is here, and the plug-in is that of one: nobody asked for the other.
#[cfg(all(feature = "xscale", feature = "hns1825"))]
#[test]
fn without_a_backend_nobody_is_blamed_for_another_nic_s_plug_in() {
    if has_nics() {
        return;
    }
    let mut command = doctor(&["--heap", "1MiB"]);
    let Said { code, out, .. } = said(command.env("IBV_EXTEND_DRIVERS", "/nowhere/libxscale_nda.so"));
    assert_eq!(code, Some(0), "{out}");
    assert!(!out.contains("was asked for"), "{out}");
    assert!(out.contains("hns1825 cannot run here") && out.contains("/nowhere/libxscale_nda.so"), "{out}");
}
