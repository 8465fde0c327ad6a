//! The rules for the entries of the variable.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use tempfile::tempdir;

use super::super::rules;
use super::{Places, PlugInError, PlugIns, assert_says, look, only};

#[test]
fn a_variable_that_is_not_set_or_empty_names_nothing() {
    for value in [None, Some(OsStr::new(""))] {
        let plug_ins = PlugIns::read(value, true, None, &Places::new([]));
        assert_eq!((plug_ins.value, plug_ins.ignored, plug_ins.entries.len()), (None, false, 0));
    }
}

#[test]
fn another_users_rights_make_the_variable_ignored() {
    let plug_ins = PlugIns::read(Some(OsStr::new("/x/liba.so")), true, None, &Places::new([]));
    assert_eq!(plug_ins.value.as_deref(), Some("/x/liba.so"));
    assert!(plug_ins.ignored && plug_ins.entries.is_empty());
}

#[test]
fn both_separators_count_and_empty_entries_do_not() {
    let entries = |value| rules::entries(OsStr::new(value)).map(|listed| listed.entry).collect::<Vec<_>>();
    assert_eq!(entries(":a;b::;/c/d.so:"), ["a", "b", "/c/d.so"]);
    assert_eq!(entries(";:;"), [""; 0]);
}

#[test]
fn separators_alone_are_an_error_of_their_own() {
    for value in [":", ";", ":;:"] {
        let plug_ins = look(value, tempdir().unwrap().path());
        assert_eq!((plug_ins.value.as_deref(), plug_ins.entries[0].text.as_str()), (Some(value), value));
        assert_says(
            &only(plug_ins).unwrap_err(),
            &format!(
                "IBV_EXTEND_DRIVERS is set, to {value:?}, but names nothing; unset it, or name a plug-in"
            ),
            "unset IBV_EXTEND_DRIVERS",
        );
    }
}

#[test]
fn entries_keep_their_order_and_text_even_if_they_are_no_text() {
    let plug_ins = look(OsStr::from_bytes(b"b..c:\xff"), tempdir().unwrap().path());
    let texts: Vec<&str> = plug_ins.entries.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(texts, ["b..c", "\u{fffd}"]);
    assert!(matches!(plug_ins.entries[1].outcome, Err(PlugInError::BadCharacters { .. })));
}

#[test]
fn an_entry_has_at_most_128_characters() {
    let here = tempdir().unwrap();
    // Those of 128 are taken, so that it is the file that is missing.
    let path = format!("/{}.so", "x".repeat(124));
    assert_eq!(path.len(), 128);
    assert!(matches!(only(look(&path, here.path())), Err(PlugInError::NoSuchFile { .. })));
    assert!(matches!(only(look("x".repeat(128), here.path())), Err(PlugInError::NotFound { .. })));

    let path = format!("/{}/libx.so", "d".repeat(120));
    assert_eq!(path.len(), 129);
    let text = format!(
        "the entry {path:?} of IBV_EXTEND_DRIVERS has 129 characters, but only 128 are allowed; use a shorter path, for \
         example a link to the file. Entries are separated by `:` or `;`"
    );
    let remedy =
        format!("ln -s {path} /usr/local/lib/libx.so && export IBV_EXTEND_DRIVERS=/usr/local/lib/libx.so");
    assert_says(&only(look(&path, here.path())).unwrap_err(), &text, &remedy);

    let error = only(look("x".repeat(129), here.path())).unwrap_err();
    assert!(matches!(error, PlugInError::TooLong { has: 129, limit: 128, .. }), "{error}");
    assert_eq!(error.remedy(), "echo \"$IBV_EXTEND_DRIVERS\" | tr ':;' '\\n\\n'");
    // Nobody wants to see all of a value in which the separators are wrong.
    let text = only(look("x,".repeat(5000), here.path())).unwrap_err().to_string();
    let start = format!("the entry {:?}... of IBV_EXTEND_DRIVERS has 10000 characters", "x,".repeat(100));
    assert!(text.starts_with(&start), "{text}");
    // A link with a name that is too long itself is no help.
    let error = only(look(format!("/{}", "x".repeat(128)), here.path())).unwrap_err();
    assert_eq!(error.remedy(), "echo \"$IBV_EXTEND_DRIVERS\" | tr ':;' '\\n\\n'");
}

#[test]
fn two_dots_are_nowhere() {
    assert_says(
        &only(look("/opt/../lib x/liba.so", tempdir().unwrap().path())).unwrap_err(),
        "the entry \"/opt/../lib x/liba.so\" of IBV_EXTEND_DRIVERS has \"..\" in it, which is not allowed anywhere; write a \
         path without it",
        "export IBV_EXTEND_DRIVERS=\"$(realpath -m '/opt/../lib x/liba.so')\"",
    );
    for entry in ["../liba.so", "a..b", "/a..so", ".."] {
        let error = only(look(entry, tempdir().unwrap().path())).unwrap_err();
        assert!(matches!(error, PlugInError::DotDot { .. }), "{entry}: {error}");
    }
}

#[test]
fn a_relative_path_is_told_in_full() {
    let full = std::env::current_dir().unwrap().join("lib/libxscale_nda.so");
    let full = full.to_str().unwrap();
    assert_says(
        &only(look("lib/libxscale_nda.so", tempdir().unwrap().path())).unwrap_err(),
        &format!(
            "the entry \"lib/libxscale_nda.so\" of IBV_EXTEND_DRIVERS is a relative path; only a full path, which begins \
             with \"/\", or a bare name without \"/\" is allowed. From here the full path is {full}"
        ),
        &format!("export IBV_EXTEND_DRIVERS={full}"),
    );
}

#[test]
fn a_files_name_gets_its_hint() {
    let here = tempdir().unwrap();
    assert_says(
        &only(look("libxscale_nda.so", here.path())).unwrap_err(),
        "the entry \"libxscale_nda.so\" of IBV_EXTEND_DRIVERS is the name of a file without its directory, and a bare name \
         has no dots; write the full path, like /usr/lib64/libxscale_nda.so, or the bare name xscale_nda",
        "find / -name libxscale_nda.so 2>/dev/null",
    );
    let file = here.path().join("libxscale_nda.so");
    fs::write(&file, "").unwrap();
    let error = only(look("libxscale_nda.so", here.path())).unwrap_err();
    assert_eq!(error.remedy(), format!("export IBV_EXTEND_DRIVERS={}", file.display()));
    // No bare name means these.
    for entry in ["libhrn5.so.1", "xscale_nda.so", "lib.so"] {
        let error = only(look(entry, here.path())).unwrap_err();
        assert!(matches!(error, PlugInError::FileName { stem: None, .. }), "{error}");
        assert!(error.to_string().ends_with(&format!("like /usr/lib64/{entry}")), "{error}");
    }
}

#[test]
fn other_characters_are_shown() {
    let here = tempdir().unwrap();
    assert_says(
        &only(look("liba.so,  libb.so", here.path())).unwrap_err(),
        "the entry \"liba.so,  libb.so\" of IBV_EXTEND_DRIVERS has \"., .\" in it; a bare name consists of letters, digits, \
         \"_\" and \"-\" only. Write the full path of the file. Entries are separated by `:` or `;`",
        "echo \"$IBV_EXTEND_DRIVERS\" | tr ':;' '\\n\\n'",
    );
    for entry in ["gr\u{fc}n", "xscale.nda", "a+b", "a b"] {
        let error = only(look(entry, here.path())).unwrap_err();
        assert!(matches!(error, PlugInError::BadCharacters { .. }), "{entry}: {error}");
    }
}

#[test]
fn a_blank_around_an_entry_is_told_as_such() {
    let here = tempdir().unwrap();
    for (entry, remedy) in [
        (" /opt/libhrn5-rdmav34.so", "export IBV_EXTEND_DRIVERS=/opt/libhrn5-rdmav34.so"),
        ("xscale_nda\n", "export IBV_EXTEND_DRIVERS=xscale_nda"),
        (" ", "unset IBV_EXTEND_DRIVERS"),
    ] {
        assert_says(
            &only(look(entry, here.path())).unwrap_err(),
            &format!(
                "the entry {entry:?} of IBV_EXTEND_DRIVERS begins or ends with a blank; write it without. Entries are separated by \
                 `:` or `;` alone"
            ),
            remedy,
        );
    }
}

#[test]
fn a_bare_name_without_a_file_says_where_was_looked() {
    let here = tempdir().unwrap();
    // A directory of the name is none.
    fs::create_dir(here.path().join("libxscale_nda.so")).unwrap();
    assert_says(
        &only(look("xscale_nda", here.path())).unwrap_err(),
        &format!(
            "IBV_EXTEND_DRIVERS names xscale_nda, that is libxscale_nda.so, which is in none of the usual directories \
             (looked in {}); write its full path, or install the NIC's driver package",
            here.path().display()
        ),
        "find / -name libxscale_nda.so 2>/dev/null",
    );
}
