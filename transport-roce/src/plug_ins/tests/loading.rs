//! What is loaded, as what, and what the loader refuses.
//!
//! All tests share one process, and the real libibverbs may be loaded in it. A provider is therefore for an ABI that only
//! its own test has: it must find no other library to register itself in.

use super::super::{PlugInError, library_abi};
use super::objects::{EXTEND, EXTENDED, NOTHING, Objects, PROVIDER, numbered};
use super::{assert_says, load, look, only};
use crate::abi::{Visibility, ask, open_for_ever};

#[test]
fn a_provider_registers_itself_in_the_loaded_library() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-provider.so.1", 934);
    let file = objects.build("libhrn5-rdmav934.so", &numbered(PROVIDER, 934), &["libverbs-of-provider.so.1"]);
    open_for_ever(&library, Visibility::Global).unwrap();

    let plug_in = only(load("hrn5-rdmav934", objects.path(), &library)).unwrap();
    assert_eq!((&plug_in.path, plug_in.provider_abi, plug_in.extends), (&file, Some(934), false));
    assert_eq!(plug_in.extend_library, None);
    assert_eq!(plug_in.to_string(), format!("{}, a provider (ABI 934)", file.display()));
    assert_eq!(ask(&library, "registered"), Some(1));
}

#[test]
fn without_libibverbs_files_are_only_looked_at() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-nobody.so.1", 34);
    // The number of the library that is not there is not known, and so no number is wrong.
    let provider = &numbered(PROVIDER, 34);
    let file = objects.build("liba-rdmav57.so", provider, &["libverbs-of-nobody.so.1"]);
    let plug_in = only(look(&file, objects.path())).unwrap();
    assert_eq!((plug_in.provider_abi, plug_in.extends), (Some(34), false));
    assert_eq!(ask(&library, "registered"), Some(0));
}

#[test]
fn an_extend_plug_in_finds_its_library() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-extend.so.1", 34);
    let extend = objects.libibv_extend("libextend-of-one.so.4");
    // It is not linked to the library, so that it finds it only if that is open for all.
    let file = objects.build("libxscale_nda.so", EXTEND, &[]);
    let plug_in = only(load(&file, objects.path(), &library)).unwrap();
    assert_eq!((plug_in.provider_abi, plug_in.extends), (None, true));
    assert_eq!(plug_in.extend_library, Some(extend.clone()));
    let text = format!("{}, an extend plug-in with {}", file.display(), extend.display());
    assert_eq!(plug_in.to_string(), text);
    assert_eq!(ask(&file, "extended"), Some(EXTENDED));
}

#[test]
fn a_file_may_be_both_and_is_loaded_once() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-both.so.1", 959);
    let extend = objects.libibv_extend("libextend-of-both.so.4");
    let linked = ["libverbs-of-both.so.1", "libibv_extend.so"];
    let file = objects.build("libboth-rdmav959.so", &numbered(&[PROVIDER, EXTEND].concat(), 959), &linked);
    let link = objects.path().join("liblink.so");
    std::os::unix::fs::symlink(&file, &link).unwrap();

    let value = format!("{};both-rdmav959:{}:nobody", file.display(), link.display());
    let plug_ins = load(value, objects.path(), &library);
    let plug_in = plug_ins.entries[0].outcome.as_ref().unwrap();
    assert_eq!((plug_in.provider_abi, plug_in.extends), (Some(959), true));
    let text =
        format!("{}, a provider (ABI 959) and extend plug-in with {}", file.display(), extend.display());
    assert_eq!(plug_in.to_string(), text);
    assert_eq!((ask(&library, "registered"), ask(&file, "extended")), (Some(1), Some(EXTENDED)));
    assert_eq!(plug_ins.usable().len(), 1);
    let repeated: Vec<&str> = plug_ins.repeated().iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(repeated, ["both-rdmav959", link.to_str().unwrap()]);
    assert!(matches!(plug_ins.entries[3].outcome, Err(PlugInError::NotFound { .. })));
}

#[test]
fn what_registers_itself_in_no_known_way_is_loaded_too() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-nothing.so.1", 34);
    let source = "static int ran;
        __attribute__((constructor)) static void start(void) { ran = 1; }
        int did_run(void) { return ran; }";
    let file = objects.build("libnothing.so", source, &[]);
    let plug_in = only(load(&file, objects.path(), &library)).unwrap();
    assert_eq!((plug_in.provider_abi, plug_in.extends), (None, false));
    let text =
        format!("{}, which registers itself neither as provider nor as extend plug-in", file.display());
    assert_eq!(plug_in.to_string(), text);
    assert_eq!(ask(&file, "did_run"), Some(1));
}

#[test]
fn a_missing_dependency_of_a_dependency_is_named() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-missing.so.1", 34);
    let far = objects.build("libfar-dependency.so", NOTHING, &[]);
    let uses = "int nothing(void); int near(void) { return nothing(); }";
    objects.build("libnear-dependency.so", uses, &["libfar-dependency.so"]);
    let file = objects.build(
        "libneedy.so",
        "int near(void); int needy(void) { return near(); }",
        &["libnear-dependency.so", "-Wl,--allow-shlib-undefined"],
    );
    std::fs::remove_file(far).unwrap();
    assert_says(
        &only(load("needy", objects.path(), &library)).unwrap_err(),
        &format!(
            "{} cannot be loaded: libfar-dependency.so, which it or a library of its own needs, cannot be opened (No such \
             file or directory). Install what has it, or add its directory to LD_LIBRARY_PATH",
            file.display()
        ),
        &format!("ldd {}", file.display()),
    );
}

#[test]
fn what_the_loader_refuses_otherwise_is_in_its_words() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-refused.so.1", 34);
    let source = "int nobody_has_this(void); int f(void) { return nobody_has_this(); }";
    let file = objects.build("librefused.so", source, &[]);
    let path = file.display();
    assert_says(
        &only(load(&file, objects.path(), &library)).unwrap_err(),
        &format!(
            "{path} cannot be loaded; the loader says: {path}: undefined symbol: nobody_has_this. Does it fit the libraries \
             of this host?"
        ),
        &format!("ldd -r {path}"),
    );
    let said = "liba.so: failed to map segment from shared object".to_owned();
    let error = PlugInError::Refused { file: "/mnt/a b/liba.so".to_owned(), said };
    assert_eq!(error.remedy(), "findmnt -T '/mnt/a b/liba.so'");
}

#[test]
fn a_bare_name_goes_past_files_that_cannot_be_loaded() {
    let (other, objects) = (Objects::new(), Objects::new());
    std::fs::write(other.path().join("libpast.so"), "INPUT(-lpast)").unwrap();
    let places = || super::Places::new([other.path().to_owned(), objects.path().to_owned()]);
    let read = || super::PlugIns::read(Some("past".as_ref()), false, None, &places());
    // If there is no other, the first one says why.
    assert!(matches!(only(read()), Err(PlugInError::NotElf { .. })));
    let file = objects.build("libpast.so", NOTHING, &[]);
    assert_eq!(only(read()).unwrap().path, file);
}

#[test]
fn the_installed_library_tells_its_number() {
    let objects = Objects::new();
    assert_eq!(library_abi(&objects.libibverbs("libverbs-57.so.1", 57)), Some(57));
    assert_eq!(library_abi(&objects.build("libnone.so", NOTHING, &[])), None);
    assert_eq!(library_abi(objects.path()), None);
    assert_eq!(library_abi(&objects.path().join("nothing")), None);
}
