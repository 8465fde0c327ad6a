//! What is refused, and how it is said.

use crate::harness::{compare, text};

#[test]
fn what_cannot_be_done_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let nowhere = empty.path().to_str().unwrap();
    for (arguments, code, reason) in [
        (vec!["pong"], 2, "no work is called \"pong\"; there are put-quiet"),
        (vec!["--only", "put:8@3"], 2, "compared for 2"),
        (vec!["--pairs", "0"], 2, "--pairs"),
        (vec!["--bind", "socket"], 2, "possible values: core, none"),
        (vec!["--bin-dir", nowhere, "put"], 1, "shmrun is not in"),
        (vec!["--json", nowhere, "put"], 1, "is a directory"),
        (vec!["--svg", "/proc/self/nowhere/x", "put"], 1, "/proc/self/nowhere/x: No such file or directory"),
        (vec!["__turns"], 1, "this way of calling compare is its own"),
        (vec!["__hand-off"], 1, "this way of calling compare is its own"),
    ] {
        let output = compare(&arguments).output().unwrap();
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {err}");
        assert!(out.is_empty() && err.contains(reason), "{arguments:?}: {out} {err}");
    }
}

#[test]
fn help_is_no_error() {
    let output = compare(&["--help"]).output().unwrap();
    let (out, err) = text(&output);
    assert!(output.status.success() && err.is_empty(), "{err}");
    assert!(out.contains("compare [OPTIONS] [WORK]...") && out.contains("all-gather:64@2"), "{out}");
}

#[test]
fn a_help_that_cannot_be_written_is_told() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = compare(&["--help"]).stdout(full).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("compare: standard output: ") && err.lines().count() == 1, "{err}");
}
