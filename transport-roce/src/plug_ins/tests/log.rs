//! What is left to go by if a plug-in ends the process.

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::objects::Objects;
use super::{load, only};

/// Tells the process that runs the test again which file it is to load.
const FILE: &str = "TEST_OF_PLUG_INS_THAT_CRASHES";

/// Writes each event to standard error at once.
struct ToStderr;

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{value:?}").unwrap();
    }
}

impl Subscriber for ToStderr {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        writeln!(std::io::stderr(), "{} {}", event.metadata().level(), message.0).unwrap();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn the_file_that_ends_the_process_was_logged_before() {
    if let Some(file) = std::env::var_os(FILE) {
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
        let nothing = Path::new("/nothing/here");
        let loaded = tracing::subscriber::with_default(ToStderr, || only(load(file, nothing, nothing)));
        panic!("it went on: {loaded:?}");
    }
    let objects = Objects::new();
    let source = "__attribute__((constructor)) static void start(void) { __builtin_trap(); }";
    let file = objects.build("libcrashes.so", source, &[]);
    let (_, module) = module_path!().split_once("::").unwrap();
    let test = format!("{module}::the_file_that_ends_the_process_was_logged_before");
    let mut again = Command::new(std::env::current_exe().unwrap());
    let ran = again.args([&test, "--exact"]).env(FILE, &file).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.signal().is_some(), "{}: {text}", ran.status);
    let expected = format!("INFO IBV_EXTEND_DRIVERS: loading {}", file.display());
    assert_eq!(text.lines().next(), Some(expected.as_str()), "{text}");
}
