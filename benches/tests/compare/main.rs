//! The program `compare`, from its command line.

#![cfg(test)]

mod bad_input;
mod harness;
mod interrupted;
mod runs;
