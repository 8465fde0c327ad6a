//! Threads that capture a graph in a strict mode must not block; this is where they are known.

use std::cell::Cell;

use crate::error::{Error, Result};

thread_local! {
    static STRICT_CAPTURES: Cell<usize> = const { Cell::new(0) };
}

/// Marks the calling thread as capturing, in a mode that forbids calls that block.
pub(crate) fn begin_strict() {
    STRICT_CAPTURES.with(|count| count.set(count.get() + 1));
}

/// Ends what [`begin_strict`] began, on the same thread.
pub(crate) fn end_strict() {
    STRICT_CAPTURES.with(|count| count.set(count.get().saturating_sub(1)));
}

/// `Err` on a thread that captures strictly.
#[inline]
pub(crate) fn refuse_blocking(op: &'static str, my_pe: usize) -> Result<()> {
    if STRICT_CAPTURES.with(Cell::get) == 0 { Ok(()) } else { Err(Error::BlockingInCapture { op, my_pe }) }
}
