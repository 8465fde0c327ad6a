//! Running `shmrun` and finding the processes that it should not have left.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The launcher under test.
pub(crate) const SHMRUN: &str = env!("CARGO_BIN_EXE_shmrun");

/// No test needs longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A variable that every process of one test job inherits.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// One that no other job has.
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("SHMRUN_TEST_MARK=<{}-{number}>", std::process::id()))
    }

    /// The command lines of the processes that have it. A zombie has none.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mut found = Vec::new();
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            if environment.split(|&byte| byte == 0).any(|variable| variable == self.0.as_bytes()) {
                let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
                found.push(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
        found
    }
}

/// What `program` is to be run with: `arguments`, and a mark to find its processes by.
pub(crate) fn marked(program: &str, arguments: &[&str]) -> (Command, Mark) {
    let mark = Mark::new();
    let (name, value) = mark.0.split_once('=').unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env(name, value).env_remove("SHMEM_SECRET");
    (command, mark)
}

/// `shmrun -n n OPTIONS sh -c SCRIPT`, ended by itself should a test hang.
pub(crate) fn script(n: usize, options: &str, script: &str) -> (Command, Mark) {
    let n = n.to_string();
    // A later `--timeout` would be an error: the test's own comes instead.
    let limit = if options.contains("--timeout") { "" } else { "--timeout 20" };
    let mut arguments = vec!["-n", &n];
    arguments.extend(options.split_whitespace().chain(limit.split_whitespace()));
    arguments.extend(["sh", "-c", script]);
    marked(SHMRUN, &arguments)
}

/// A job that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code of `shmrun`.
    pub(crate) code: Option<i32>,
    /// Its standard output.
    pub(crate) out: Vec<u8>,
    /// Its standard error.
    pub(crate) err: String,
    /// How long it took.
    pub(crate) time: Duration,
}

impl Ended {
    /// Standard output, line by line, sorted: PEs may be shown in any order.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut lines: Vec<String> = String::from_utf8_lossy(&self.out).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Its exit code and standard error, for `assert_eq!`.
    pub(crate) fn code_and_err(&self) -> (i32, &str) {
        (self.code.unwrap_or(-1), self.err.trim_end())
    }
}

/// Runs a job to its end, and sees to it that it left no process.
pub(crate) fn run((mut command, mark): (Command, Mark)) -> Ended {
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output().unwrap();
    let time = start.elapsed();
    assert_eq!(mark.processes(), [""; 0], "left behind");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), out: output.stdout, err, time }
}

/// A job that runs.
#[derive(Debug)]
pub(crate) struct Running {
    /// The launcher.
    pub(crate) child: Child,
    /// Its standard output.
    pub(crate) out: BufReader<ChildStdout>,
    /// What its processes are found by.
    pub(crate) mark: Mark,
}

impl Running {
    /// Starts a job whose output the test reads while it runs.
    pub(crate) fn start((mut command, mark): (Command, Mark)) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, mark }
    }

    /// The next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits until each of `n` PEs has said `word`.
    pub(crate) fn wait_for(&mut self, n: usize, word: &str) {
        for _ in 0..n {
            let line = self.line();
            assert!(line.ends_with(word), "{line:?} in place of {word:?}");
        }
    }

    /// Sends a signal to the launcher.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the launcher, sees to it that nothing is left, and returns its code and standard error.
    pub(crate) fn end(mut self) -> (i32, String) {
        let mut rest = String::new();
        while self.out.read_line(&mut rest).unwrap() > 0 {}
        let mark = self.mark;
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(mark.processes(), [""; 0], "left behind");
        (code_of(output.status), String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
    }
}

/// The exit code as a shell would show it.
pub(crate) fn code_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap()
}

/// Waits until `condition` holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(5));
    }
}
