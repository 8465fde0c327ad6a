//! What to type against what is wrong with a plug-in.

use std::path::Path;

use super::error::PlugInError;
use super::private_abi::suffix;
use crate::verbs::Errno;

/// Where links to files with long paths are well put.
const LINKS: &str = "/usr/local/lib";

impl PlugInError {
    /// A command that puts it right, or shows more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::TooLong { entry, .. } => link(entry).unwrap_or_else(|| show_entries().to_owned()),
            Self::Blank { entry } if entry.trim_ascii().is_empty() => "unset IBV_EXTEND_DRIVERS".to_owned(),
            Self::Blank { entry } => export(entry.trim_ascii()),
            Self::DotDot { entry } => {
                format!("export IBV_EXTEND_DRIVERS=\"$(realpath -m {})\"", quoted(entry))
            }
            Self::Relative { full, .. } => export(full),
            Self::FileName { found: Some(found), .. } | Self::NoSuchFile { found: Some(found), .. } => {
                export(found)
            }
            Self::FileName { entry: name, found: None, .. } | Self::NotFound { file: name, .. } => find(name),
            // What was meant nobody knows.
            Self::BadCharacters { .. } => show_entries().to_owned(),
            Self::NoSuchFile { file, found: None, .. } => find(&name(file)),
            Self::NotRegular { file, what: "a directory" } => format!("ls -l {}/*.so*", quoted(file)),
            Self::NotRegular { file, .. } => format!("ls -l {}", quoted(file)),
            Self::Unreachable { file, .. } => format!("namei -l {}", quoted(file)),
            Self::Unreadable { file, errno: Errno::ACCES | Errno::PERM } => {
                format!("chmod a+r {}", quoted(file))
            }
            Self::Unreadable { file, .. } => format!("ls -l {0}; cksum {0}", quoted(file)),
            Self::NotElf { file, .. } | Self::NotShared { file, .. } => format!("file -L {}", quoted(file)),
            Self::OtherMachine { file, .. } => {
                format!("find / -name {} -exec file -L {{}} + 2>/dev/null", quoted(&name(file)))
            }
            Self::Truncated { file, .. } | Self::Malformed { file, .. } => {
                format!("rpm -qf {0} || dpkg -S {0}; df -h {0}", quoted(file))
            }
            Self::OtherAbi { file, library, .. } => {
                let name = name(file);
                match suffix(&name) {
                    Some(number) if number != *library => {
                        find(&name.replace(&format!("-rdmav{number}."), &format!("-rdmav{library}.")))
                    }
                    _ => find("libibverbs.so.1*"),
                }
            }
            Self::MissingDependency { file, .. } => format!("ldd {}", quoted(file)),
            Self::NoExtendLibrary { .. } => find("libibv_extend.so*"),
            Self::ExtendLibrary { cause, .. } => cause.remedy(),
            // This is the loader's word for a file system from which nothing may be run.
            Self::Refused { file, said } if said.contains("failed to map segment") => {
                format!("findmnt -T {}", quoted(file))
            }
            Self::Refused { file, .. } => format!("ldd -r {}", quoted(file)),
        }
    }
}

fn export(value: &str) -> String {
    format!("export IBV_EXTEND_DRIVERS={}", quoted(value))
}

fn find(name: &str) -> String {
    format!("find / -name {} 2>/dev/null", quoted(name))
}

/// Shows the entries as they are taken apart, one a line.
const fn show_entries() -> &'static str {
    "echo \"$IBV_EXTEND_DRIVERS\" | tr ':;' '\\n\\n'"
}

/// A shorter path for a file whose path is too long; nothing helps a name that is too long itself.
fn link(file: &str) -> Option<String> {
    let short = format!("{LINKS}/{}", name(file));
    let helps = file.starts_with('/') && short.len() <= super::rules::MAX_LENGTH && !short.contains("..");
    helps.then(|| format!("ln -s {} {LINKS}/ && {}", quoted(file), export(&short)))
}

fn name(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// `text` as one word for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%=:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
