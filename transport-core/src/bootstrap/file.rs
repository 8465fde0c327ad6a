//! The file in which PE 0 publishes its real address: one line, written whole or not at all.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::config::RendezvousAddress;

/// A published address; the file goes when this does.
pub(crate) struct Published {
    path: PathBuf,
    line: String,
}

/// Writes `address` to `path`: a reader sees the old contents or the new, never a part.
pub(crate) fn publish(path: &Path, address: SocketAddr) -> io::Result<Published> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(hidden);
    let line = format!("{}\n", RendezvousAddress::from(address));
    let written = fs::write(&temporary, &line).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written.map(|()| Published { path: path.to_owned(), line })
}

impl Drop for Published {
    fn drop(&mut self) {
        // Another job may have published there since.
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.line) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// The published address, or why there is none yet.
pub(crate) fn read(path: &Path) -> Result<RendezvousAddress, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("PE 0 has not published its address in {} ({error})", path.display()))?;
    match text.trim_end().parse::<RendezvousAddress>() {
        Ok(address) if address.port != 0 => Ok(address),
        Ok(_) => Err(format!("{} holds an address with port 0", path.display())),
        Err(error) => Err(format!("{} does not hold an address: {error}", path.display())),
    }
}
