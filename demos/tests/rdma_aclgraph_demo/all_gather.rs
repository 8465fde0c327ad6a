//! How the AllGather is done: by option, by environment, by the table.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::harness::{assert_success, demo, free_port, run_all, text};

const LIMIT: Duration = Duration::from_secs(60);

/// Two PEs, each with its value of `SHMEM_ALLGATHER` and its options.
fn two(values: [&str; 2], options: [&[&str]; 2]) -> Vec<Output> {
    let at = format!("tcp://127.0.0.1:{}", free_port());
    let command = |pe: usize| -> Command {
        let mut command = demo(&["2", &pe.to_string(), &at, "2", "0", "0"]);
        command.args(options[pe]).env("SHMEM_ALLGATHER", values[pe]);
        command
    };
    run_all(vec![command(0), command(1)], LIMIT)
}

/// The names of the AllGathers that PE 0 has captured, by the graph that it draws.
fn captured(directory: &Path, value: &str, options: &[&str]) -> Vec<String> {
    let file = directory.join("graph.dot");
    let drawn = [options, &["--dot", file.to_str().unwrap()]].concat();
    assert_success(&two([value, value], [&drawn, options]));
    let graph = std::fs::read_to_string(&file).unwrap();
    let name = |line: &str| {
        let (_, after) = line.split_once(": all_gather ")?;
        Some(after.split(['\\', '"']).next().unwrap().to_owned())
    };
    graph.lines().filter_map(name).collect()
}

#[test]
fn the_option_goes_before_the_environment_and_that_before_the_table() {
    let directory = tempfile::tempdir().unwrap();
    // 16 KiB of each PE are more than `eager` has room for.
    for (value, options, used) in [
        ("", &[][..], "eager"),
        ("ring", &[], "ring"),
        ("ring", &["--algorithm", "auto"], "eager"),
        ("ring", &["--algorithm", "textbook"], "textbook"),
        ("eager", &["--elements", "4096"], "direct"),
    ] {
        assert_eq!(captured(directory.path(), value, options), [used, used], "{value:?} {options:?}");
    }
}

#[test]
fn verbose_tells_where_it_comes_from() {
    for output in two(["bruck", "bruck"], [&["--verbose"], &["--verbose"]]) {
        let (out, err) = text(&output);
        assert!(output.status.success(), "{out} {err}");
        assert!(err.contains("AllGather          bruck (environment SHMEM_ALLGATHER)"), "{err}");
    }
}

/// They would wait for what nobody sends.
#[test]
fn pes_with_different_ones_are_told_so() {
    for (values, options) in [
        (["ring", "pull"], [&[][..], &[]]),
        (["ring", "ring"], [&[], &["--algorithm", "pull"]]),
        (["", "pull"], [&["--algorithm", "ring"], &[]]),
    ] {
        for output in two(values, options) {
            let (out, err) = text(&output);
            assert_eq!(output.status.code(), Some(1), "{out} {err}");
            let says = "the PEs do not agree on the AllGather's algorithm: PE 1 has pull, PE 0 has ring; \
                        give every PE the same algorithm (SHMEM_ALLGATHER or --algorithm)";
            assert!(err.contains(says), "{err}");
        }
    }
}

#[test]
fn a_name_that_is_none_is_an_error_with_those_that_are() {
    for output in two(["fast", "fast"], [&[], &[]]) {
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(2), "{out} {err}");
        for says in [
            "environment SHMEM_ALLGATHER",
            "\"fast\"",
            "auto, textbook, eager, marked, direct, pull, fetch, ring",
        ] {
            assert!(err.contains(says), "not {says:?} but: {err}");
        }
    }
}
