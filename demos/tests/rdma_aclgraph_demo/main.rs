//! The reference job as its users run it: real processes, real arguments.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

mod all_gather;
mod backends;
mod bad_input;
mod harness;
mod kills;
mod runs;
