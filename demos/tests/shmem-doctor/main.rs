//! The doctor as its users run it: real processes, real arguments, on whatever host this is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

mod backends;
mod bad_input;
mod harness;
mod json;
mod ordered;
mod peer;
mod plain;
