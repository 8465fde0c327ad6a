//! Parts of what [`PlugInError`](super::error::PlugInError) says, where it depends on what is known.

use super::instead::Instead;
use crate::verbs::Errno;

/// `entry`, in quotes, as far as it is useful.
pub(super) fn beginning(entry: &str) -> String {
    const SHOWN: usize = 200;
    match entry.char_indices().nth(SHOWN).and_then(|(end, _)| entry.get(..end)) {
        Some(beginning) => format!("{beginning:?}..."),
        None => format!("{entry:?}"),
    }
}

pub(super) fn or_the_stem(stem: Option<&str>) -> String {
    stem.map_or_else(String::new, |stem| format!(", or the bare name {stem}"))
}

/// Of what a shell would have replaced. `full` is the entry with what it stands for.
pub(super) fn not_here(full: Option<&Instead>) -> String {
    const WHY: &str = "which only a shell expands, and that only outside of quotes; write the full path";
    full.map_or_else(
        || format!("{WHY} (what it stands for is not known here)"),
        |full| format!("{WHY}, which is {full}"),
    )
}

pub(super) fn leads_to(link: Option<&str>) -> String {
    link.map_or_else(String::new, |link| format!(" (it is a link to {link})"))
}

pub(super) fn found_or_install(found: Option<&Instead>) -> String {
    found.map_or_else(
        || "correct the path, or install the NIC's driver package".to_owned(),
        |found| format!("there is {found}"),
    )
}

/// Why a file may not be reached.
pub(super) fn on_the_way(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCES | Errno::PERM => "Does this user have the right to enter each directory above it?",
        _ if is_loop(errno) => "A link on the way leads back to itself; let it lead to the file",
        _ => "Look at each directory and link on the way to it; is the file system or its server down?",
    }
}

/// Why a file may not be read.
pub(super) fn to_read(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCES | Errno::PERM => "Give this user the right to read it",
        Errno::INVAL => {
            "It is no file of a disk (those of /proc, for example, are made up as they are read); name another"
        }
        _ => {
            "Its rights are not the cause: the disk or the server that has it may fail, or it is no file of a disk"
        }
    }
}

fn is_loop(errno: Errno) -> bool {
    errno.0 == rustix::io::Errno::LOOP.raw_os_error()
}
