//! Shared objects that the process opens by their path and then keeps: provider plug-ins, and the library of some.

use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

/// Who finds the symbols of what is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Itself, and those that are linked to it.
    Local,
    /// All that is opened later.
    Global,
}

/// Opens `file`, which then stays loaded to the end of the process. It must have been looked at: the loader maps what it
/// is given, and the process dies if the file is shorter than its headers say.
///
/// # Errors
/// If the loader refuses, with its words.
pub(crate) fn open_for_ever(file: &Path, visibility: Visibility) -> Result<(), String> {
    let scope = match visibility {
        Visibility::Local => RTLD_LOCAL,
        Visibility::Global => RTLD_GLOBAL,
    };
    // SAFETY: its constructors run in this process, which is what the user who named it asked for; a provider's only
    // put its operations into a table of libibverbs.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | scope) };
    let library = library.map_err(|error| words(&error))?;
    // What it registered is called to the end of the process.
    std::mem::forget(library);
    Ok(())
}

/// The loader's words, which name the file, without the wrapping.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// What `int function(void)` of a loaded `file` answers. For tests, which look whether a constructor did run.
#[cfg(test)]
pub(crate) fn ask(file: &Path, function: &str) -> Option<std::ffi::c_int> {
    // SAFETY: tests ask only files that they built themselves, and that are loaded already.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.ok()?;
    // SAFETY: all functions that tests ask are of this type.
    unsafe {
        let function = library.get::<unsafe extern "C" fn() -> std::ffi::c_int>(function).ok()?;
        Some(function())
    }
}
