//! Shared objects that the process opens by their path and then keeps: provider plug-ins, and the library of some.

use std::ffi::c_ulong;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

unsafe extern "C" {
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// The entry of the auxiliary vector that says whether the environment is to be mistrusted.
const AT_SECURE: c_ulong = 23;

/// Who finds the symbols of what is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Itself, and those that are linked to it.
    Local,
    /// All that is opened later.
    Global,
}

/// Whether nothing may be opened, for anybody, only because the environment names it: the kernel gave this process
/// rights that its caller may not have (setuid, setgid, capabilities of the program's file). So does
/// `secure_getenv(3)` tell. `false` also if the kernel says nothing about it.
pub(crate) fn is_secure_execution() -> bool {
    // SAFETY: the function, of every C library of Linux, takes any number, and reads only what the kernel gave to the
    // process at its start.
    unsafe { getauxval(AT_SECURE) != 0 }
}

/// Opens `file`, which then stays loaded to the end of the process. It must have been looked at: the loader maps what it
/// is given, and the process dies if the file is shorter than its headers say. A constructor in it that crashes or exits
/// ends the process too.
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
