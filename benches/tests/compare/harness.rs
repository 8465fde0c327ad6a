//! Runs `compare`, and reads what it says.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `compare` with these arguments.
pub(crate) fn compare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// What it wrote, as text.
pub(crate) fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// A program of this name that does what the script says.
pub(crate) fn script(directory: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = directory.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A line of the table, with one space between its words.
pub(crate) fn row(table: &str, start: &str) -> String {
    let line = table.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("{start:?} is missing: {table}"));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The line that `perf` and the peers' programs print.
pub(crate) fn line(work: &str, bytes: usize, n_pes: usize, value: f64) -> String {
    format!(r#"{{"work":"{work}","bytes":{bytes},"pes":{n_pes},"value":{value},"unit":"us"}}"#)
}
