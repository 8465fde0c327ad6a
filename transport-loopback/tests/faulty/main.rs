//! Programs over a transport with faults: right data or a clear error on every PE, never wrong data, never a hang.
//!
//! A failure prints a number; `SHMEM_FAULT_SEED=number` and the name of the test run that case alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

mod conformance;
mod kinds;
mod program;
mod random;
mod reference_job;
mod runs;
mod sweeps;
