//! The search for races: programs with and without them, under many schedules.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by them, and tells its table, in its helpers too"
)]

mod cases;
mod events;
mod jobs;
mod lists;
#[path = "../support/marking.rs"]
mod marking;
mod oracle;
mod programs;
mod script;
mod table;
