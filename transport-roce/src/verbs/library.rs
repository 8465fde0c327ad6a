//! The library itself, loaded once, and the devices that it knows.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::context::Context;
use super::errno::Errno;
use super::error::VerbsError;
use crate::abi::{SONAME, Symbols, ibv_device};

/// libibverbs, loaded for the rest of the process.
#[derive(Debug)]
pub(crate) struct Library {
    pub(super) symbols: Symbols,
}

impl Library {
    /// The library of this process. What failed is tried again by the next call.
    pub(crate) fn open() -> Result<Arc<Self>, VerbsError> {
        static OPENED: OnceLock<Arc<Library>> = OnceLock::new();
        static OPENING: Mutex<()> = Mutex::new(());
        if let Some(library) = OPENED.get() {
            return Ok(Arc::clone(library));
        }
        // One thread at a time; who waited finds it opened.
        let _turn = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = OPENED.get() {
            return Ok(Arc::clone(library));
        }
        let library = Self::load(SONAME)?;
        Ok(Arc::clone(OPENED.get_or_init(|| library)))
    }

    fn load(soname: &str) -> Result<Arc<Self>, VerbsError> {
        Ok(Arc::new(Self { symbols: Symbols::load(soname)? }))
    }

    /// The file that it was loaded from, `None` if the system does not say.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        super::mappings::file_at(self.symbols.address())
    }

    /// All devices that a provider drives, none of them opened. Providers are loaded by the first call.
    pub(crate) fn devices(self: &Arc<Self>) -> Result<Vec<Device>, VerbsError> {
        let mut count = 0;
        // SAFETY: the out parameter is a live number.
        let first = unsafe { (self.symbols.ibv_get_device_list)(&mut count) };
        let Some(first) = NonNull::new(first) else {
            // A kernel without RDMA has no devices, which is no failure.
            return match Errno::last() {
                Errno::NOSYS => Ok(Vec::new()),
                errno => Err(VerbsError::DeviceList { errno }),
            };
        };
        let list = Arc::new(DeviceList { library: Arc::clone(self), first });
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the list holds `count` pointers to devices, and lives as long as we look.
        let devices = unsafe { std::slice::from_raw_parts(first.as_ptr(), count) };
        let named = devices.iter().filter_map(|&device| NonNull::new(device)).map(|device| {
            // SAFETY: the device is alive while the list is; the name lies in it and ends with a zero.
            let name = unsafe {
                let name = (self.symbols.ibv_get_device_name)(device.as_ptr());
                if name.is_null() {
                    String::new()
                } else {
                    CStr::from_ptr(name).to_string_lossy().into_owned()
                }
            };
            Device { device, name, list: Arc::clone(&list) }
        });
        Ok(named.collect())
    }
}

/// The library's list, freed with the last device that was not opened.
#[derive(Debug)]
struct DeviceList {
    library: Arc<Library>,
    first: NonNull<*mut ibv_device>,
}

// SAFETY: the list is not changed by anybody, and freed once.
unsafe impl Send for DeviceList {}
// SAFETY: as above.
unsafe impl Sync for DeviceList {}

impl Drop for DeviceList {
    fn drop(&mut self) {
        // SAFETY: it came from ibv_get_device_list, and the last that knew it is gone. Opened devices stay.
        unsafe { (self.library.symbols.ibv_free_device_list)(self.first.as_ptr()) };
    }
}

/// A device of this machine, not opened.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    device: NonNull<ibv_device>,
    name: String,
    list: Arc<DeviceList>,
}

// SAFETY: the device is alive while the list is, and the library locks what it changes in it.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// The name by which `ibv_devices` lists it, such as `mlx5_0`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its node GUID, unique in the world; 0 for some software devices.
    pub(crate) fn guid(&self) -> u64 {
        // SAFETY: the device is alive while the list is.
        u64::from_be(unsafe { (self.list.library.symbols.ibv_get_device_guid)(self.device.as_ptr()) })
    }

    /// Opens it. It may be opened more than once.
    pub(crate) fn open(&self) -> Result<Arc<Context>, VerbsError> {
        let library = &self.list.library;
        // SAFETY: the device is alive while the list is.
        let context = unsafe { (library.symbols.ibv_open_device)(self.device.as_ptr()) };
        match NonNull::new(context) {
            Some(context) => Ok(Arc::new(Context::new(Arc::clone(library), context, self.name.clone()))),
            None => {
                let said = Errno::last();
                Err(open_error(self.name.clone(), file_error(&self.name).unwrap_or(said)))
            }
        }
    }
}

/// Why the device's file cannot be opened, if that is it: the library says that there is none, whatever the system said.
fn file_error(device: &str) -> Option<Errno> {
    let all = std::fs::read_dir("/sys/class/infiniband_verbs").ok()?;
    let is_its = |of: &std::fs::DirEntry| {
        std::fs::read_to_string(of.path().join("ibdev")).is_ok_and(|name| name.trim() == device)
    };
    let file = all.flatten().find(is_its)?.file_name();
    let opened =
        std::fs::File::options().read(true).write(true).open(Path::new("/dev/infiniband").join(file));
    opened.err()?.raw_os_error().map(Errno)
}

fn open_error(device: String, errno: Errno) -> VerbsError {
    let hint = match errno {
        Errno::PERM | Errno::ACCES => {
            "This user may not read and write /dev/infiniband/uverbs*: see `ls -l /dev/infiniband` and join its group \
             (often `rdma`), or give the container `--device /dev/infiniband`"
        }
        Errno::NOENT | Errno::NXIO | Errno::NODEV => {
            "Its file in /dev/infiniband is missing: load the kernel module ib_uverbs, or give the container \
             `--device /dev/infiniband`"
        }
        Errno::NOMEM | Errno::AGAIN => {
            "The provider could not map or lock what it needs: see `ulimit -l` (`unlimited` is usual) and `ulimit -n`"
        }
        _ => {
            "See `ibv_devinfo -d` with its name, and `dmesg`; IBV_SHOW_WARNINGS=1 makes the library say more"
        }
    };
    VerbsError::Open { device, errno, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_an_error_and_no_panic() {
        let error = Library::load("libibverbs-of-nobody.so.1").unwrap_err();
        assert!(error.to_string().contains("libibverbs-of-nobody.so.1"), "{error}");
    }

    #[test]
    fn missing_rights_name_the_files() {
        let text = open_error("mlx5_0".into(), Errno::ACCES).to_string();
        assert!(text.starts_with("mlx5_0 cannot be opened: Permission denied"), "{text}");
        assert!(text.contains("/dev/infiniband/uverbs*"), "{text}");
    }

    #[test]
    fn where_the_library_is_there_it_says_from_where_and_lists_without_failing() {
        let Ok(library) = Library::open() else { return };
        let path = library.path().unwrap();
        assert!(path.to_string_lossy().contains("libibverbs.so"), "{}", path.display());
        assert!(Arc::ptr_eq(&library, &Library::open().unwrap()));
        // None here may be all there is, which is no error.
        for device in library.devices().unwrap() {
            assert!(!device.name().is_empty());
        }
    }
}
