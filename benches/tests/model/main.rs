//! The program `model`, from its command line.

#![cfg(test)]

mod harness;
mod runs;
