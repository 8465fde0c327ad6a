//! The exported functions of libibverbs, found in the library at run time.

use std::ffi::{c_char, c_int, c_void};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::structs::{
    ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_device_attr, ibv_gid, ibv_gid_entry, ibv_mr,
    ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr, ibv_qp_init_attr,
};

/// The library is always opened by this name and never by a path: a provider plug-in needs the same name, and so
/// registers itself in the library that we ask.
pub(crate) const SONAME: &str = "libibverbs.so.1";

/// Why the functions cannot be had.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No such library, or it does not load.
    #[error(
        "the verbs library {soname} cannot be loaded: {cause}. Install it with the providers of the NICs (Debian, \
         Ubuntu: libibverbs1 and ibverbs-providers; RPM: libibverbs), or let LD_LIBRARY_PATH name its directory"
    )]
    Library {
        /// What was asked for.
        soname: String,
        /// The loader's word.
        cause: String,
    },

    /// It is there, but not what it should be.
    #[error(
        "{soname} has no function {symbol}: {cause}. It is too old, or another library of that name; install rdma-core's \
         (Debian, Ubuntu: libibverbs1 and ibverbs-providers; RPM: libibverbs), or see what LD_LIBRARY_PATH names"
    )]
    Symbol {
        /// What was asked for.
        soname: String,
        /// The function.
        symbol: &'static str,
        /// The loader's word.
        cause: String,
    },
}

/// Declares the table and how it is filled. `dlsym` answers with a symbol's default version, `IBVERBS_1.1` of those that
/// have two, which is what a program that is linked to the library gets as well.
macro_rules! symbols {
    (required { $($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)+ } optional { $($may:ident: fn($($marg:ty),*) -> $mret:ty;)+ }) => {
        /// The functions, with C's names and types. See `man 3` of each.
        #[allow(missing_docs, reason = "C's own")]
        #[derive(Debug)]
        pub(crate) struct Symbols {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)+
            $(pub(crate) $may: Option<unsafe extern "C" fn($($marg),*) -> $mret>,)+
        }

        impl Symbols {
            fn resolve(library: &Library, soname: &str) -> Result<Self, LoadError> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the function of this name has this type in the frozen ABI of libibverbs.so.1.
                        let symbol = unsafe { library.get(stringify!($name)) };
                        *symbol.map_err(|error| LoadError::Symbol {
                            soname: soname.to_owned(),
                            symbol: stringify!($name),
                            cause: text(&error),
                        })?
                    },)+
                    $($may: {
                        // SAFETY: as above.
                        unsafe { library.get(stringify!($may)) }.ok().map(|symbol| *symbol)
                    },)+
                })
            }
        }
    };
}

symbols! {
    required {
        ibv_get_device_list: fn(*mut c_int) -> *mut *mut ibv_device;
        ibv_free_device_list: fn(*mut *mut ibv_device);
        ibv_get_device_name: fn(*mut ibv_device) -> *const c_char;
        ibv_get_device_guid: fn(*mut ibv_device) -> u64;
        ibv_open_device: fn(*mut ibv_device) -> *mut ibv_context;
        ibv_close_device: fn(*mut ibv_context) -> c_int;
        ibv_query_device: fn(*mut ibv_context, *mut ibv_device_attr) -> c_int;
        ibv_query_port: fn(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
        ibv_query_gid: fn(*mut ibv_context, u8, c_int, *mut ibv_gid) -> c_int;
        ibv_alloc_pd: fn(*mut ibv_context) -> *mut ibv_pd;
        ibv_dealloc_pd: fn(*mut ibv_pd) -> c_int;
        ibv_reg_mr: fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
        ibv_dereg_mr: fn(*mut ibv_mr) -> c_int;
        ibv_create_comp_channel: fn(*mut ibv_context) -> *mut ibv_comp_channel;
        ibv_destroy_comp_channel: fn(*mut ibv_comp_channel) -> c_int;
        ibv_create_cq: fn(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq;
        ibv_destroy_cq: fn(*mut ibv_cq) -> c_int;
        ibv_get_cq_event: fn(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int;
        ibv_ack_cq_events: fn(*mut ibv_cq, u32);
        ibv_create_qp: fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp;
        ibv_modify_qp: fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int;
        ibv_query_qp: fn(*mut ibv_qp, *mut ibv_qp_attr, c_int, *mut ibv_qp_init_attr) -> c_int;
        ibv_destroy_qp: fn(*mut ibv_qp) -> c_int;
    }
    optional {
        _ibv_query_gid_ex: fn(*mut ibv_context, u32, u32, *mut ibv_gid_entry, u32, usize) -> c_int;
    }
}

impl Symbols {
    /// Opens the library `soname`, which then stays loaded to the end of the process.
    pub(crate) fn load(soname: &str) -> Result<Self, LoadError> {
        // RTLD_GLOBAL, so that plug-ins that were linked carelessly find it too.
        // SAFETY: libibverbs' initialisers only read the environment and set up tables of its own.
        let library = unsafe { Library::open(Some(soname), RTLD_NOW | RTLD_GLOBAL) };
        let library =
            library.map_err(|error| LoadError::Library { soname: soname.to_owned(), cause: text(&error) })?;
        let symbols = Self::resolve(&library, soname)?;
        // Its providers are never unloaded either: threads of theirs may run.
        std::mem::forget(library);
        Ok(symbols)
    }

    /// An address in the library's code, by which it can be found among the mappings.
    pub(crate) fn address(&self) -> usize {
        self.ibv_get_device_list as usize
    }
}

/// The loader's words, which name the file or function, without the wrapping.
fn text(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_named_with_its_package() {
        let text = Symbols::load("libibverbs-of-nobody.so.1").unwrap_err().to_string();
        for part in ["libibverbs-of-nobody.so.1", "libibverbs1", "ibverbs-providers", "RPM: libibverbs"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_library_without_the_functions_is_named_with_the_function() {
        let text = Symbols::load("libc.so.6").unwrap_err().to_string();
        assert!(text.contains("libc.so.6 has no function ibv_get_device_list"), "{text}");
    }
}
