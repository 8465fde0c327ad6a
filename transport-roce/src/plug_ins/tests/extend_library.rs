//! Which library of extend plug-ins is taken, and what is said if none can be.

use std::os::unix::fs::symlink;

use super::super::{PlugInError, PlugIns};
use super::objects::{EXTEND, EXTENDED, Objects};
use super::{Places, assert_says, load, look, only};
use crate::abi::ask;

#[test]
fn what_cannot_be_used_is_passed_over() {
    let (other, objects) = (Objects::new(), Objects::new());
    let library = objects.libibverbs("libverbs-of-passing.so.1", 34);
    let file = objects.build("libpassing_nda.so", EXTEND, &[]);
    let read = || {
        let places = Places::new([other.path().to_owned(), objects.path().to_owned()]);
        only(PlugIns::read(Some(file.as_os_str()), false, Some(&library), &places))
    };
    // What a development package and an update that was not finished leave behind.
    std::fs::write(other.path().join("libibv_extend.so"), "INPUT(libibv_extend.so.4)").unwrap();
    symlink("/nothing/at/all.so.4", objects.path().join("libibv_extend.so")).unwrap();
    std::fs::write(other.path().join("libibv_extend.so.4"), "").unwrap();
    let error = read().unwrap_err();
    let PlugInError::ExtendLibrary { cause, .. } = &error else { panic!("{error}") };
    assert!(cause.to_string().contains("it is text (\"INPUT"), "{cause}");

    // One that the loader refuses is not the last word either.
    let source = "int nobody_has_this(void); int f(void) { return nobody_has_this(); }";
    objects.build("refused.so", source, &["-Wl,-soname,libextend-of-refusal.so.4"]);
    std::fs::remove_file(other.path().join("libibv_extend.so.4")).unwrap();
    std::fs::rename(objects.path().join("refused.so"), other.path().join("libibv_extend.so.4")).unwrap();

    let good = objects.path().join("libibv_extend.so.4");
    let source = format!("int verbs_register_driver_extend(const void *ops) {{ return {EXTENDED}; }}");
    objects.build("libibv_extend.so.4", &source, &["-Wl,-soname,libextend-of-passing.so.4"]);
    assert_eq!(read().unwrap().extend_library, Some(good));
    assert_eq!(ask(&file, "extended"), Some(EXTENDED));
}

#[test]
fn a_link_that_leads_to_nothing_is_not_what_the_variable_names() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-dangling.so.1", 34);
    let file = objects.build("libdangling_nda.so", EXTEND, &[]);
    let link = objects.path().join("libibv_extend.so");
    symlink("libibv_extend.so.4", &link).unwrap();
    let words = |link: &std::path::Path, to: &str| {
        format!(
            "{} is a link to {to}, which does not exist; install its package again, or remove the link",
            link.display()
        )
    };
    assert_says(
        &only(load(&file, objects.path(), &library)).unwrap_err(),
        &format!(
            "{} is an extend plug-in, and the library that it needs cannot be used: {}",
            file.display(),
            words(&link, "libibv_extend.so.4")
        ),
        "find / -name 'libibv_extend.so*' 2>/dev/null",
    );
    // So it is with what a bare name means.
    let link = objects.path().join("libnowhere_nda.so");
    symlink("/nothing/at/all.so", &link).unwrap();
    assert_says(
        &only(look("nowhere_nda", objects.path())).unwrap_err(),
        &words(&link, "/nothing/at/all.so"),
        "find / -name 'libnowhere_nda.so*' 2>/dev/null",
    );
}

#[test]
fn an_extend_plug_in_without_its_library_says_where_was_looked() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-alone.so.1", 34);
    let file = objects.build("libalone_nda.so", EXTEND, &[]);
    for plug_ins in [load(&file, objects.path(), &library), look(&file, objects.path())] {
        assert_says(
            &only(plug_ins).unwrap_err(),
            &format!(
                "{} is an extend plug-in, which needs libibv_extend.so, but there is none (looked in {}). Install the \
                 Ascend driver package, or add its directory to LD_LIBRARY_PATH",
                file.display(),
                objects.path().display()
            ),
            "find / -name 'libibv_extend.so*' 2>/dev/null",
        );
    }
}

#[test]
fn an_extend_library_that_cannot_be_used_is_the_plug_ins_error() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-of-bad.so.1", 34);
    let file = objects.build("libbad_nda.so", EXTEND, &[]);
    let extend = objects.path().join("libibv_extend.so.4");
    std::fs::write(&extend, "").unwrap();
    assert_says(
        &only(load(&file, objects.path(), &library)).unwrap_err(),
        &format!(
            "{} is an extend plug-in, and the library that it needs cannot be used: {} is no shared object: it is empty. \
             Take the file from the NIC's driver package",
            file.display(),
            extend.display()
        ),
        &format!("file -L {}", extend.display()),
    );
}
