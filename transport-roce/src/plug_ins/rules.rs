//! What an entry of the variable may be. The rules are those of `libibv_extend.so`, which passes over what breaks one of
//! them without a word.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::PlugInError;
use super::instead::Instead;
use super::places::Places;
use super::shell::{QUOTES, shell_text};

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

/// What separates entries.
pub(super) const SEPARATORS: [char; 2] = [':', ';'];

/// Where links to files with unsuitable paths are well put.
const LINKS: &str = "/usr/local/lib";

/// An entry, and what stands around it in the variable.
#[derive(Debug)]
pub(super) struct Listed<'a> {
    pub(super) entry: &'a OsStr,
    pub(super) before: &'a OsStr,
    pub(super) after: &'a OsStr,
}

/// The entries of the variable's value, without the empty ones.
pub(super) fn entries(value: &OsStr) -> impl Iterator<Item = Listed<'_>> {
    let value = value.as_bytes();
    let mut next = 0;
    let items = value.split(|byte| SEPARATORS.contains(&char::from(*byte)));
    items.filter_map(move |item| {
        let (start, end) = (next, next + item.len());
        next = end + 1;
        let entry = Some(item).filter(|item| !item.is_empty()).map(OsStr::from_bytes)?;
        let before = OsStr::from_bytes(value.get(..start).unwrap_or_default());
        Some(Listed { entry, before, after: OsStr::from_bytes(value.get(end..).unwrap_or_default()) })
    })
}

/// What `entry` names.
///
/// # Errors
/// If it breaks a rule. `places` are looked through only to say what may have been meant.
pub(super) fn named(entry: &OsStr, places: &Places) -> Result<Named, PlugInError> {
    let text = || entry.to_string_lossy().into_owned();
    let absolute = entry.as_bytes().starts_with(b"/");
    if entry.len() > MAX_LENGTH {
        let link = Some(entry).filter(|_| absolute).and_then(|entry| link_to(Path::new(entry)));
        let link = link.map(Instead::new);
        return Err(PlugInError::TooLong { entry: text(), has: entry.len(), limit: MAX_LENGTH, link });
    }
    if entry.as_bytes().trim_ascii().len() != entry.len() {
        let entry = text();
        return Err(PlugInError::Blank { instead: Instead::new(entry.trim_ascii()), entry });
    }
    // A path may have any character, if there is such a file.
    let exists = absolute && Path::new(entry).symlink_metadata().is_ok();
    if let Some(error) = Some(text()).filter(|_| !exists).and_then(|entry| shell_text(&entry)) {
        return Err(error);
    }
    if entry.as_bytes().windows(2).any(|pair| pair == b"..") {
        let mut parts = entry.as_bytes().split(|byte| *byte == b'/');
        let steps = !parts.any(|part| part != b".." && part.windows(2).any(|pair| pair == b".."));
        let link = Some(text()).filter(|_| !steps).and_then(|entry| link_to(Path::new(&entry)));
        let instead = Instead::new(link.unwrap_or_else(text));
        return Err(PlugInError::DotDot { entry: text(), steps, instead });
    }
    if absolute {
        return Ok(Named::File(entry.into()));
    }
    if entry.as_bytes().contains(&b'/') {
        let full = std::path::absolute(entry).unwrap_or_else(|_| entry.into());
        return Err(PlugInError::Relative { entry: text(), full: Instead::path(&full) });
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
        let found = places.first(&entry).map(|file| Instead::path(&file));
        return Err(PlugInError::FileName { entry, stem, found });
    }
    Err(PlugInError::BadCharacters { bad: bad.into_iter().collect(), entry })
}

/// Whether `path` is one that may be an entry.
pub(super) fn is_allowed(path: &str) -> bool {
    path.starts_with('/') && path.len() <= MAX_LENGTH && !path.contains("..") && !path.ends_with(QUOTES)
}

/// The path of a link to `file` that may be an entry; nothing helps a name that is too long itself.
pub(super) fn link_to(file: &Path) -> Option<String> {
    let mut name = file.file_name()?.to_string_lossy().into_owned();
    while name.contains("..") {
        name = name.replace("..", ".");
    }
    Some(format!("{LINKS}/{name}")).filter(|link| is_allowed(link))
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
