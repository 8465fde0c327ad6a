//! Gets at a file that somebody named, whatever it is, without waiting for it.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::error::PlugInError;
use super::instead::Instead;
use super::places::Places;
use crate::bounded_file::open_at_once;
use crate::verbs::Errno;

/// Opens `path`, which must be a regular file, for reading. `places` are looked through if it is not there.
///
/// # Errors
/// If it is not there, no regular file, or cannot be read.
pub(super) fn open(path: &Path, places: &Places) -> Result<(File, Metadata), PlugInError> {
    let file = || path.display().to_string();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => absent(path, places),
        _ => PlugInError::Unreachable { file: file(), errno: errno(&error) },
    })?;
    regular(path, metadata.file_type())?;
    // Not to wait is for the case that somebody puts a pipe there just now.
    let unreadable = |error: io::Error| PlugInError::Unreadable { file: file(), errno: errno(&error) };
    let opened = open_at_once(path).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    regular(path, metadata.file_type())?;
    Ok((opened, metadata))
}

fn regular(path: &Path, kind: FileType) -> Result<(), PlugInError> {
    let what = match kind {
        _ if kind.is_file() => return Ok(()),
        _ if kind.is_dir() => "a directory",
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    };
    Err(PlugInError::NotRegular { file: path.display().to_string(), what })
}

fn absent(path: &Path, places: &Places) -> PlugInError {
    let link = std::fs::read_link(path).ok().map(|link| link.display().to_string());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let found = name.and_then(|name| places.all(&name).find(|file| file.is_file()));
    let found = found.map(|file| Instead::path(&file));
    PlugInError::NoSuchFile { file: path.display().to_string(), link, found }
}

fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(0))
}
