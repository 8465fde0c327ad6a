//! Reads files that others wrote: not too many bytes, and from nothing that could make us wait.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens it for reading, without waiting for a writer, should it be a named pipe.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// The first bytes of the regular file `path`: at most one more than `most`, so that a longer file is known for one.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_at_once(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_or_too_long_does_not_hold_us_up() {
        let here = tempfile::tempdir().unwrap();
        let pipe = here.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        for no_file in [pipe.as_path(), Path::new("/dev/zero"), here.path()] {
            assert!(read_at_most(no_file, 10).is_err(), "{}", no_file.display());
        }
        let file = here.path().join("file");
        std::fs::write(&file, [7; 100]).unwrap();
        assert_eq!(
            (read_at_most(&file, 10).unwrap().len(), read_at_most(&file, 100).unwrap().len()),
            (11, 100)
        );
    }
}
