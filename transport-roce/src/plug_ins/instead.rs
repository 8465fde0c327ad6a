//! What to write into the variable instead of an entry that is wrong. The other entries stay as they are.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use super::VARIABLE;
use super::error::PlugInError;
use super::remedy::quoted;
use super::rules::{Listed, SEPARATORS};

/// What to write instead of an entry, and what stands before and behind it in the variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instead(
    /// In a box, so that errors are no larger for it.
    Box<Parts>,
);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    before: String,
    text: String,
    after: String,
}

impl Instead {
    /// `text`, alone.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(Box::new(Parts { before: String::new(), text: text.into(), after: String::new() }))
    }

    /// A path, alone.
    pub(super) fn path(path: &Path) -> Self {
        Self::new(path.display().to_string())
    }

    /// Another text at the same place.
    pub(super) fn with(&self, text: String) -> Self {
        Self(Box::new(Parts { text, ..Parts::clone(&self.0) }))
    }

    /// What to write instead.
    pub(super) fn text(&self) -> &str {
        &self.0.text
    }

    /// The command that writes it.
    pub(super) fn export(&self) -> String {
        let Parts { before, text, after } = &*self.0;
        if !text.is_empty() {
            return format!("export {VARIABLE}={}", quoted(&format!("{before}{text}{after}")));
        }
        // The entry goes, and so does the separator that it leaves.
        let (before, after) = (before.trim_end_matches(SEPARATORS), after.trim_matches(SEPARATORS));
        match (before.trim_matches(SEPARATORS), after) {
            ("", "") => format!("unset {VARIABLE}"),
            ("", rest) => format!("export {VARIABLE}={}", quoted(rest)),
            (_, "") => format!("export {VARIABLE}={}", quoted(before)),
            _ => format!("export {VARIABLE}={}", quoted(&format!("{before}:{after}"))),
        }
    }

    /// The command that writes what `command` prints.
    pub(super) fn export_what_prints(&self, command: &str) -> String {
        let around = |text: &str| if text.is_empty() { String::new() } else { quoted(text) };
        format!("export {VARIABLE}={}\"$({command})\"{}", around(&self.0.before), around(&self.0.after))
    }
}

impl fmt::Display for Instead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl PlugInError {
    /// The same, with a remedy that keeps what stands around the entry.
    pub(super) fn among(mut self, listed: &Listed<'_>) -> Self {
        let instead = match &mut self {
            Self::Blank { instead, .. } | Self::Quoted { instead, .. } | Self::DotDot { instead, .. } => {
                Some(instead)
            }
            Self::Relative { full, .. } => Some(full),
            Self::TooLong { link: instead, .. }
            | Self::Unexpanded { instead, .. }
            | Self::FileName { found: instead, .. }
            | Self::NoSuchFile { found: instead, .. } => instead.as_mut(),
            _ => None,
        };
        if let Some(instead) = instead {
            let text = |text: &OsStr| text.to_string_lossy().into_owned();
            (instead.0.before, instead.0.after) = (text(listed.before), text(listed.after));
        }
        self
    }
}
