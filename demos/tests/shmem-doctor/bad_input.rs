//! A wrong command line: exit code 2, nothing on standard output, and a text that names the slip.

use std::process::Command;

use crate::harness::{Said, doctor, said};

/// It ends with exit code 2, and standard error has each of these texts.
fn wrong(command: &mut Command, says: &[&str]) {
    let Said { code, out, err } = said(command);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{command:?}: {err}");
    for says in says {
        assert!(err.contains(says), "{command:?} does not say {says:?} but: {err}");
    }
}

#[test]
fn options_and_their_values() {
    for (arguments, says) in [
        (&["--no-such-option"][..], &["--no-such-option"][..]),
        (&["rubbish"], &["rubbish"]),
        (&["--heap", "1QiB"], &["--heap", "1QiB"]),
        (&["--heap", "1.5G"], &["--heap", "1536M"]),
        (&["--heap", "1"], &["--heap", "64 KiB"]),
        (&["--heap", "41GiB"], &["--heap", "40 GiB"]),
        (&["--heap=-1"], &["--heap", "negative"]),
        (&["--heap", ""], &["--heap"]),
        (&["--timeout", "soon"], &["--timeout", "\"soon\""]),
        (&["--timeout", "0"], &["--timeout", "0.001"]),
        (&["--timeout", "inf"], &["--timeout"]),
        (&["--pes", "0"], &["--pes", "1 to 65536"]),
        (&["--pes", "65537"], &["--pes", "1 to 65536"]),
        (&["--pes", "two"], &["--pes", "\"two\""]),
        (&["--pes=-1"], &["--pes"]),
        (&["--npu", "x"], &["--npu", "x"]),
        (&["--npu=-1"], &["--npu"]),
        (&["--rendezvous", "127.0.0.1"], &["--rendezvous", "no port"]),
        (&["--rendezvous", "udp://127.0.0.1:1"], &["--rendezvous", "udp"]),
        (&["--color", "sometimes"], &["--color", "sometimes", "auto, always, never"]),
        (&["--peer", ""], &["--peer"]),
        (&["--peer", "10.0.0"], &["--peer", "\"10.0.0\""]),
        (&["--peer", "10.0.0.2:70000"], &["--peer", "70000"]),
        (&["--peer", "10.0.0.2:0"], &["--peer", "port 0"]),
        (&["--peer", "[10.0.0.2]"], &["--peer", "10.0.0.2"]),
        (&["--peer", "0.0.0.0"], &["--peer", "0.0.0.0"]),
        (&["--peer"], &["--peer"]),
        (&["--device", "no/such"], &["--device", "no/such"]),
    ] {
        wrong(&mut doctor(arguments), says);
        wrong(doctor(arguments).arg("--json"), &[]);
    }
}

#[test]
fn a_backend_that_is_not_in_this_build() {
    wrong(
        &mut doctor(&["--backend", "pigeon"]),
        &[
            "\"pigeon\" (argument --backend)",
            demos::BACKENDS[0],
            "loopback",
            "roce",
            "xscale",
            "hns1825",
            "feature",
        ],
    );
    for known in ["loopback", "roce", "xscale", "hns1825"] {
        if !demos::BACKENDS.contains(&known) {
            let says = [&format!("{known:?} (argument --backend)"), demos::BACKENDS[0], "--features", known];
            wrong(&mut doctor(&["--backend", known]), &says);
        }
    }
}

#[test]
fn variables_of_the_environment() {
    for (name, value) in [
        ("SHMEM_BACKEND", "pigeon"),
        ("SHMEM_HEAP_SIZE", "much"),
        ("SHMEM_TIMEOUT", "0"),
        ("SHMEM_UID_SESSION_ID", "nowhere"),
        ("SHMEM_LOG_LEVEL", "loud"),
        ("SHMEM_ALLGATHER", "fast"),
    ] {
        wrong(doctor(&[]).env(name, value), &[name, value]);
    }
    // An argument overrides it.
    let mut command = doctor(&["--backend", "loopback", "--heap", "1MiB"]);
    assert_eq!(said(command.env("SHMEM_HEAP_SIZE", "much").env("SHMEM_BACKEND", "pigeon")).code, Some(0));
}
