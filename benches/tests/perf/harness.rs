//! Starts PEs of `perf` and collects what becomes of them.

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};

/// `perf` with these arguments, with no variables of a job around it.
pub(crate) fn perf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perf"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SHMEM_") {
            command.env_remove(name);
        }
    }
    command.args(["--backend", "loopback", "--heap", "4MiB", "--timeout", "30"]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Makes PEs of one job of these.
pub(crate) fn as_job(commands: Vec<Command>) -> Vec<Output> {
    // Free now; if another process takes it before PE 0 does, the job says so.
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let n_pes = commands.len().to_string();
    let start = |(pe, mut command): (usize, Command)| {
        command
            .env("SHMEM_PE", pe.to_string())
            .env("SHMEM_N_PES", &n_pes)
            .env("SHMEM_UID_SESSION_ID", format!("tcp://127.0.0.1:{port}"));
        command.spawn().unwrap()
    };
    let children: Vec<Child> = commands.into_iter().enumerate().map(start).collect();
    // What a PE says fits in its pipes, and none waits longer than --timeout.
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

/// What a PE wrote, as text.
pub(crate) fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
