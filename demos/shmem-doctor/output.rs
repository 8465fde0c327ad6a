//! Standard output: with colours or without, and whoever reads it may leave.

use std::io::{self, IsTerminal as _, Stdout, Write as _, stdout};

use anstream::AutoStream;
use clap::ColorChoice;

/// Columns of a terminal that does not tell.
const USUAL_WIDTH: usize = 80;

/// Standard output.
pub(crate) struct Output {
    stream: AutoStream<Stdout>,
    width: Option<usize>,
    failed: Option<io::Error>,
}

impl Output {
    /// With colours as the user wants them.
    pub(crate) fn new(color: ColorChoice) -> Self {
        let width = stdout().is_terminal().then(|| {
            let told = rustix::termios::tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_col));
            if told == 0 { USUAL_WIDTH } else { told }
        });
        let stream = match color {
            // Looks at the terminal, and at NO_COLOR.
            ColorChoice::Auto => AutoStream::auto(stdout()),
            ColorChoice::Always => AutoStream::always(stdout()),
            ColorChoice::Never => AutoStream::never(stdout()),
        };
        Self { stream, width, failed: None }
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
