//! Input that cannot be: one clear error each, and soon; exit code 2 for the command line and the environment, 1 for what shows only
//! in the job.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use crate::harness::{assert_success, demo, free_port, run_all, text, wait};

const LIMIT: Duration = Duration::from_secs(30);

/// The demo with these arguments fails in the job, and standard error has each of these texts.
fn fails(command: &mut Command, says: &[&str]) {
    ends(command, 1, says);
}

/// As [`fails`], before there is a job.
fn refused(command: &mut Command, says: &[&str]) {
    ends(command, 2, says);
}

fn ends(command: &mut Command, code: i32, says: &[&str]) {
    let output = wait(command.spawn().unwrap(), LIMIT);
    let (out, err) = text(&output);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {out} {err}");
    assert!(!out.contains("SUCCESS") && !out.contains("success"), "{out}");
    for says in says {
        assert!(err.contains(says), "{command:?} does not say {says:?} but: {err}");
    }
    assert!(!err.contains("panicked"), "{err}");
}

fn six(arguments: [&str; 6]) -> Command {
    demo(&arguments)
}

#[test]
fn a_wrong_count_of_arguments_shows_the_usage() {
    for count in [1, 2, 5, 7] {
        let arguments: Vec<&str> = ["2", "0", "tcp://127.0.0.1:1", "1", "0", "0", "9"][..count].to_vec();
        refused(&mut demo(&arguments), &["Usage: ", "<n_pes> <pe_id> <ipport> <g_npus> <f_pe> <f_npu>"]);
    }
    refused(&mut demo(&[]), &["SHMEM_PE", "--help"]);
    refused(&mut demo(&["--no-such-option"]), &["--no-such-option"]);
}

#[test]
fn numbers_that_are_none_or_out_of_range() {
    let address = "tcp://127.0.0.1:9";
    refused(&mut six(["two", "0", address, "1", "0", "0"]), &["<n_pes>", "\"two\""]);
    refused(&mut six(["2", "-1", address, "1", "0", "0"]), &["<pe_id>", "-1"]);
    refused(&mut six(["2", "0x1", address, "1", "0", "0"]), &["<pe_id>", "0x1"]);
    refused(&mut six(["0", "0", address, "1", "0", "0"]), &["n_pes", "0"]);
    refused(&mut six(["2", "2", address, "1", "0", "0"]), &["<pe_id>", "2"]);
    refused(&mut six(["99999999999999999999", "0", address, "1", "0", "0"]), &["99999999999999999999"]);
    refused(&mut six(["2", "0", address, "0", "0", "0"]), &["<g_npus>", "PE 0"]);
    refused(&mut six(["2", "0", address, "x", "0", "0"]), &["<g_npus>"]);
    refused(&mut six(["2", "0", address, "1", "1", "0"]), &["<f_pe>"]);
    refused(&mut six(["2", "0", address, "1", "", "0"]), &["<f_pe>"]);
    refused(&mut six(["2", "0", address, "1", "0", "99999999999999999999"]), &["<f_npu>"]);
    for (option, value) in
        [("--loops", "0"), ("--loops", "x"), ("--elements", "-3"), ("--elements", "18446744073709551615")]
    {
        refused(six(["1", "0", address, "1", "0", "0"]).args([option, value]), &[option]);
    }
    for heap in ["0", "1", "65535", "41GiB", "1QiB", "-1"] {
        refused(six(["1", "0", address, "1", "0", "0"]).arg(format!("--heap={heap}")), &["--heap"]);
    }
    refused(six(["1", "0", address, "1", "0", "0"]).args(["--timeout", "soon"]), &["--timeout"]);
    refused(
        six(["1", "0", address, "1", "0", "0"]).args(["--backend", "carrier-pigeon"]),
        &["carrier-pigeon", "loopback"],
    );
}

#[test]
fn addresses_that_are_none() {
    for address in [
        "",
        "tcp://",
        "127.0.0.1",
        "tcp://127.0.0.1",
        "tcp://127.0.0.1:",
        "tcp://127.0.0.1:70000",
        "udp://127.0.0.1:1",
        "::1:80",
    ] {
        refused(&mut six(["2", "0", address, "2", "0", "0"]), &["<ipport>"]);
    }
    fails(&mut six(["2", "0", "tcp://192.0.2.1:8899", "2", "0", "0"]), &["192.0.2.1"]);
    fails(
        six(["2", "0", "tcp://no-such-host.invalid:8899", "2", "0", "0"]).args(["--timeout", "3"]),
        &["no-such-host.invalid"],
    );
}

#[test]
fn a_port_in_use_is_named() {
    let holder = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("tcp://{}", holder.local_addr().unwrap());
    fails(&mut six(["2", "0", &address, "2", "0", "0"]), &[&address["tcp://".len()..], "in use"]);
}

#[test]
fn a_rendezvous_that_never_answers_or_is_not_there() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("tcp://{}", silent.local_addr().unwrap());
    fails(
        six(["2", "1", &address, "2", "0", "0"]).args(["--timeout", "1"]),
        &["PE 1", &address["tcp://".len()..]],
    );
    let address = format!("tcp://127.0.0.1:{}", free_port());
    fails(six(["2", "1", &address, "2", "0", "0"]).args(["--timeout", "1"]), &["PE 1", "refused"]);
    fails(six(["3", "0", &address, "3", "0", "0"]).args(["--timeout", "1"]), &["PEs 1, 2"]);
}

/// Runs PEs that do not fit, and asserts that every one of them fails and says these.
fn all_fail(commands: Vec<Command>, says: &[&str]) {
    for output in run_all(commands, LIMIT) {
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(1), "{out} {err}");
        for says in says {
            assert!(err.contains(says), "not {says:?} but: {err}");
        }
    }
}

#[test]
fn pes_that_do_not_fit_each_other() {
    let address = || format!("tcp://127.0.0.1:{}", free_port());
    let at = address();
    let pe = |n: &str, pe: &str| six([n, pe, &at, "4", "0", "0"]);
    all_fail(vec![pe("3", "0"), pe("3", "1"), pe("3", "1")], &["PE 1"]);
    let at = address();
    let pe = |n: &str, pe: &str| six([n, pe, &at, "4", "0", "0"]);
    all_fail(vec![pe("2", "0"), pe("3", "1")], &["n_pes", "2", "3"]);
    let at = address();
    let pe = |pe: &str, heap: &str| {
        let mut command = six(["2", pe, &at, "4", "0", "0"]);
        command.args(["--heap", heap]);
        command
    };
    all_fail(vec![pe("0", "1MiB"), pe("1", "2MiB")], &["heap", "PE 1"]);
}

#[test]
fn a_heap_larger_than_memory_is_refused_on_all() {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let gib = (total("MemTotal:") + total("SwapTotal:")) >> 20;
    if gib >= 39 {
        // The largest heap there can be fits in this machine.
        return;
    }
    let (at, heap) = (format!("tcp://127.0.0.1:{}", free_port()), format!("{}GiB", gib + 1));
    let pe = |pe: &str| {
        let mut command = six(["2", pe, &at, "2", "0", "0"]);
        command.args(["--heap", &heap]);
        command
    };
    all_fail(vec![pe("0"), pe("1")], &["larger than what this machine has", "--heap"]);
}

#[test]
fn pes_that_were_started_with_other_options() {
    for (option, one, other) in
        [("--elements", "16", "17"), ("--loops", "3", "4"), ("--algorithm", "auto", "textbook")]
    {
        let at = format!("tcp://127.0.0.1:{}", free_port());
        let pe = |pe: &str, value: &str| {
            let mut command = six(["2", pe, &at, "2", "0", "0"]);
            command.args([option, value]);
            command
        };
        all_fail(vec![pe("0", one), pe("1", other)], &[option, one, other, "PE 1"]);
    }
}

#[test]
fn what_was_asked_for_and_cannot_be_done_is_a_failure() {
    let one = || six(["1", "0", "tcp://127.0.0.1:0", "1", "0", "0"]);
    fails(one().args(["--dot", "/no/such/folder/graph.dot"]), &["--dot", "/no/such/folder"]);
    fails(one().args(["--dot", "/dev/full"]), &["--dot", "/dev/full"]);
    // Past this limit the system would kill the process without a word.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 10; exec \"$@\"", "sh"]).arg(one().get_program()).args(one().get_args());
    limited
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    fails(&mut limited, &["ulimit -f", "PE 0"]);
}

#[test]
fn the_script_refuses_options_without_a_value() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/rdma_aclgraph_demo/run.sh");
    for arguments in [
        &["-n"][..],
        &["--port"],
        &["--backend"],
        &["-n", "0"],
        &["-n", "two"],
        &["--port", "70000"],
        &["rubbish"],
    ] {
        let mut command = Command::new(script);
        command.args(arguments).stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        fails(&mut command, &["run.sh: "]);
    }
}

#[test]
fn names_are_taken_in_capitals_too() {
    let n = demos::BACKENDS[0].to_uppercase();
    let port = free_port().to_string();
    let six = ["1", "0", &format!("tcp://127.0.0.1:{port}"), "1", "0", "0"];
    let mut by_option = demo(&six);
    by_option.args(["--backend", &n, "--algorithm", "Ring", "--heap", "1MiB"]);
    assert_success(&[by_option.output().unwrap()]);
    let mut by_environment = demo(&six);
    by_environment.args(["--heap", "1MiB"]).env("SHMEM_BACKEND", &n).env("SHMEM_ALLGATHER", "RING");
    assert_success(&[by_environment.output().unwrap()]);
}

/// Help that nobody gets is a failure, told in one line.
#[test]
fn a_help_that_cannot_be_written_is_told() {
    for (program, name) in [
        (env!("CARGO_BIN_EXE_rdma_aclgraph_demo"), "rdma_aclgraph_demo"),
        (env!("CARGO_BIN_EXE_shmrun"), "shmrun"),
        (env!("CARGO_BIN_EXE_shmem-doctor"), "shmem-doctor"),
        (env!("CARGO_BIN_EXE_conformance"), "conformance"),
    ] {
        for option in ["--help", "--version"] {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let output = Command::new(program).arg(option).stdout(full).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name} {option}: {err}");
            assert!(err.starts_with(&format!("{name}: standard output: ")), "{name} {option}: {err}");
            assert_eq!(err.lines().count(), 1, "{name} {option}: {err}");
        }
    }
}

#[test]
fn a_suite_without_rounds_is_refused() {
    let conformance = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap()
    };
    for (rounds, reason) in [("0", "1..=1000000"), ("1000001", "1..=1000000"), ("-1", "invalid digit")] {
        let output = conformance(&[&format!("--rounds={rounds}")]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("--rounds") && err.contains(reason), "{err}");
    }
    assert!(conformance(&["--rounds", "1", "--list"]).status.success());
}
