//! CANN, the software of Ascend NPUs: whether it is installed, and new enough to know the NIC.

use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use transport_core::checks::Section;

use super::cann_version::Version;
use crate::bounded_file::read_at_most;
use crate::kind::NicKind;

/// The variable that names the place of CANN.
const VARIABLE: &str = "ASCEND_HOME_PATH";
/// Where it is without that, the first that is there.
const PLACES: [&str; 3] =
    ["usr/local/Ascend/ascend-toolkit/latest", "usr/local/Ascend/latest", "usr/local/Ascend/cann"];
/// The most of a file that is read: all of them are short.
const MOST: u64 = 64 << 10;

/// What is known about CANN on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cann {
    /// What the variable names although it is no directory.
    pub(crate) misnamed: Option<PathBuf>,
    /// Where CANN is.
    pub(crate) place: Option<PathBuf>,
    /// Its version, with the file that tells.
    pub(crate) version: Option<(Version, PathBuf)>,
}

impl Cann {
    /// Looks.
    pub(crate) fn now() -> Self {
        Self::look(std::env::var_os(VARIABLE).as_deref(), Path::new("/"))
    }

    /// As [`now`](Self::now), with the variable's value, and another directory in place of `/`.
    fn look(variable: Option<&OsStr>, root: &Path) -> Self {
        let named = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
        let (named, misnamed) = match named {
            Some(place) if place.is_dir() => (Some(place), None),
            other => (None, other),
        };
        let installed = || PLACES.iter().map(|place| root.join(place)).find(|place| place.is_dir());
        let place = named.or_else(installed);
        let version = place.as_deref().and_then(version);
        Self { misnamed, place, version }
    }
}

/// The version of the CANN in `place`, with the file that tells.
fn version(place: &Path) -> Option<(Version, PathBuf)> {
    let files = [
        "share/info/hcomm/version.info".to_owned(),
        "version.info".to_owned(),
        format!("{ARCH}-linux/ascend_toolkit_install.info"),
    ];
    files.iter().map(|file| place.join(file)).find_map(|file| {
        let bytes = read_at_most(&file, MOST).ok()?;
        Some((Version::find(&String::from_utf8_lossy(&bytes))?, file))
    })
}

/// Judges, for a backend of this kind.
pub(crate) fn cann(found: &Cann, kind: &NicKind) -> Section {
    let mut section = Section::new("cann", "CANN");
    if let Some(misnamed) = &found.misnamed {
        let remedy = match &found.place {
            Some(place) => format!("export {VARIABLE}={}", place.display()),
            None => format!("unset {VARIABLE}"),
        };
        let what = format!("{VARIABLE} is {}, which is no directory", misnamed.display());
        section.warn("home", what, remedy);
    }
    let Some(place) = &found.place else {
        section.ok("version", "not installed; not needed by this library: its engine posts from the host");
        return section;
    };
    let place = place.display();
    let Some((version, file)) = &found.version else {
        section.ok("version", format!("CANN is in {place}, but none of its files tells the version"));
        return section;
    };
    let told = format!("CANN {version} in {place} ({})", file.display());
    match kind.cann {
        Some((oldest, product)) if version.is_older_than(oldest) => {
            let [major, minor, patch] = oldest;
            let needed = format!("{major}.{minor}.{patch}");
            section.warn(
                "version",
                format!(
                    "{told}: programs of CANN need {needed} or newer for the {} of {product}; this library does not need it",
                    kind.name
                ),
                format!("bash Ascend-cann-toolkit_{needed}_linux-{ARCH}.run --upgrade"),
            );
        }
        _ => section.ok("version", told),
    }
    section
}

#[cfg(test)]
mod tests {
    use std::fs;

    use transport_core::checks::Level;

    use super::*;

    const NEWER: NicKind =
        NicKind { name: "XSCALE NIC", cann: Some(([9, 1, 0], "Ascend950")), ..NicKind::ROCE };

    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn found(root: &tempfile::TempDir, variable: Option<&Path>) -> Cann {
        Cann::look(variable.map(Path::as_os_str), root.path())
    }

    #[track_caller]
    fn last(found: &Cann, kind: &NicKind, level: Level, parts: &[&str]) {
        let section = cann(found, kind);
        let finding = section.findings.last().unwrap();
        assert_eq!((finding.id, finding.level), ("version", level), "{finding:?}");
        let text = format!("{} {}", finding.what, finding.remedy.as_deref().unwrap_or("-"));
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in: {text}");
        }
    }

    #[test]
    fn a_host_without_it_is_fine() {
        let none = found(&host(&[]), None);
        last(&none, &NEWER, Level::Ok, &["not installed", "not needed by this library"]);
        assert_eq!(cann(&none, &NEWER).findings.len(), 1);
    }

    #[test]
    fn every_place_and_every_file() {
        let install = format!("{ARCH}-linux/ascend_toolkit_install.info");
        for place in PLACES {
            for file in ["share/info/hcomm/version.info", "version.info", &install] {
                let root = host(&[(&format!("{place}/{file}"), "Version=9.1.0\n")]);
                last(&found(&root, None), &NEWER, Level::Ok, &["CANN 9.1.0 in ", place, file]);
            }
        }
        let two = host(&[
            ("usr/local/Ascend/latest/version.info", "no version\n"),
            ("usr/local/Ascend/latest/share/info/hcomm/version.info", "Version=9.2.0"),
            ("usr/local/Ascend/cann/version.info", "Version=8.0.0"),
        ]);
        last(&found(&two, None), &NEWER, Level::Ok, &["9.2.0", "hcomm"]);
        let silent = host(&[("usr/local/Ascend/cann/version.info", "\0\u{fffd}\n")]);
        last(&found(&silent, None), &NEWER, Level::Ok, &["none of its files tells"]);
    }

    #[test]
    fn an_old_one_is_named_with_what_is_needed() {
        let root = host(&[("usr/local/Ascend/cann/version.info", "version=8.2.RC1\n")]);
        let parts =
            ["8.2.RC1", "9.1.0 or newer", "XSCALE NIC of Ascend950", "Ascend-cann-toolkit_9.1.0_linux-"];
        last(&found(&root, None), &NEWER, Level::Warn, &parts);
        last(&found(&root, None), &NicKind::ROCE, Level::Ok, &["8.2.RC1"]);
    }

    #[test]
    fn the_variable_comes_first_and_must_name_a_directory() {
        let root = host(&[
            ("home/version.info", "Version=9.1.0"),
            ("usr/local/Ascend/cann/version.info", "version=8.0.0"),
        ]);
        let home = root.path().join("home");
        last(&found(&root, Some(&home)), &NEWER, Level::Ok, &["9.1.0"]);
        last(&found(&root, Some(Path::new(""))), &NicKind::ROCE, Level::Ok, &["8.0.0"]);
        for (root, remedy) in [(&root, "export ASCEND_HOME_PATH="), (&host(&[]), "unset ASCEND_HOME_PATH")] {
            let file = home.join("version.info");
            let section = cann(&found(root, Some(&file)), &NicKind::ROCE);
            let [home, version] = section.findings.as_slice() else { panic!("{section:?}") };
            assert_eq!((home.id, home.level, version.level), ("home", Level::Warn, Level::Ok));
            assert!(home.remedy.as_deref().unwrap().starts_with(remedy), "{home:?}");
        }
    }
}
