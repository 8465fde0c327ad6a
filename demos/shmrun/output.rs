//! The launcher's own output. One thread writes it, in the order in which it came, so that lines never mix even where
//! both streams go to the same place, and a reader that pauses does not stop the launcher from watching the PEs.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

use crate::error::LaunchError;

/// With this much unwritten the PEs are made to wait, by their pipes filling up.
const MUCH: usize = 1024 * 1024;

/// Chunks grow up to this: fewer writes when there is much to write.
const CHUNK: usize = 64 * 1024;

/// Where lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Target {
    /// Its name in a message.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdout => "standard output",
            Self::Stderr => "standard error",
        }
    }
}

/// What waits to be written.
#[derive(Debug, Default)]
struct Queue {
    /// Whole lines and where they go, in order.
    chunks: VecDeque<(Target, Vec<u8>)>,
    /// Bytes in `chunks` and in the hands of the writing thread.
    unwritten: usize,
    /// The first stream that could not be written, and why.
    failure: Option<(Target, Errno)>,
}

/// What the launcher and the writing thread share.
#[derive(Debug)]
struct Shared {
    /// What waits to be written.
    queue: Mutex<Queue>,
    /// Told when there is something to write.
    filled: Condvar,
    /// An eventfd, readable when something has been written or failed.
    progress: OwnedFd,
}

impl Shared {
    /// The queue. A thread that panicked left it whole: no step below leaves it half done.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The launcher's side of the output.
#[derive(Debug)]
pub(crate) struct Output(Arc<Shared>);

impl Output {
    /// Starts the writing thread. It ends with the process.
    pub(crate) fn start() -> Result<Self, LaunchError> {
        let progress = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(LaunchError::system("create an eventfd"))?;
        let shared = Arc::new(Shared { queue: Mutex::default(), filled: Condvar::new(), progress });
        let theirs = Arc::clone(&shared);
        let writer = thread::Builder::new().name("output".to_owned());
        writer
            .spawn(move || write_for_ever(&theirs))
            .map_err(LaunchError::system("start the output thread"))?;
        Ok(Self(shared))
    }

    /// Puts whole `lines` behind what waits to be written.
    pub(crate) fn push(&self, target: Target, lines: &[u8]) {
        let mut queue = self.0.queue();
        if lines.is_empty() || queue.failure.is_some_and(|(failed, _)| failed == target) {
            return;
        }
        queue.unwritten += lines.len();
        match queue.chunks.back_mut() {
            Some((last, chunk)) if *last == target && chunk.len() + lines.len() <= CHUNK => {
                chunk.extend(lines)
            }
            _ => queue.chunks.push_back((target, lines.to_vec())),
        }
        self.0.filled.notify_one();
    }

    /// Whether more may be pushed; if not, [`Output::progress`] tells when to ask again.
    pub(crate) fn has_room(&self) -> bool {
        self.0.queue().unwritten < MUCH
    }

    /// Whether all has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.queue().unwritten == 0
    }

    /// The first stream that could not be written, and why.
    pub(crate) fn failure(&self) -> Option<(Target, Errno)> {
        self.0.queue().failure
    }

    /// Readable when something has been written or failed since [`Output::note_progress`].
    pub(crate) fn progress(&self) -> BorrowedFd<'_> {
        self.0.progress.as_fd()
    }

    /// Makes [`Output::progress`] wait for the next progress.
    pub(crate) fn note_progress(&self) {
        // It is non-blocking: that there was nothing to note is no error.
        let _ = rustix::io::read(&self.0.progress, &mut [0u8; 8]);
    }
}

/// The writing thread.
fn write_for_ever(shared: &Shared) {
    let mut queue = shared.queue();
    loop {
        let Some((target, chunk)) = queue.chunks.pop_front() else {
            queue = shared.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let failed = queue.failure.is_some_and(|(failed, _)| failed == target);
        drop(queue);
        let result = if failed { Ok(()) } else { write_all(target, &chunk) };
        queue = shared.queue();
        queue.unwritten -= chunk.len();
        if let Err(errno) = result {
            queue.failure.get_or_insert((target, errno));
        }
        // A full counter still wakes the launcher.
        let _ = rustix::io::write(&shared.progress, &1u64.to_ne_bytes());
    }
}

/// Writes all of `bytes`, also where the stream was set non-blocking by whoever shares it.
fn write_all(target: Target, mut bytes: &[u8]) -> Result<(), Errno> {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let stream = match target {
        Target::Stdout => stdout.as_fd(),
        Target::Stderr => stderr.as_fd(),
    };
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => match poll(&mut [PollFd::from_borrowed_fd(stream, PollFlags::OUT)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            },
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
