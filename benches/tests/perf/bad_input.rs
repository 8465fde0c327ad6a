//! Jobs that are refused, and how they say so.

use std::time::{Duration, Instant};

use crate::harness::{as_job, perf, text};

/// Asserts that a PE failed with this code, printed no result and said all of this.
fn assert_refused(output: &std::process::Output, code: i32, said: &[&str]) {
    let (out, err) = text(output);
    assert_eq!(output.status.code(), Some(code), "{out} {err}");
    assert!(out.is_empty(), "{out}");
    for said in said {
        assert!(err.contains(said), "{said:?} is missing: {err}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_the_pes_meet() {
    for (work, code, said) in [
        ("pong", 2, "no work is called \"pong\""),
        ("put:0", 2, "at least 1"),
        ("put:8m8", 2, "put:8m8"),
        ("get:3MiB", 2, "PE 1 of 2: get:3145728 needs 6295552 bytes of symmetric heap"),
    ] {
        // Without PE 0, which would be missed if it looked for it.
        let mut command = perf(&[work]);
        command.env("SHMEM_PE", "1").env("SHMEM_N_PES", "2").env("SHMEM_UID_SESSION_ID", "tcp://127.0.0.1:9");
        let started = Instant::now();
        assert_refused(&command.output().unwrap(), code, &[said]);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
    let alone = as_job(vec![perf(&["stream"])]);
    assert_refused(&alone[0], 2, &["PE 0 of 1: stream needs at least 2 PEs"]);
    assert_refused(&perf(&["put"]).output().unwrap(), 2, &["perf: "]);
}

#[test]
fn pes_with_different_room_are_told() {
    let outputs = as_job(vec![perf(&["--rounds", "1", "put:1M"]), perf(&["--rounds", "1", "put:1K"])]);
    for (pe, output) in outputs.iter().enumerate() {
        assert_refused(output, 1, &["not the same on every PE", &format!("PE {pe}")]);
    }
}

#[test]
fn help_is_no_error() {
    let output = perf(&["--help"]).output().unwrap();
    let (out, err) = text(&output);
    assert!(output.status.success() && err.is_empty(), "{err}");
    assert!(out.contains("perf [OPTIONS] WORK...") && out.contains("ping-pong:8"), "{out}");
}

#[test]
fn a_help_that_cannot_be_written_is_told() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = perf(&["--help"]).stdout(full).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("perf: standard output: ") && err.lines().count() == 1, "{err}");
}
