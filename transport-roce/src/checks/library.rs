//! libibverbs: which file it is, and whether there is only one.

use std::path::{Path, PathBuf};

use transport_core::checks::Section;

use crate::verbs::{Library, VerbsError};

/// What its file's name begins with, whatever the release.
const NAME: &str = "libibverbs.so";

/// The library of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadedLibrary {
    /// Its file, `None` if the system does not say.
    pub(crate) file: Option<PathBuf>,
    /// The number of the ABI that its providers need, as in `-rdmav34.so`.
    pub(crate) abi: Option<u32>,
    /// All files of that name in this process: its own, and those that something else loaded.
    pub(crate) copies: Vec<PathBuf>,
}

impl LoadedLibrary {
    /// Looks. `abi` reads the number out of a file.
    pub(crate) fn of(library: &Library, abi: impl Fn(&Path) -> Option<u32>) -> Self {
        let file = library.path();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self { abi: file.as_deref().and_then(abi), file, copies: copies(&maps) }
    }
}

/// The files that are libibverbs by their names, each once, from the lines of `/proc/self/maps`.
fn copies(maps: &str) -> Vec<PathBuf> {
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_it = |file: &&Path| {
        file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(NAME.as_bytes()))
    };
    let mut found: Vec<PathBuf> = files.filter(is_it).map(Path::to_owned).collect();
    found.sort();
    found.dedup();
    found
}

/// Judges.
pub(crate) fn library(loaded: Result<&LoadedLibrary, &VerbsError>) -> Section {
    let mut section = Section::new("libibverbs", "libibverbs");
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            section.fail("loaded", error.to_string(), error.remedy());
            return section;
        }
    };
    let Some(file) = &loaded.file else {
        section.ok("loaded", "libibverbs is loaded; the system does not say from which file");
        return section;
    };
    // The name with the whole version stands behind the symbolic links.
    let real = file.canonicalize().unwrap_or_else(|_| file.clone());
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let abi = match loaded.abi {
        Some(abi) => format!("; its providers have ABI {abi}, that is, files called lib*-rdmav{abi}.so"),
        None => "; the ABI of its providers is not known".to_owned(),
    };
    section.ok("loaded", format!("{name} ({}){abi}", file.display()));
    let others: Vec<String> =
        loaded.copies.iter().filter(|copy| *copy != file).map(|copy| copy.display().to_string()).collect();
    if !others.is_empty() {
        section.warn(
            "copies",
            format!(
                "this process has another libibverbs: {}. A provider that registers itself there is not seen by this \
                 library, which asks {}",
                others.join(", "),
                file.display()
            ),
            "ldconfig -p | grep -F libibverbs.so; echo \"$LD_LIBRARY_PATH $LD_PRELOAD\"",
        );
    }
    section
}

#[cfg(test)]
mod tests {
    use transport_core::checks::Level;

    use super::*;
    use crate::abi::LoadError;

    fn loaded(file: Option<&str>, abi: Option<u32>, copies: &[&str]) -> LoadedLibrary {
        LoadedLibrary {
            file: file.map(PathBuf::from),
            abi,
            copies: copies.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn the_file_and_its_abi_are_told() {
        let one = "/lib/libibverbs.so.1.14.44.0";
        let section = library(Ok(&loaded(Some(one), Some(34), &[one])));
        let [finding] = section.findings.as_slice() else { panic!("{section:?}") };
        assert_eq!((finding.id, finding.level), ("loaded", Level::Ok));
        for part in ["libibverbs.so.1.14.44.0 (/lib/", "ABI 34", "-rdmav34.so"] {
            assert!(finding.what.contains(part), "{part}: {}", finding.what);
        }
        let section = library(Ok(&loaded(Some(one), None, &[])));
        assert!(section.findings[0].what.contains("not known"), "{section:?}");
        let section = library(Ok(&loaded(None, None, &[])));
        assert_eq!((section.findings.len(), section.level()), (1, Level::Ok));
    }

    #[test]
    fn the_whole_name_stands_behind_the_links() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("libibverbs.so.1.14.44.0"), "").unwrap();
        let link = place.path().join("libibverbs.so.1");
        std::os::unix::fs::symlink("libibverbs.so.1.14.44.0", &link).unwrap();
        let section = library(Ok(&loaded(link.to_str(), Some(34), &[])));
        assert!(section.findings[0].what.starts_with("libibverbs.so.1.14.44.0 ("), "{section:?}");
    }

    #[test]
    fn a_second_copy_is_odd() {
        let maps = "\
            1-2 r--p 0 00:1b 7  /lib/libibverbs.so.1.14.44.0\n\
            2-3 r-xp 0 00:1b 7  /lib/libibverbs.so.1.14.44.0\n\
            3-4 r-xp 0 00:1b 9  /opt/vendor lib/libibverbs.so.1\n\
            4-5 r-xp 0 00:1b 9  /lib/libibverbs/libmlx5-rdmav34.so\n\
            5-6 rw-p 0 00:00 0\n";
        let copies = copies(maps);
        assert_eq!(
            copies,
            [Path::new("/lib/libibverbs.so.1.14.44.0"), Path::new("/opt/vendor lib/libibverbs.so.1")]
        );
        let loaded = LoadedLibrary { copies, ..loaded(Some("/lib/libibverbs.so.1.14.44.0"), Some(34), &[]) };
        let section = library(Ok(&loaded));
        assert_eq!(section.level(), Level::Warn);
        let finding = section.findings.last().unwrap();
        assert_eq!(finding.id, "copies");
        assert!(finding.what.contains("another libibverbs: /opt/vendor lib/libibverbs.so.1."), "{finding:?}");
    }

    #[test]
    fn without_it_no_job_runs() {
        let error = LoadError::Library {
            soname: "libibverbs.so.1".into(),
            cause: "libibverbs.so.1: cannot open shared object file: No such file or directory".into(),
        };
        let section = library(Err(&error.into()));
        assert_eq!(section.level(), Level::Fail);
        assert!(section.findings[0].remedy.as_deref().unwrap().contains("libibverbs1"), "{section:?}");
    }

    #[test]
    fn the_one_of_this_process_where_there_is_one() {
        let Ok(opened) = Library::open() else { return };
        let loaded = LoadedLibrary::of(&opened, |file| file.exists().then_some(34));
        assert_eq!(loaded.abi, Some(34));
        assert!(loaded.copies.contains(loaded.file.as_ref().unwrap()), "{loaded:?}");
        assert_ne!(library(Ok(&loaded)).level(), Level::Fail);
    }
}
