//! Builds our C programs for the peers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::CompareError;
use crate::child::Running;
use crate::find::last_lines;
use crate::peers::System;

/// What both programs share.
const MEASURE: (&str, &str) = ("measure.h", include_str!("c/measure.h"));
/// How long a compiler may take.
const COMPILE: Duration = Duration::from_secs(120);

/// The source of a system's program, and what compiles it; nothing for a system that brings its own.
fn source(system: System) -> Option<(&'static str, &'static str, &'static str)> {
    match system {
        System::Mpi => Some(("mpi", include_str!("c/mpi.c"), "mpicc")),
        System::OpenShmem => Some(("openshmem", include_str!("c/openshmem.c"), "oshcc")),
        System::Ucx | System::Bare => None,
    }
}

/// Builds a system's program in `directory`, and answers its file; nothing for a system that brings its own.
///
/// # Errors
///
/// [`CompareError`] if a file cannot be written or the compiler fails.
pub(crate) fn compile(system: System, directory: &Path) -> Result<Option<PathBuf>, CompareError> {
    let Some((name, text, compiler)) = source(system) else { return Ok(None) };
    let file = |path: &Path, error| CompareError::File { path: path.to_owned(), error };
    let (from, to) = (directory.join(name).with_extension("c"), directory.join(name));
    for (path, text) in [(directory.join(MEASURE.0), MEASURE.1), (from.clone(), text)] {
        std::fs::write(&path, text).map_err(|error| file(&path, error))?;
    }
    let mut command = Command::new(compiler);
    command.args(["-O3", "-Wall", "-Wextra", "-o"]).arg(&to).arg(&from);
    // What it leaves half way when it is ended goes with the directory.
    command.env("TMPDIR", directory);
    let failed = |reason: String| CompareError::Compile { compiler, program: from.clone(), reason };
    let ended = Running::start(command).and_then(|running| running.wait(COMPILE));
    let ended = ended.map_err(|error| failed(error.to_string()))?;
    match ended.status {
        Some(status) if status.success() => Ok(Some(to)),
        Some(_) => Err(failed(last_lines(&ended.err))),
        None => Err(failed(format!("it took longer than {COMPILE:?}"))),
    }
}
