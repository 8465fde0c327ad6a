//! Why a job came to its end, as an exit code and as the last line that the user sees.

use std::time::Duration;

use demos::signals::{name_of_signal, signal_exit_code};
use rustix::io::Errno;
use transport_core::PeList;

use crate::error::LaunchError;
use crate::output::Target;
use crate::pe::{Fate, Pe};

/// The exit code after `--timeout`, as of `timeout(1)`.
const TIMED_OUT: u8 = 124;

/// `SIGPIPE`: what ends a tool whose reader has gone.
const SIGPIPE: i32 = 13;

/// The first thing that made the job end early.
#[derive(Debug)]
pub(crate) enum Cause {
    /// This PE failed.
    PeFailed(usize, Fate),
    /// The launcher got this signal.
    Signalled(i32),
    /// The job took longer than `--timeout`.
    TimedOut(Duration),
    /// Output of the launcher can no longer be written.
    OutputFailed(Target, Errno),
    /// A PE could not be started.
    NotStarted(LaunchError),
}

impl Cause {
    /// The exit code of the launcher.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::PeFailed(_, fate) => fate.exit_code(),
            Self::Signalled(signal) => signal_exit_code(*signal),
            Self::TimedOut(_) => TIMED_OUT,
            Self::OutputFailed(_, Errno::PIPE) => signal_exit_code(SIGPIPE),
            Self::OutputFailed(..) => 1,
            Self::NotStarted(error) => error.exit_code(),
        }
    }

    /// The last line: the cause and what became of the other PEs. None where the reader has gone.
    pub(crate) fn report(&self, pes: &[Pe], n_pes: usize) -> Option<String> {
        let (mut line, first) = match self {
            Self::PeFailed(pe, Fate::Exited(code)) => (format!("PE {pe} exited with code {code}"), Some(*pe)),
            Self::PeFailed(pe, fate) => (format!("PE {pe} was {fate}"), Some(*pe)),
            Self::Signalled(signal) => (format!("ended by {}", name_of_signal(*signal)), None),
            Self::TimedOut(limit) => (format!("the job did not end within {limit:?} (--timeout)"), None),
            Self::OutputFailed(_, Errno::PIPE) => return None,
            Self::OutputFailed(target, errno) => (format!("cannot write {}: {errno}", target.name()), None),
            Self::NotStarted(error) => (error.to_string(), None),
        };
        for (what, list) in outcomes(pes, n_pes, first) {
            line.push_str(&format!("; {list}: {what}"));
        }
        Some(line)
    }
}

/// What became of all PEs but `first`: those with the same outcome together, in the order of their lowest PE.
fn outcomes(pes: &[Pe], n_pes: usize, first: Option<usize>) -> Vec<(String, PeList)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for number in (0..n_pes).filter(|&number| Some(number) != first) {
        let what = outcome(pes.get(number));
        match groups.iter_mut().find(|(other, _)| *other == what) {
            Some((_, list)) => list.push(number),
            None => groups.push((what, vec![number])),
        }
    }
    groups.into_iter().map(|(what, list)| (what, list.into_iter().collect())).collect()
}

/// What became of one PE.
fn outcome(pe: Option<&Pe>) -> String {
    match pe.map(|pe| (pe.fate, pe.told_to_end)) {
        None => "not started".to_owned(),
        Some((None, _)) => "cannot be killed, still there".to_owned(),
        Some((Some(Fate::Exited(0)), _)) => "finished".to_owned(),
        Some((Some(_), true)) => "ended by shmrun".to_owned(),
        Some((Some(fate), false)) => fate.to_string(),
    }
}
