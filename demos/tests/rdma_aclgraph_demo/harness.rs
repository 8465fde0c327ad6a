//! Starts PEs of the demo and collects what becomes of them.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A port that is free now. Another process may take it before the demo does; tests then see a clear error.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// The demo with these arguments, with no variables of a job around it.
pub(crate) fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rdma_aclgraph_demo"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SHMEM_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for a PE, at most so long; kills it then, which is a failure.
pub(crate) fn wait(mut child: Child, limit: Duration) -> Output {
    let deadline = Instant::now() + limit;
    let pid = child.id();
    // Read while waiting, or a PE with much to say would never end.
    let out = read_all(child.stdout.take().unwrap());
    let err = read_all(child.stderr.take().unwrap());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() };
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            let err = String::from_utf8_lossy(&err.join().unwrap()).into_owned();
            panic!("process {pid} still ran after {limit:?}; it said: {err}");
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

/// What a PE wrote, as text.
pub(crate) fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Starts all of these, and waits for all.
pub(crate) fn run_all(commands: Vec<Command>, limit: Duration) -> Vec<Output> {
    let children: Vec<Child> = commands.into_iter().map(|mut command| command.spawn().unwrap()).collect();
    children.into_iter().map(|child| wait(child, limit)).collect()
}

/// Asserts that every PE, in order, ended well and said so.
pub(crate) fn assert_success(outputs: &[Output]) {
    for (pe, output) in outputs.iter().enumerate() {
        let (out, err) = text(output);
        assert!(output.status.success(), "PE {pe}: {} {out} {err}", output.status);
        assert!(out.contains(&format!("check transport result success, relative pe={pe}\n")), "{out}");
        assert!(out.contains(&format!("[SUCCESS] demo run success in relative pe {pe}\n")), "{out}");
        assert!(!out.contains("ERROR") && err.is_empty(), "PE {pe}: {out} {err}");
    }
}
