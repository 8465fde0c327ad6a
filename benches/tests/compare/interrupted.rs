//! Ended by a signal in the middle: nothing that was started or made is left.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{compare, line, script};

/// No test needs longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A variable that all have that a comparison starts.
const MARK: &str = "COMPARE_TEST_MARK";

/// What a program does that is never done, and what it started, of which one is in a session of its own and ends by no signal that
/// can be ignored.
const NEVER_DONE: &str = "/bin/sleep 600 & /usr/bin/setsid /bin/sh -c 'trap \"\" TERM INT HUP; : > \"$0\"; /bin/sleep 600; \
                          /bin/sleep 600' \"$READY\" & wait; wait";

/// The command lines of the processes that have this mark. A zombie has none.
fn marked(mark: &str) -> Vec<String> {
    let variable = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|of| of == variable.as_bytes()) {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A comparison that has come to the program that is never done.
struct Begun {
    child: Child,
    mark: String,
    /// Where it has a peer's program built.
    built_in: PathBuf,
}

/// Starts one in which `hangs` (of `shmrun`, `mpirun` and `mpicc`) is never done.
fn begin(directory: &Path, hangs: &str) -> Begun {
    let (built_in, ready) = (directory.join("built-in"), directory.join("ready"));
    let says = format!("echo '{}'", line("barrier", 0, 4, 3.0));
    let of = |program: &str| if program == hangs { NEVER_DONE } else { &says };
    script(directory, "shmrun", of("shmrun"));
    script(directory, "perf", "exit 1");
    let version = r#"if [ "$1" = --version ]; then echo "mpirun (Test) 9.9"; exit; fi"#;
    script(directory, "mpirun", &format!("{version}\n{}", of("mpirun")));
    // The file that is to be built follows `-o`.
    let file = format!(
        "while [ \"$1\" != -o ]; do shift; done; echo \"${{2%/*}}\" > '{}.new'; /bin/mv '{0}.new' '{0}'",
        built_in.display()
    );
    script(directory, "mpicc", &format!("{file}\n{}", if hangs == "mpicc" { NEVER_DONE } else { "exit 0" }));
    let mark = directory.file_name().unwrap().to_str().unwrap().to_owned();
    let mut command = compare(&["barrier:4", "--deadline", "3600"]);
    command.env("PATH", directory).arg("--bin-dir").arg(directory).env(MARK, &mark).env("READY", &ready);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the program that is never done", || ready.exists());
    let built_in = PathBuf::from(std::fs::read_to_string(built_in).unwrap().trim());
    Begun { child, mark, built_in }
}

/// Ends it by `signal`, and sees to it that nothing is left.
fn end(begun: Begun, signal: Signal, name: &str) {
    let Begun { mut child, mark, built_in } = begun;
    assert!(built_in.is_dir() && marked(&mark).len() > 3, "{:?}", marked(&mark));
    kill_process(Pid::from_child(&child), signal).unwrap();
    eventually("its end", || child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(128 + signal.as_raw()), "{err}");
    assert!(err.ends_with(&format!("compare: ended by {name}\n")), "{err}");
    assert!(output.stdout.is_empty(), "a table of what was not measured");
    assert!(!built_in.exists(), "{} is left", built_in.display());
    // What was killed goes when the system comes to it.
    eventually("no process of the comparison", || marked(&mark).is_empty());
}

/// Whether this process, and so all that it starts, was started to ignore a signal.
fn is_ignored(signal: Signal) -> bool {
    demos::signals::not_ignored([signal.as_raw()]).is_empty()
}

#[test]
fn whatever_runs_nothing_is_left() {
    for hangs in ["shmrun", "mpirun", "mpicc"] {
        for (signal, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM"), (Signal::HUP, "SIGHUP")] {
            if !is_ignored(signal) {
                let directory = tempfile::tempdir().unwrap();
                end(begin(directory.path(), hangs), signal, name);
            }
        }
    }
}

#[test]
fn one_that_was_started_to_ignore_them_does() {
    let directory = tempfile::tempdir().unwrap();
    // It goes on after the signal, and ends as it would have.
    let says = line("barrier", 0, 4, 3.0);
    let waits = format!(": > \"$READY\"; while [ ! -e \"$GO\" ]; do /bin/sleep 0.01; done; echo '{says}'");
    script(directory.path(), "shmrun", &waits);
    script(directory.path(), "perf", "exit 1");
    let (ready, go) = (directory.path().join("ready"), directory.path().join("go"));
    let mut command = Command::new("/bin/sh");
    command.args([
        "-c",
        "trap '' HUP INT QUIT TERM; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_compare"),
        "--bin-dir",
    ]);
    command.arg(directory.path()).args(["--pairs", "1", "barrier:4"]);
    command.env("PATH", directory.path()).env("READY", &ready).env("GO", &go);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the comparison", || ready.exists());
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    std::fs::write(&go, "").unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("barrier"), "{out} {err}");
}
