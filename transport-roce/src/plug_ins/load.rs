//! From an entry to a plug-in that is loaded.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::contents::Contents;
use super::error::PlugInError;
use super::file;
use super::inspect::inspect;
use super::places::Places;
use super::private_abi::{AbiNumbers, suffix};
use super::rules::{Named, named};
use super::{PlugIn, VARIABLE};
use crate::abi::{Visibility, open_for_ever};

/// How the library of extend plug-ins is called.
const EXTEND_LIBRARY: [&str; 2] = ["libibv_extend.so", "libibv_extend.so.4"];

/// Loads plug-ins for one libibverbs, which must be loaded itself.
#[derive(Debug)]
pub(super) struct Loader<'a> {
    places: &'a Places,
    /// The file of the library; without it nothing is loaded.
    libibverbs: Option<&'a Path>,
    /// Its private ABI, if it tells.
    library_abi: Option<u32>,
    /// The library of extend plug-ins, once it was needed.
    extend_library: Option<Result<PathBuf, PlugInError>>,
    /// What is loaded already.
    loaded: Vec<(Identity, PlugIn)>,
}

/// A file is the same whatever path leads to it.
type Identity = (u64, u64);

/// A file that could be loaded.
struct Candidate {
    path: PathBuf,
    identity: Identity,
    contents: Contents,
}

impl<'a> Loader<'a> {
    pub(super) fn new(libibverbs: Option<&'a Path>, places: &'a Places) -> Self {
        let library_abi = libibverbs.and_then(library_abi);
        Self { places, libibverbs, library_abi, extend_library: None, loaded: Vec::new() }
    }

    /// Loads what `entry` names, unless it is loaded already.
    ///
    /// # Errors
    /// If it breaks a rule, or cannot be loaded.
    pub(super) fn load(&mut self, entry: &OsStr) -> Result<PlugIn, PlugInError> {
        let Candidate { path, identity, contents } = match named(entry, self.places)? {
            Named::File(path) => self.look_at(path)?,
            Named::Bare(name) => self.search(&name)?,
        };
        if let Some((_, plug_in)) = self.loaded.iter().find(|(known, _)| *known == identity) {
            return Ok(plug_in.clone());
        }
        self.check_abi(&path, &contents)?;
        let extend_library = if contents.extends { Some(self.extend_library(&path)?) } else { None };
        self.open(&path, Visibility::Local)?;
        let plug_in =
            PlugIn { path, provider_abi: contents.registers, extends: contents.extends, extend_library };
        self.loaded.push((identity, plug_in.clone()));
        Ok(plug_in)
    }

    fn look_at(&self, path: PathBuf) -> Result<Candidate, PlugInError> {
        let (file, metadata) = file::open(&path, self.places)?;
        let contents = inspect(&path.display().to_string(), file)?;
        Ok(Candidate { identity: identity(&metadata), path, contents })
    }

    /// The first file of a bare name that could be loaded; like the loader, past those of other machines and the like.
    fn search(&self, entry: &str) -> Result<Candidate, PlugInError> {
        let file = format!("lib{entry}.so");
        self.first(self.places.all(&file), Ok).unwrap_or_else(|| {
            let looked_in = self.places.describe();
            Err(PlugInError::NotFound { entry: entry.to_owned(), file, looked_in })
        })
    }

    /// The first of `files` that could be loaded, and that `take` takes, else what is wrong with the first of all.
    fn first<T>(
        &self,
        files: impl Iterator<Item = PathBuf>,
        take: impl Fn(Candidate) -> Result<T, PlugInError>,
    ) -> Option<Result<T, PlugInError>> {
        let mut wrong = None;
        for path in files {
            match self.look_at(path).map_err(not_named).and_then(&take) {
                Ok(taken) => return Some(Ok(taken)),
                Err(error) => wrong = wrong.or(Some(Err(error))),
            }
        }
        wrong
    }

    fn check_abi(&self, path: &Path, contents: &Contents) -> Result<(), PlugInError> {
        let (Some(library), Some(libibverbs)) = (self.library_abi, self.libibverbs) else { return Ok(()) };
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let numbers = AbiNumbers { suffix: suffix(&name), symbols: contents.needs.or(contents.registers) };
        if !numbers.differs(library) {
            return Ok(());
        }
        let (file, libibverbs) = (path.display().to_string(), libibverbs.display().to_string());
        Err(PlugInError::OtherAbi { file, numbers, library, libibverbs })
    }

    /// The library for the extend plug-in `path`, opened so that the plug-in finds its functions.
    fn extend_library(&mut self, path: &Path) -> Result<PathBuf, PlugInError> {
        let file = || path.display().to_string();
        if self.extend_library.is_none() {
            let files = EXTEND_LIBRARY.iter().flat_map(|name| self.places.all(name));
            let take = |Candidate { path, .. }| self.open(&path, Visibility::Global).map(|()| path);
            self.extend_library = self.first(files, take);
        }
        match &self.extend_library {
            Some(Ok(library)) => Ok(library.clone()),
            Some(Err(cause)) => {
                Err(PlugInError::ExtendLibrary { file: file(), cause: Box::new(cause.clone()) })
            }
            None => Err(PlugInError::NoExtendLibrary { file: file(), looked_in: self.places.describe() }),
        }
    }

    fn open(&self, path: &Path, visibility: Visibility) -> Result<(), PlugInError> {
        if self.libibverbs.is_none() {
            return Ok(());
        }
        // A constructor that ends the process leaves this as the last word.
        tracing::info!("{VARIABLE}: loading {}", path.display());
        open_for_ever(path, visibility).map_err(|said| refused(path.display().to_string(), said))
    }
}

/// What is wrong with a file that the search found, and that nobody named.
fn not_named(error: PlugInError) -> PlugInError {
    match error {
        PlugInError::NoSuchFile { file, link: Some(link), .. } => PlugInError::Dangling { file, link },
        _ => error,
    }
}

/// What the loader's words mean.
fn refused(file: String, said: String) -> PlugInError {
    match said.split_once(": cannot open shared object file") {
        Some((dependency, reason)) if dependency != file => {
            let reason = reason.trim_start_matches(": ").to_owned();
            PlugInError::MissingDependency { dependency: dependency.to_owned(), file, reason }
        }
        _ => PlugInError::Refused { file, said },
    }
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// The number of the private ABI of the libibverbs in this file.
pub(crate) fn library_abi(libibverbs: &Path) -> Option<u32> {
    let (file, _) = file::open(libibverbs, &Places::new([])).ok()?;
    inspect(&libibverbs.display().to_string(), file).ok()?.defines
}
