//! Where shared objects are on this host: where the loader would look, so that a file can be looked at before it is loaded.

use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the Ascend driver's package has its libraries.
const ASCEND: &str = "/usr/local/Ascend/driver/lib64/driver";
/// Files that list directories for the loader, one a line.
const LISTS: &str = "/etc/ld.so.conf.d";
/// No such list is as long.
const MAX_LIST: u64 = 64 << 10;

/// Directories, in the order in which they are looked through.
#[derive(Debug)]
pub(super) struct Places {
    directories: Vec<PathBuf>,
}

impl Places {
    /// Those of this host. `libibverbs` is the file of the library, whose providers lie beside it. `LD_LIBRARY_PATH` is
    /// not looked at if this process is `privileged`: the loader does not either.
    pub(super) fn of_host(libibverbs: Option<&Path>, privileged: bool) -> Self {
        let variable = if privileged { None } else { std::env::var_os("LD_LIBRARY_PATH") };
        Self::beside(libibverbs, &variable.unwrap_or_default())
    }

    /// The same for a given value of that variable.
    fn beside(libibverbs: Option<&Path>, variable: &OsStr) -> Self {
        let beside = libibverbs.and_then(Path::parent).map(|directory| directory.join("libibverbs"));
        let fixed = ["/usr/local/lib64", "/usr/lib64", "/usr/local/lib", "/usr/lib"].map(PathBuf::from);
        let multiarch = PathBuf::from(format!("/usr/lib/{ARCH}-linux-gnu"));
        let all = beside.into_iter().chain(of_variable(variable)).chain(fixed).chain([multiarch]);
        Self::new(all.chain(listed(Path::new(LISTS))).chain([PathBuf::from(ASCEND)]))
    }

    /// These, each once.
    pub(super) fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut places = Self { directories: Vec::new() };
        for directory in directories {
            if !places.directories.contains(&directory) {
                places.directories.push(directory);
            }
        }
        places
    }

    /// All that is called `name` and is no directory.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let files = self.directories.iter().map(move |directory| directory.join(name));
        files.filter(|file| file.symlink_metadata().is_ok() && !file.is_dir())
    }

    /// The first of them.
    pub(super) fn first(&self, name: &str) -> Option<PathBuf> {
        self.all(name).next()
    }

    /// The directories, for people.
    pub(super) fn describe(&self) -> String {
        let names: Vec<String> = self.directories.iter().map(|place| place.display().to_string()).collect();
        if names.is_empty() { "no directory".to_owned() } else { names.join(", ") }
    }
}

/// The directories of `LD_LIBRARY_PATH`. A relative one depends on where the process happens to be, and is left out.
fn of_variable(value: &OsStr) -> Vec<PathBuf> {
    let items = value.as_bytes().split(|byte| matches!(byte, b':' | b';'));
    items.map(|item| PathBuf::from(OsStr::from_bytes(item))).filter(|path| path.is_absolute()).collect()
}

/// The directories that the `*.conf` files in `lists` name, in the files' order.
fn listed(lists: &Path) -> Vec<PathBuf> {
    let Ok(files) = std::fs::read_dir(lists) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension() == Some(OsStr::new("conf")) && file.is_file());
    files.sort();
    files.iter().flat_map(|file| directories(&beginning(file))).collect()
}

/// The directories among the lines of such a file.
fn directories(text: &str) -> Vec<PathBuf> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| line.starts_with('/')).map(PathBuf::from).collect()
}

/// As much of `file` as a list can be, and nothing if it cannot be read.
fn beginning(file: &Path) -> String {
    let mut text = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(MAX_LIST).read_to_end(&mut text));
    if read.is_err() {
        return String::new();
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_order_and_each_directory_counts_once() {
        let lists = tempfile::tempdir().unwrap();
        std::fs::write(lists.path().join("b.conf"), "/b # of b\n/a\n").unwrap();
        std::fs::write(
            lists.path().join("a.conf"),
            "# comment\n\n  /a\ninclude x/*.conf\nhwcap 0 nosegneg\n",
        )
        .unwrap();
        std::fs::write(lists.path().join("c.txt"), "/c\n").unwrap();
        std::fs::create_dir(lists.path().join("d.conf")).unwrap();
        let found = listed(lists.path());
        assert_eq!(found, ["/a", "/b", "/a"].map(PathBuf::from));
        assert_eq!(Places::new(found).describe(), "/a, /b");
        assert_eq!(listed(Path::new("/nothing/here")), Vec::<PathBuf>::new());
        assert_eq!(Places::new([]).describe(), "no directory");
    }

    #[test]
    fn relative_directories_of_the_variable_are_left_out() {
        assert_eq!(of_variable(OsStr::new("/x::lib;/y:.")), ["/x", "/y"].map(PathBuf::from));
    }

    #[test]
    fn providers_beside_the_library_come_first_and_the_driver_package_last() {
        let text = Places::of_host(Some(Path::new("/opt/rdma/libibverbs.so.1")), false).describe();
        assert!(text.starts_with("/opt/rdma/libibverbs, "), "{text}");
        assert!(text.contains(", /usr/local/lib64, /usr/lib64, /usr/local/lib, /usr/lib"), "{text}");
        assert!(text.ends_with(", /usr/local/Ascend/driver/lib64/driver"), "{text}");
        assert!(!Places::of_host(None, false).describe().contains("/opt/rdma"));
    }

    #[test]
    fn who_has_more_rights_than_the_caller_looks_only_where_nobody_told() {
        let fixed = Places::beside(None, OsStr::new("")).describe();
        assert_eq!(Places::of_host(None, true).describe(), fixed);
        assert_eq!(Places::beside(None, OsStr::new("/x")).describe(), format!("/x, {fixed}"));
    }

    #[test]
    fn directories_are_no_files_and_broken_links_are_something() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(one.path().join("libx.so")).unwrap();
        std::os::unix::fs::symlink("/nothing/here", two.path().join("libx.so")).unwrap();
        let places = Places::new([one.path().into(), two.path().into()]);
        assert_eq!(places.first("libx.so"), Some(two.path().join("libx.so")));
        assert_eq!(places.first("liby.so"), None);
    }
}
