//! Tests of the whole, from the variable's value to what is loaded.

mod abi_numbers;
mod entries;
mod extend_library;
mod files;
mod host;
mod loading;
mod log;
mod objects;
mod properties;
mod remedies;

use std::ffi::OsStr;
use std::path::Path;

use super::places::Places;
use super::{PlugIn, PlugInError, PlugIns};

/// What becomes of `value` if only `directory` is looked through and there is no libibverbs.
fn look(value: impl AsRef<OsStr>, directory: &Path) -> PlugIns {
    PlugIns::read(Some(value.as_ref()), false, None, &Places::new([directory.to_owned()]))
}

/// The same with the libibverbs in the file `libibverbs`.
fn load(value: impl AsRef<OsStr>, directory: &Path, libibverbs: &Path) -> PlugIns {
    PlugIns::read(Some(value.as_ref()), false, Some(libibverbs), &Places::new([directory.to_owned()]))
}

/// The outcome of the only entry.
fn only(plug_ins: PlugIns) -> Result<PlugIn, PlugInError> {
    let [entry] = <[_; 1]>::try_from(plug_ins.entries).expect("one entry");
    entry.outcome
}

/// That `error` says `text`, and to type `remedy`.
#[track_caller]
fn assert_says(error: &PlugInError, text: &str, remedy: &str) {
    assert_eq!(error.to_string(), text);
    assert_eq!(error.remedy(), remedy);
}
