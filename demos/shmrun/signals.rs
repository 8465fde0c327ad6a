//! The signals that the launcher takes, as something to poll.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;

use demos::signals::{ENDING, not_ignored};
use signal_hook::consts::{SIGCHLD, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::error::LaunchError;

/// Those that mean something to the PEs alone.
const FOR_THE_PES: [i32; 2] = [SIGUSR1, SIGUSR2];

/// What a signal asks of the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// A child changed its state.
    LookAtChildren,
    /// The job is to end.
    End(i32),
    /// The job is to pause, as with Ctrl-Z.
    Pause,
    /// The PEs are to get it.
    PassOn(i32),
}

/// Signals that arrived and have not been looked at.
#[derive(Debug)]
pub(crate) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// Takes over all signals that concern the job, except those that whoever started the launcher has it ignore
    /// (`nohup`, a shell's background job).
    pub(crate) fn take() -> Result<Self, LaunchError> {
        let failed = || LaunchError::system("take over the signals");
        let (read, write) = UnixStream::pair().map_err(failed())?;
        let wanted = ENDING.into_iter().chain(FOR_THE_PES).chain([SIGTSTP]);
        let wanted = not_ignored(wanted).into_iter().chain([SIGCHLD]);
        SignalDelivery::with_pipe(read, write, SignalOnly, wanted).map(Self).map_err(failed())
    }

    /// Readable when there is a request.
    pub(crate) fn source(&self) -> BorrowedFd<'_> {
        self.0.get_read().as_fd()
    }

    /// What has been asked since the last call.
    pub(crate) fn requests(&mut self) -> Vec<Request> {
        let request = |signal| match signal {
            SIGCHLD => Request::LookAtChildren,
            SIGTSTP => Request::Pause,
            signal if FOR_THE_PES.contains(&signal) => Request::PassOn(signal),
            signal => Request::End(signal),
        };
        self.0.pending().map(request).collect()
    }
}
