//! Starts doctors and collects what they say.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far beyond what any of these takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A port that is free now. Another process may take it before the doctor does; tests then see a clear error.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// The doctor with these arguments, and with no variables around it that say something to it.
pub(crate) fn doctor(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shmem-doctor"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("SHMEM_") || text.starts_with("CLICOLOR") || text == "NO_COLOR" {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What it wrote and how it ended.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs it to its end, at most so long as [`LIMIT`].
pub(crate) fn said(command: &mut Command) -> Said {
    wait(command.spawn().unwrap())
}

/// As [`said`], for one that was started.
pub(crate) fn wait(child: Child) -> Said {
    let Output { status, stdout, stderr } = collect(child);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said = Said { code: status.code(), out: text(stdout), err: text(stderr) };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}

fn collect(mut child: Child) -> Output {
    let deadline = Instant::now() + LIMIT;
    // Read while waiting, or a doctor with much to say would never end.
    let out = child.stdout.take().map(read_all);
    let err = child.stderr.take().map(read_all);
    let bytes =
        |reader: Option<thread::JoinHandle<Vec<u8>>>| reader.map_or(Vec::new(), |r| r.join().unwrap());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Output { status, stdout: bytes(out), stderr: bytes(err) };
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the doctor still ran after {LIMIT:?}; it said: {}", String::from_utf8_lossy(&bytes(err)));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}
