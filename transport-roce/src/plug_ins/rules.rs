//! What an entry of the variable may be. The rules are those of `libibv_extend.so`, which passes over what breaks one of
//! them without a word.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::error::PlugInError;
use super::places::Places;

/// The longest entry that is taken.
pub(super) const MAX_LENGTH: usize = 128;

/// What a good entry names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// This very file.
    File(PathBuf),
    /// The file `lib<NAME>.so`, wherever it is.
    Bare(String),
}

/// The entries of the variable's value, without the empty ones.
pub(super) fn entries(value: &OsStr) -> impl Iterator<Item = &OsStr> {
    let items = value.as_bytes().split(|byte| matches!(byte, b':' | b';'));
    items.filter(|item| !item.is_empty()).map(OsStr::from_bytes)
}

/// What `entry` names.
///
/// # Errors
/// If it breaks a rule. `places` are looked through only to say what may have been meant.
pub(super) fn named(entry: &OsStr, places: &Places) -> Result<Named, PlugInError> {
    let text = || entry.to_string_lossy().into_owned();
    if entry.len() > MAX_LENGTH {
        return Err(PlugInError::TooLong { entry: text(), has: entry.len(), limit: MAX_LENGTH });
    }
    if entry.as_bytes().trim_ascii().len() != entry.len() {
        return Err(PlugInError::Blank { entry: text() });
    }
    if entry.as_bytes().windows(2).any(|pair| pair == b"..") {
        return Err(PlugInError::DotDot { entry: text() });
    }
    if entry.as_bytes().starts_with(b"/") {
        return Ok(Named::File(entry.into()));
    }
    if entry.as_bytes().contains(&b'/') {
        let full = std::path::absolute(entry).unwrap_or_else(|_| entry.into());
        return Err(PlugInError::Relative { entry: text(), full: full.display().to_string() });
    }
    let entry = text();
    let mut bad: Vec<char> = entry.chars().filter(|&c| !is_good(c)).collect();
    if bad.is_empty() {
        return Ok(Named::Bare(entry));
    }
    bad.dedup();
    if is_file_name(&entry) {
        let stem = entry.strip_prefix("lib").and_then(|rest| rest.strip_suffix(".so")).filter(|s| is_stem(s));
        let stem = stem.map(str::to_owned);
        let found = places.first(&entry).map(|file| file.display().to_string());
        return Err(PlugInError::FileName { entry, stem, found });
    }
    Err(PlugInError::BadCharacters { bad: bad.into_iter().collect(), entry })
}

fn is_good(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_stem(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_good)
}

/// Whether it is what a shared object's file is called, with or without a version, and is nothing else besides.
fn is_file_name(entry: &str) -> bool {
    let only = entry.chars().all(|c| is_good(c) || c == '.');
    only && (entry.ends_with(".so") || entry.contains(".so."))
}
