//! The simulated network: its promises, what is found on it, and how it is explored.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panics, as tests do"
)]

mod conformance;
mod contract;
mod determinism;
mod every_schedule;
mod faults;
mod programs;
mod reduction;
