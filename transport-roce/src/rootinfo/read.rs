//! Reads the file's bytes: not too many of them, and from nothing that could make us wait.

use std::io::ErrorKind;
use std::path::Path;

use super::error::RootInfoError;
use crate::bounded_file::read_at_most;

/// The most that is read. A real one has a few hundred bytes for each NPU.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// All bytes of `path`, or `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, RootInfoError> {
    let unreadable = |error: String| RootInfoError::Unreadable { path: path.to_owned(), error };
    match read_at_most(path, MAX_BYTES) {
        Ok(bytes) if bytes.len() as u64 > MAX_BYTES => {
            Err(RootInfoError::TooLarge { path: path.to_owned(), limit: MAX_BYTES })
        }
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // A link that leads nowhere is not the same as no file: somebody meant to have one.
            match path.read_link() {
                Ok(target) => {
                    Err(unreadable(format!("it is a link to {}, which is not there", target.display())))
                }
                Err(_) => Ok(None),
            }
        }
        Err(error) => Err(unreadable(error.to_string())),
    }
}
