//! Which peers there are, and which are missing.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{Access, access};

use crate::CompareError;
use crate::child::Running;
use crate::peers::System;

/// How long a program may take to say its version.
const VERSION: Duration = Duration::from_secs(20);
/// How long packages may take.
const INSTALL: Duration = Duration::from_secs(900);

/// A system as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) system: System,
    /// Its version in its own words, or the packages that are missing.
    pub(crate) version: Result<String, Vec<&'static str>>,
}

/// The file of a program, as a shell would find it.
pub(crate) fn in_path(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
}

/// The packages that `system` needs, each once, of which a program is not in `path`.
pub(crate) fn missing_packages(system: System, path: Option<&OsStr>) -> Vec<&'static str> {
    let gone = system.programs().iter().filter(|(program, _)| in_path(program, path).is_none());
    let mut packages: Vec<_> = gone.map(|(_, package)| *package).collect();
    packages.dedup();
    packages
}

/// Looks for a system, and asks it for its version.
pub(crate) fn find(system: System) -> Found {
    let missing = missing_packages(system, std::env::var_os("PATH").as_deref());
    if !missing.is_empty() {
        return Found { system, version: Err(missing) };
    }
    let version = match system.version_command() {
        None => env!("CARGO_PKG_VERSION").to_owned(),
        Some([program, option]) => first_line(program, option),
    };
    Found { system, version: Ok(version) }
}

/// The first line that a program says, without the signs of a comment; that it says none is no reason not to run it.
pub(crate) fn first_line(program: &str, option: &str) -> String {
    let mut command = Command::new(program);
    command.arg(option);
    let ended = Running::start(command).and_then(|running| running.wait(VERSION));
    let line = ended.ok().and_then(|ended| ended.out.lines().next().map(str::to_owned));
    line.map_or_else(|| "version unknown".to_owned(), |line| line.trim_start_matches(['#', ' ']).to_owned())
}

/// Installs packages. If that fails, the error has the end of what apt-get says.
///
/// # Errors
///
/// [`CompareError::Install`].
pub(crate) fn install(packages: &[&'static str]) -> Result<(), CompareError> {
    let error = |reason: String| CompareError::Install { packages: packages.join(" "), reason };
    if !rustix::process::geteuid().is_root() {
        return Err(error("only root may; run it as root".to_owned()));
    }
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends"]).args(packages);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    let ended = Running::start(command).and_then(|running| running.wait(INSTALL));
    let ended = ended.map_err(|reason| error(reason.to_string()))?;
    match ended.status {
        Some(status) if status.success() => Ok(()),
        status => {
            let how = status.map_or_else(
                || "it took too long".to_owned(),
                |status| match status.signal() {
                    Some(signal) => format!("killed by signal {signal}"),
                    None => format!("code {}", status.code().unwrap_or(-1)),
                },
            );
            let said = last_lines(&ended.err);
            Err(error(format!(
                "apt-get failed ({how}): {said}; see that its lists are there (apt-get update)"
            )))
        }
    }
}

/// The end of what a program said, on one line.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| is_said(line)).collect();
    lines[lines.len().saturating_sub(4)..].join(" | ")
}

/// Not a line for the eye alone.
fn is_said(line: &str) -> bool {
    line.contains(|c: char| c.is_alphanumeric())
}

/// Our own programs.
#[derive(Debug, Clone)]
pub(crate) struct Ours {
    pub(crate) shmrun: PathBuf,
    pub(crate) perf: PathBuf,
    /// This program.
    pub(crate) itself: PathBuf,
}

/// Looks for our own programs.
///
/// # Errors
///
/// [`CompareError::OursMissing`] if one is not there.
pub(crate) fn ours(bin_dir: Option<&Path>) -> Result<Ours, CompareError> {
    let itself = std::env::current_exe().map_err(CompareError::Itself)?;
    let directory = bin_dir.or(itself.parent()).unwrap_or(Path::new(".")).to_owned();
    let find = |program| {
        let file = directory.join(program);
        let there = access(&file, Access::EXEC_OK).is_ok() && file.is_file();
        if there {
            Ok(file)
        } else {
            Err(CompareError::OursMissing { program, directory: directory.clone() })
        }
    };
    Ok(Ours { shmrun: find("shmrun")?, perf: find("perf")?, itself: itself.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_by_its_package() {
        let empty = tempfile::tempdir().unwrap();
        let path = Some(empty.path().as_os_str());
        assert_eq!(missing_packages(System::Mpi, path), ["openmpi-bin", "libopenmpi-dev"]);
        assert_eq!(missing_packages(System::Ucx, None), ["ucx-utils"]);
        assert!(missing_packages(System::Bare, path).is_empty());
        assert_eq!(in_path("sh", Some(OsStr::new("/nowhere:/bin"))), Some(PathBuf::from("/bin/sh")));
    }

    #[test]
    fn our_own_programs_are_looked_for() {
        let empty = tempfile::tempdir().unwrap();
        let error = ours(Some(empty.path())).unwrap_err().to_string();
        assert!(error.contains("shmrun") && error.contains("cargo build"), "{error}");
    }

    #[test]
    fn only_what_says_something_is_kept() {
        assert_eq!(last_lines("a\n-----\n\n  b\n"), "a | b");
        assert_eq!(last_lines("1\n2\n3\n4\n5"), "2 | 3 | 4 | 5");
        assert_eq!(last_lines(""), "");
    }
}
