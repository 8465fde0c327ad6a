//! Loads the provider plug-ins that `IBV_EXTEND_DRIVERS` names, and tells what is wrong with those that it cannot load.
//!
//! libibverbs itself does not know the variable: `libibv_extend.so` of the Ascend driver does, and is silent about all
//! that goes wrong. The entries are taken by its rules. An *ordinary provider* makes a NIC known to libibverbs; an *extend
//! plug-in* adds functions to a NIC that a provider has made known. A file may be both, or register itself in a way that
//! cannot be seen from outside.
//!
//! Each file is looked at before the loader gets it, so that one of another machine, cut off, or for another release of
//! libibverbs becomes an error with a remedy, and not a crash or a NIC that is just not there. That is all that is caught.
//! Its constructors then run in this process: one that crashes or exits takes the process along, and nothing can stop it.
//! So `loading PATH` is logged before each file, and names the one at which a process ended. Damage within the code or the
//! tables that only the loader reads is not seen either.

mod bounded;
mod contents;
mod error;
mod file;
mod inspect;
mod instead;
mod load;
mod looks;
mod machine;
mod places;
mod private_abi;
mod remedy;
mod rules;
mod shell;
mod words;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::{getegid, geteuid, getgid, getuid};

pub use error::PlugInError;
pub use instead::Instead;
pub(crate) use load::library_abi;
pub use private_abi::AbiNumbers;

use crate::abi::is_secure_execution;
use load::Loader;
use places::Places;
use rules::Listed;

/// The environment variable that names plug-ins.
pub(crate) const VARIABLE: &str = "IBV_EXTEND_DRIVERS";

/// What the variable named, and what became of it.
#[derive(Debug)]
pub(crate) struct PlugIns {
    /// The variable as it is set, `None` if it is not or empty.
    pub value: Option<String>,
    /// Whether it is set but not heeded, because this process has rights that its caller may not have (setuid,
    /// setgid, capabilities of the program's file).
    pub ignored: bool,
    /// What it names, in its order.
    pub entries: Vec<Entry>,
}

/// One of the names in the variable.
#[derive(Debug)]
pub(crate) struct Entry {
    /// As it is written there.
    pub text: String,
    /// The plug-in, or what is wrong with it.
    pub outcome: Result<PlugIn, PlugInError>,
}

/// A plug-in that is loaded, or could be if libibverbs were.
#[derive(Debug, Clone)]
pub(crate) struct PlugIn {
    /// Its file.
    pub path: PathBuf,
    /// The private ABI of libibverbs for which it is, if it is an ordinary provider.
    pub provider_abi: Option<u32>,
    /// Whether it is an extend plug-in.
    pub extends: bool,
    /// The `libibv_extend.so` that it registers itself in, if it is an extend plug-in.
    pub extend_library: Option<PathBuf>,
}

impl PlugIns {
    /// The plug-ins of this process. The first call reads the environment and loads them, for good, and must come before
    /// the first list of devices: libibverbs looks for providers then, and never again.
    ///
    /// `libibverbs` is the file from which the library was loaded. Without it the files are only looked at.
    pub(crate) fn of_process(libibverbs: Option<&Path>) -> &'static Self {
        static LOADED: OnceLock<PlugIns> = OnceLock::new();
        LOADED.get_or_init(|| {
            let privileged = is_privileged();
            let value = std::env::var_os(VARIABLE);
            let plug_ins = Self::read(
                value.as_deref(),
                privileged,
                libibverbs,
                &Places::of_host(libibverbs, privileged),
            );
            plug_ins.log(libibverbs.is_some());
            plug_ins
        })
    }

    /// The same for a given value, looking in given places.
    fn read(value: Option<&OsStr>, privileged: bool, libibverbs: Option<&Path>, places: &Places) -> Self {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return Self { value: None, ignored: false, entries: Vec::new() };
        };
        let text = value.to_string_lossy().into_owned();
        if privileged {
            return Self { value: Some(text), ignored: true, entries: Vec::new() };
        }
        let mut loader = Loader::new(libibverbs, places);
        let entry = |listed: Listed<'_>| {
            let outcome = loader.load(listed.entry).map_err(|error| error.among(&listed));
            Entry { text: listed.entry.to_string_lossy().into_owned(), outcome }
        };
        let mut entries: Vec<Entry> = rules::entries(value).map(entry).collect();
        if entries.is_empty() {
            let outcome = Err(PlugInError::NamesNothing { value: text.clone() });
            entries.push(Entry { text: text.clone(), outcome });
        }
        Self { value: Some(text), ignored: false, entries }
    }

    /// Those that can be used. A file that is named twice is loaded once, and is here once.
    pub(crate) fn usable(&self) -> Vec<&PlugIn> {
        let mut usable: Vec<&PlugIn> = Vec::new();
        for plug_in in self.entries.iter().filter_map(|entry| entry.outcome.as_ref().ok()) {
            if !usable.iter().any(|known| known.path == plug_in.path) {
                usable.push(plug_in);
            }
        }
        usable
    }

    /// The entries whose file an earlier entry names already.
    pub(crate) fn repeated(&self) -> Vec<&Entry> {
        let path = |entry: &Entry| entry.outcome.as_ref().ok().map(|plug_in| plug_in.path.clone());
        let of = self.entries.iter().enumerate();
        let again = of.filter(|&(at, entry)| {
            let earlier = self.entries.iter().take(at);
            path(entry).is_some_and(|file| earlier.filter_map(path).any(|known| known == file))
        });
        again.map(|(_, entry)| entry).collect()
    }

    fn log(&self, loaded: bool) {
        if self.ignored {
            tracing::warn!(
                "{VARIABLE} is not heeded, because this process has rights that its caller may not have (setuid, setgid, or \
                 capabilities of the program's file)"
            );
        }
        let done = if loaded { "loaded" } else { "looked at, as there is no libibverbs to load it into:" };
        for plug_in in self.usable() {
            tracing::info!("{VARIABLE}: {done} {plug_in}");
        }
        for entry in self.repeated() {
            tracing::info!("{VARIABLE}: the file of {:?} was named before", entry.text);
        }
    }

    /// Logs what failed, where it is no error of the job itself.
    pub(crate) fn warn_of_failed(&self) {
        for error in self.entries.iter().filter_map(|entry| entry.outcome.as_ref().err()) {
            tracing::warn!("{error} (try `{}`)", error.remedy());
        }
    }
}

/// Whether this process may have rights that the one who set its environment has not.
fn is_privileged() -> bool {
    // The ids tell it even where the kernel does not.
    is_secure_execution() || getuid() != geteuid() || getgid() != getegid()
}

impl fmt::Display for PlugIn {
    /// Its file, and what it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.path.display())?;
        match (self.provider_abi, self.extends) {
            (Some(abi), false) => write!(f, "a provider (ABI {abi})"),
            (Some(abi), true) => write!(f, "a provider (ABI {abi}) and extend plug-in"),
            (None, true) => f.write_str("an extend plug-in"),
            (None, false) => f.write_str("which registers itself neither as provider nor as extend plug-in"),
        }?;
        match &self.extend_library {
            Some(library) => write!(f, " with {}", library.display()),
            None => Ok(()),
        }
    }
}
