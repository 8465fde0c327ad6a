//! Standard output: with colours or without, and whoever reads it may leave.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _, stderr, stdout};
use std::os::fd::AsFd as _;

use anstream::AutoStream;
use clap::ColorChoice;

/// Columns of a terminal that does not tell.
const USUAL_WIDTH: usize = 80;

/// Standard output.
pub(crate) struct Output {
    stream: AutoStream<File>,
    width: Option<usize>,
    failed: Option<io::Error>,
}

impl Output {
    /// With colours as the user wants them. From here on it is this program's alone: what others print in this process, as the
    /// code of a plug-in may do, goes to standard error.
    ///
    /// # Errors
    ///
    /// If the system has no descriptor for it.
    pub(crate) fn of_its_own(color: ColorChoice) -> io::Result<Self> {
        let own = File::from(stdout().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stdout(stderr())?;
        let width = own.is_terminal().then(|| {
            let told = rustix::termios::tcgetwinsize(&own).map_or(0, |size| usize::from(size.ws_col));
            if told == 0 { USUAL_WIDTH } else { told }
        });
        let stream = match color {
            // Looks at the terminal, and at NO_COLOR.
            ColorChoice::Auto => AutoStream::auto(own),
            ColorChoice::Always => AutoStream::always(own),
            ColorChoice::Never => AutoStream::never(own),
        };
        Ok(Self { stream, width, failed: None })
    }

    /// Columns, if it is a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Writes, unless writing has failed before.
    pub(crate) fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            let written = self.stream.write_all(text.as_bytes()).and_then(|()| self.stream.flush());
            self.failed = written.err();
        }
    }

    /// Whether all was written. That the reader has left, as `head` does, is no error.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}
