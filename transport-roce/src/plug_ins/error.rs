//! What can be wrong with a plug-in. What to type against it is in [`remedy`](super::remedy).

use super::instead::Instead;
use super::private_abi::AbiNumbers;
use super::words::{beginning, found_or_install, leads_to, not_here, on_the_way, or_the_stem, to_read};
use crate::verbs::Errno;

/// Why a plug-in that `IBV_EXTEND_DRIVERS` names is not in use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlugInError {
    /// The variable has separators only.
    #[error("IBV_EXTEND_DRIVERS is set, to {value:?}, but names nothing; unset it, or name a plug-in")]
    NamesNothing {
        /// The value.
        value: String,
    },

    /// The entry is too long.
    #[error(
        "the entry {} of IBV_EXTEND_DRIVERS has {has} characters, but only {limit} are allowed; use a shorter path, for \
         example a link to the file. Entries are separated by `:` or `;`",
        beginning(entry)
    )]
    TooLong {
        /// The entry.
        entry: String,
        /// Its length.
        has: usize,
        /// The greatest length.
        limit: usize,
        /// Where a link to it could be, if a link helps.
        link: Option<Instead>,
    },

    /// The entry has a blank before or behind it.
    #[error(
        "the entry {entry:?} of IBV_EXTEND_DRIVERS begins or ends with a blank; write it without. Entries are separated by \
         `:` or `;` alone"
    )]
    Blank {
        /// The entry.
        entry: String,
        /// The entry without it.
        instead: Instead,
    },

    /// The entry has quotes around it.
    #[error(
        "the entry {entry:?} of IBV_EXTEND_DRIVERS begins or ends with a quote, which only a shell takes away; write it without"
    )]
    Quoted {
        /// The entry.
        entry: String,
        /// The entry without them.
        instead: Instead,
    },

    /// The entry has something in it that a shell would have replaced.
    #[error("the entry {entry:?} of IBV_EXTEND_DRIVERS has {what:?} in it, {}", not_here(instead.as_ref()))]
    Unexpanded {
        /// The entry.
        entry: String,
        /// What was not replaced.
        what: String,
        /// The entry with what it stands for, if that is known.
        instead: Option<Instead>,
    },

    /// The entry has `..` in it.
    #[error(
        "the entry {entry:?} of IBV_EXTEND_DRIVERS has \"..\" in it, which is not allowed anywhere; write a path without it"
    )]
    DotDot {
        /// The entry.
        entry: String,
        /// Whether it steps back, so that it goes when the path is resolved, and is not a part of a name.
        steps: bool,
        /// The path, or else that of a link.
        instead: Instead,
    },

    /// The entry is a relative path.
    #[error(
        "the entry {entry:?} of IBV_EXTEND_DRIVERS is a relative path; only a full path, which begins with \"/\", or a bare \
         name without \"/\" is allowed. From here the full path is {full}"
    )]
    Relative {
        /// The entry.
        entry: String,
        /// The path, seen from the current directory.
        full: Instead,
    },

    /// The entry is the name of a file.
    #[error(
        "the entry {entry:?} of IBV_EXTEND_DRIVERS is the name of a file without its directory, and a bare name has no \
         dots; write the full path, like /usr/lib64/{entry}{}",
        or_the_stem(stem.as_deref())
    )]
    FileName {
        /// The entry.
        entry: String,
        /// The bare name that means the same.
        stem: Option<String>,
        /// Where a file of this name is.
        found: Option<Instead>,
    },

    /// The entry is neither a path nor a bare name.
    #[error(
        "the entry {entry:?} of IBV_EXTEND_DRIVERS has {bad:?} in it; a bare name consists of letters, digits, \"_\" and \
         \"-\" only. Write the full path of the file. Entries are separated by `:` or `;`"
    )]
    BadCharacters {
        /// The entry.
        entry: String,
        /// What is not allowed.
        bad: String,
    },

    /// There is no such file.
    #[error("IBV_EXTEND_DRIVERS names {file}, which does not exist{}; {}", leads_to(link.as_deref()), found_or_install(found.as_ref()))]
    NoSuchFile {
        /// The file.
        file: String,
        /// Where it leads to, if it is a link.
        link: Option<String>,
        /// Where a file of this name is.
        found: Option<Instead>,
    },

    /// A link that the search found leads to nothing.
    #[error(
        "{file} is a link to {link}, which does not exist; install its package again, or remove the link"
    )]
    Dangling {
        /// The link.
        file: String,
        /// Where it leads to.
        link: String,
    },

    /// There is no file of the bare name.
    #[error(
        "IBV_EXTEND_DRIVERS names {entry}, that is {file}, which is in none of the usual directories (looked in \
         {looked_in}); write its full path, or install the NIC's driver package"
    )]
    NotFound {
        /// The entry.
        entry: String,
        /// The file's name.
        file: String,
        /// The directories.
        looked_in: String,
    },

    /// It is there, but cannot be loaded because of what it is.
    #[error("{file} is {what}, not a file; write the path of the plug-in itself")]
    NotRegular {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
    },

    /// Something on the way to it is in the way.
    #[error("{file} cannot be reached: {errno}. {}", on_the_way(*errno))]
    Unreachable {
        /// The file.
        file: String,
        /// What the system says.
        errno: Errno,
    },

    /// It cannot be read.
    #[error("{file} cannot be read: {errno}. {}", to_read(*errno))]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        errno: Errno,
    },

    /// It is no ELF file.
    #[error("{file} is no shared object: it {looks}. Take the file from the NIC's driver package")]
    NotElf {
        /// The file.
        file: String,
        /// What it looks like.
        looks: String,
    },

    /// It was built for another machine.
    #[error(
        "{file} was built for {theirs}, but this process runs on {ours}; install the NIC's driver package for this machine"
    )]
    OtherMachine {
        /// The file.
        file: String,
        /// The file's machine.
        theirs: String,
        /// This machine.
        ours: String,
    },

    /// It is an ELF file of another sort.
    #[error("{file} is {what}, not a shared object; take the .so file of the NIC's driver package")]
    NotShared {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
    },

    /// A part of it is missing.
    #[error(
        "{file} is cut off: it has {has} bytes, but by its headers it needs {needs}. Copy or install it again; is the disk \
         full?"
    )]
    Truncated {
        /// The file.
        file: String,
        /// Its length.
        has: u64,
        /// What it should be at least.
        needs: u64,
    },

    /// Its tables contradict themselves.
    #[error("{file} is damaged ({why}); copy or install it again")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },

    /// It is a provider for another release of libibverbs.
    #[error(
        "{file} is for libibverbs with the private ABI {}, but the installed one ({libibverbs}) has {library}: {numbers}. \
         Install the NIC's driver package that fits the installed libibverbs, or the libibverbs that came with the package",
        numbers.number(*library)
    )]
    OtherAbi {
        /// The file.
        file: String,
        /// The file's numbers, and where they are from.
        numbers: AbiNumbers,
        /// The library's number.
        library: u32,
        /// The library's file.
        libibverbs: String,
    },

    /// A library that it needs is not there.
    #[error(
        "{file} cannot be loaded: {dependency}, which it or a library of its own needs, cannot be opened ({reason}). \
         Install what has it, or add its directory to LD_LIBRARY_PATH"
    )]
    MissingDependency {
        /// The file.
        file: String,
        /// What is missing.
        dependency: String,
        /// What the system says.
        reason: String,
    },

    /// It is an extend plug-in, and there is no library for these.
    #[error(
        "{file} is an extend plug-in, which needs libibv_extend.so, but there is none (looked in {looked_in}). Install the \
         Ascend driver package, or add its directory to LD_LIBRARY_PATH"
    )]
    NoExtendLibrary {
        /// The file.
        file: String,
        /// The directories.
        looked_in: String,
    },

    /// It is an extend plug-in, and the library for these cannot be used.
    #[error("{file} is an extend plug-in, and the library that it needs cannot be used: {cause}")]
    ExtendLibrary {
        /// The file.
        file: String,
        /// What is wrong with the library.
        cause: Box<PlugInError>,
    },

    /// The loader refuses it.
    #[error("{file} cannot be loaded; the loader says: {said}. Does it fit the libraries of this host?")]
    Refused {
        /// The file.
        file: String,
        /// The loader's words.
        said: String,
    },
}
