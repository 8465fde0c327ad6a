//! `perf` as one process a PE, over the loopback backend.
#![cfg(feature = "loopback")]
#![allow(clippy::unwrap_used, reason = "tests may panic: that is how they fail")]

mod bad_input;
mod harness;
mod runs;
