//! Shared objects that tests build, with the compiler that links Rust programs too.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What an ordinary provider with the ABI `NN` does, as C.
pub(super) const PROVIDER: &str = "
    void verbs_register_driver_NN(const void *ops);
    __attribute__((constructor)) static void start(void) { verbs_register_driver_NN(0); }";
/// What an extend plug-in does. `int extended(void)` says what the library of our tests answered to it.
pub(super) const EXTEND: &str = "
    int verbs_register_driver_extend(const void *ops);
    static int answer;
    int extended(void) { return answer; }
    __attribute__((constructor)) static void begin(void) { answer = verbs_register_driver_extend(0); }";
/// That answer.
pub(super) const EXTENDED: c_int = 42;
/// What does nothing at all.
pub(super) const NOTHING: &str = "int nothing(void) { return 7; }";

/// A directory of objects.
pub(super) struct Objects {
    directory: TempDir,
}

impl Objects {
    pub(super) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Builds the shared object `name` from C, linked to the objects `linked` in the same directory.
    pub(super) fn build(&self, name: &str, source: &str, linked: &[&str]) -> PathBuf {
        self.build_with(name, source, &[&["-shared"], linked].concat())
    }

    /// Builds it with these arguments for the compiler. It looks for what it needs in its own directory.
    pub(super) fn build_with(&self, name: &str, source: &str, arguments: &[&str]) -> PathBuf {
        let code = format!("{name}.c");
        std::fs::write(self.path().join(&code), source).unwrap();
        let mut command = Command::new("cc");
        // Without a C library of its own, so that nothing else is needed to build and load it.
        command.args(["-fPIC", "-nostdlib", "-Wl,-rpath,$ORIGIN", "-o", name, &code]).args(arguments);
        let built = command.current_dir(self.path()).output();
        let built =
            built.unwrap_or_else(|error| panic!("cc, which links Rust programs, does not run: {error}"));
        assert!(built.status.success(), "{command:?}: {}", String::from_utf8_lossy(&built.stderr));
        self.path().join(name)
    }

    /// Builds the providers' side of libibverbs with this ABI, in a file and under a soname that no other test has.
    /// `int registered(void)` says how many providers it got.
    pub(super) fn libibverbs(&self, name: &str, abi: u32) -> PathBuf {
        let source = numbered(
            "static int count;
             void verbs_register_driver_NN(const void *ops) { count++; }
             int registered(void) { return count; }",
            abi,
        );
        let script = numbered(
            "IBVERBS_1.0 { global: registered; local: *; };
             IBVERBS_PRIVATE_NN { global: verbs_register_driver_NN; };",
            abi,
        );
        self.versioned(name, &source, &script)
    }

    /// Builds `name` with its own name as the soname, and the versions of `script`.
    pub(super) fn versioned(&self, name: &str, source: &str, script: &str) -> PathBuf {
        std::fs::write(self.path().join(format!("{name}.map")), script).unwrap();
        let (soname, script) = (format!("-Wl,-soname,{name}"), format!("-Wl,--version-script={name}.map"));
        self.build(name, source, &[&soname, &script])
    }

    /// Builds the library of extend plug-ins. As it is open for all, a plug-in may find that of another test, and so all
    /// of them answer the same.
    pub(super) fn libibv_extend(&self, soname: &str) -> PathBuf {
        let source = format!("int verbs_register_driver_extend(const void *ops) {{ return {EXTENDED}; }}");
        self.build("libibv_extend.so", &source, &[&format!("-Wl,-soname,{soname}")])
    }
}

/// `source` with the number `abi` for `NN`.
pub(super) fn numbered(source: &str, abi: u32) -> String {
    source.replace("NN", &abi.to_string())
}
