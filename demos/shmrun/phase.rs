//! The phases of a job.

/// How far the job has come. It only moves down this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// All is well.
    Running,
    /// A PE failed; the others may end by themselves and say what they see.
    Settling,
    /// The PEs have been told to end.
    Ending,
    /// They have been killed.
    Killing,
    /// All PEs have ended; what they started may finish its output.
    Leaving,
    /// Nothing is left running; what it wrote is being read.
    Draining,
    /// The last line is said; what has been read is being written.
    Flushing,
    /// The end.
    Done,
}
