//! What a case found wrong, and where.

use std::fmt;

/// One thing that was not as the contract says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{case} on PE {pe}: {mismatch}")]
pub struct Failure {
    /// The case.
    pub case: &'static str,
    /// The PE that found it.
    pub pe: usize,
    /// What was looked at, what was expected and what was found.
    pub mismatch: String,
}

/// How long a text of one failure gets at most; it has to travel.
const LONGEST: usize = 200;

/// One sentence for what differs.
pub(super) fn mismatch(what: &str, expected: &dyn fmt::Debug, found: &dyn fmt::Debug) -> String {
    format!("{what}: expected {}, found {}", short(expected), short(found))
}

/// The value, cut where it gets long.
pub(super) fn short(value: &dyn fmt::Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
