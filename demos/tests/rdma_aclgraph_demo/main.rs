//! The reference job as its users run it: real processes, real arguments.

mod bad_input;
mod harness;
mod kills;
mod runs;
