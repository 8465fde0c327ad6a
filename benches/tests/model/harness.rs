//! Runs `model`, and reads what it says.

use std::process::{Command, Output};

pub(crate) fn model(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_model")).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
