//! What to type against what is wrong with a plug-in.

use std::path::Path;

use super::VARIABLE;
use super::error::PlugInError;
use super::instead::Instead;
use super::private_abi::suffix;
use super::rules::{is_allowed, link_to};
use super::shell::variable;
use crate::verbs::Errno;

impl PlugInError {
    /// A command that puts it right, or shows more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NamesNothing { .. } => format!("unset {VARIABLE}"),
            Self::TooLong { entry, link: Some(to), .. } => link(entry, to),
            Self::Blank { instead, .. }
            | Self::Quoted { instead, .. }
            | Self::Unexpanded { instead: Some(instead), .. } => instead.export(),
            Self::Unexpanded { what, instead: None, .. } => match what.strip_prefix('~') {
                Some("") => "getent passwd \"$(id -u)\"".to_owned(),
                Some(user) => format!("getent passwd {}", quoted(user)),
                None => format!("printenv {}", quoted(variable(what))),
            },
            Self::DotDot { entry, steps: true, instead } => {
                instead.export_what_prints(&format!("realpath -m {}", quoted(entry)))
            }
            // Resolving it would not take the dots away.
            Self::DotDot { entry, instead, .. } if !entry.contains('/') || !is_allowed(instead.text()) => {
                find(&name(entry))
            }
            Self::DotDot { entry, instead, .. } => link(entry, instead),
            Self::Relative { full, .. } if is_allowed(full.text()) => full.export(),
            Self::Relative { full, .. } => match link_to(Path::new(full.text())) {
                Some(to) => link(full.text(), &full.with(to)),
                None => show_entries().to_owned(),
            },
            Self::FileName { found: Some(found), .. } | Self::NoSuchFile { found: Some(found), .. } => {
                found.export()
            }
            Self::FileName { entry: name, found: None, .. } | Self::NotFound { file: name, .. } => find(name),
            Self::Dangling { file, .. } => find(&format!("{}*", name(file))),
            // What was meant nobody knows.
            Self::BadCharacters { .. } | Self::TooLong { link: None, .. } => show_entries().to_owned(),
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

fn find(name: &str) -> String {
    format!("find / -name {} 2>/dev/null", quoted(name))
}

/// Shows the entries as they are taken apart, one a line.
const fn show_entries() -> &'static str {
    "echo \"$IBV_EXTEND_DRIVERS\" | tr ':;' '\\n\\n'"
}

/// Makes the link `to` that leads to `file`, and names it.
fn link(file: &str, to: &Instead) -> String {
    let file = std::path::absolute(file).map_or_else(|_| file.to_owned(), |full| full.display().to_string());
    format!("ln -s {} {} && {}", quoted(&file), quoted(to.text()), to.export())
}

fn name(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// `text` as one word for a shell.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%=:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
