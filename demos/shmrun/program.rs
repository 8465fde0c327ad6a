//! Finding the program before anything is started, so that a mistake in its name is told once and not by every PE.

use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::error::LaunchError;

/// Where `execvp` looks when `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file that `name` stands for: itself if it has a slash, else the first one in `PATH` that can be run.
pub(crate) fn find(name: &OsStr) -> Result<PathBuf, LaunchError> {
    if name.as_bytes().contains(&b'/') {
        let path = Path::new(name);
        return match trouble_with(path) {
            None => Ok(path.to_owned()),
            Some(Trouble::Missing) => Err(not_found(name, "", "check the path".to_owned())),
            Some(Trouble::Unusable(reason)) => {
                Err(LaunchError::ProgramNotExecutable { path: path.to_owned(), reason })
            }
        };
    }
    let mut unusable = None;
    let directories = env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    for directory in env::split_paths(&directories).filter(|_| !name.is_empty()) {
        // An empty entry means the current directory; the dot keeps the path one with a slash.
        let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
        let path = directory.join(name);
        match trouble_with(&path) {
            None => return Ok(path),
            Some(Trouble::Missing) => {}
            Some(Trouble::Unusable(reason)) => {
                unusable.get_or_insert(LaunchError::ProgramNotExecutable { path, reason });
            }
        }
    }
    Err(unusable.unwrap_or_else(|| not_found(name, " in PATH", remedy_beside(name))))
}

/// What keeps a file from being run.
enum Trouble {
    /// It is not there.
    Missing,
    /// It is there; why it is of no use, and what to do.
    Unusable(String),
}

/// What keeps `path` from being run, if anything does.
fn trouble_with(path: &Path) -> Option<Trouble> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            return Some(Trouble::Unusable("it is a directory; name the program in it".to_owned()));
        }
        Ok(_) => {}
        Err(error) => {
            return Some(match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Trouble::Missing,
                _ => Trouble::Unusable(format!("{error}; check the path")),
            });
        }
    }
    match access(path, Access::EXEC_OK) {
        Ok(()) => None,
        Err(Errno::ACCESS) => {
            Some(Trouble::Unusable("you may not execute it; give it the right (`chmod +x`)".to_owned()))
        }
        Err(errno) => Some(Trouble::Unusable(format!("{errno}; check the file"))),
    }
}

/// The error for a program that is nowhere.
fn not_found(name: &OsStr, place: &'static str, remedy: String) -> LaunchError {
    LaunchError::ProgramNotFound { name: name.to_owned(), place, remedy }
}

/// The commonest mistake is to leave out `./`.
fn remedy_beside(name: &OsStr) -> String {
    if !name.is_empty() && Path::new(name).is_file() {
        format!("there is one in this directory: write ./{}", name.display())
    } else {
        "give its path, e.g. ./target/release/NAME".to_owned()
    }
}
