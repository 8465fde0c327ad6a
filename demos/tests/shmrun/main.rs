//! `shmrun` from outside: jobs of small shell programs, what they print, how they end and what they leave behind.

// The helpers panic as the tests do: that is how they fail.
#![allow(clippy::unwrap_used)]

mod codes;
mod ending;
mod identity;
mod job;
mod output;
