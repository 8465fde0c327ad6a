//! What a program says instead of its work: its help, its version, or what is wrong with its command line.

use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::process::ExitCode;

/// The exit code of a wrong command line, of all programs.
pub const WRONG: u8 = 2;

/// Says what came instead of arguments, and answers the exit code of `program`: 0 for a help that was asked for, [`WRONG`] for a
/// command line that cannot be, 1 if standard output cannot be written, which it says. That the reader has left, as `head` does,
/// is no error.
pub fn say_instead(program: &str, instead: &clap::Error) -> ExitCode {
    let printed = instead.print().and_then(|()| stdout().flush());
    if instead.use_stderr() {
        return ExitCode::from(WRONG);
    }
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(stderr(), "{program}: standard output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
