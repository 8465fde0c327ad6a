//! The signals that end a comparison early, as something to poll: what runs is ended first, and the directory of the peers'
//! programs goes.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::{flag, low_level::pipe};

/// What this process was told, by whichever of its threads.
static TAKEN: OnceLock<Interrupt> = OnceLock::new();

/// Taken over from the system for as long as this process runs.
struct Interrupt {
    /// The last that came; 0 for none.
    signal: Arc<AtomicUsize>,
    /// Readable from the first on: nobody reads what is in it.
    came: UnixStream,
    /// Its other end, for which `came` would be readable too if nobody held it: if all signals are ignored, no handler does.
    _says: UnixStream,
}

/// Takes over the signals that tell a program to end, but for those that it was started to ignore.
///
/// # Errors
///
/// What the system says.
pub(crate) fn take() -> std::io::Result<()> {
    let (came, says) = UnixStream::pair()?;
    let signal = Arc::new(AtomicUsize::new(0));
    for ending in demos::signals::not_ignored(demos::signals::ENDING) {
        // In the order in which they are told: who finds the pipe readable finds the number too.
        flag::register_usize(ending, Arc::clone(&signal), ending as usize)?;
        pipe::register(ending, says.try_clone()?)?;
    }
    // A second call changes nothing: the first one's is told.
    let _ = TAKEN.set(Interrupt { signal, came, _says: says });
    Ok(())
}

/// The signal that told this process to end, if one has.
pub(crate) fn signal() -> Option<i32> {
    let signal = TAKEN.get()?.signal.load(Ordering::SeqCst);
    i32::try_from(signal).ok().filter(|signal| *signal != 0)
}

/// Readable once there is one; nothing if they are not taken over.
pub(crate) fn source() -> Option<BorrowedFd<'static>> {
    TAKEN.get().map(|taken| taken.came.as_fd())
}
