//! What to type instead of an entry: it keeps the others, and is taken.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use super::super::instead::Instead;
use super::{PlugInError, assert_says, look, only};

/// What to type against the entry `at` of `value`.
fn remedy(value: &str, at: usize) -> String {
    look(value, Path::new("/nothing/here")).entries[at].outcome.as_ref().unwrap_err().remedy()
}

/// What a shell has in the variable after it ran `command`.
fn after(command: &str) -> String {
    let command = format!("{command}; printf %s \"${{IBV_EXTEND_DRIVERS-none}}\"");
    let ran = Command::new("sh").args(["-c", &command]).env_remove("IBV_EXTEND_DRIVERS").output().unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_other_entries_stay_as_they_are() {
    let full = std::env::current_dir().unwrap().join("lib/b.so");
    for (value, at, left) in [
        (" /a.so:/b.so", 0, "/a.so:/b.so".to_owned()),
        ("/a b.so;/c.so :it's;d", 1, "/a b.so;/c.so:it's;d".to_owned()),
        ("/a.so:lib/b.so;c", 1, format!("/a.so:{};c", full.display())),
        ("a:/nothing/../b.so;'c", 1, "a:/b.so;'c".to_owned()),
        ("a:/nothing/../b.so", 1, "a:/b.so".to_owned()),
        ("a:\"/b.so\";c", 1, "a:/b.so;c".to_owned()),
        // What is nothing goes.
        ("a: ;b", 1, "a:b".to_owned()),
        (" ;:b", 0, "b".to_owned()),
        ("a;''", 1, "a".to_owned()),
        (":\"\";", 0, "none".to_owned()),
    ] {
        assert_eq!(after(&remedy(value, at)), left, "{value}");
    }
    assert_eq!(remedy("a;/x/../b.so:c", 1), "export IBV_EXTEND_DRIVERS='a;'\"$(realpath -m /x/../b.so)\":c");
    let long = format!("a:/{}/libx.so:b", "d".repeat(120));
    assert!(remedy(&long, 1).ends_with("/libx.so && export IBV_EXTEND_DRIVERS=a:/usr/local/lib/libx.so:b"));
}

#[test]
fn a_file_that_is_elsewhere_takes_the_place_of_the_entry() {
    let there = tempdir().unwrap();
    let file = there.path().join("libx.so");
    fs::write(&file, "").unwrap();
    let expected = format!("export IBV_EXTEND_DRIVERS=a:{}:b", file.display());
    for entry in ["libx.so", "/nothing/at/all/libx.so"] {
        let plug_ins = look(format!("a:{entry}:b"), there.path());
        assert_eq!(plug_ins.entries[1].outcome.as_ref().unwrap_err().remedy(), expected);
    }
}

#[test]
fn dots_within_a_name_need_a_link() {
    let full = std::env::current_dir().unwrap().join("x/b....so");
    for (entry, remedy) in [
        (
            "/opt/foo..so",
            "ln -s /opt/foo..so /usr/local/lib/foo.so && export IBV_EXTEND_DRIVERS=/usr/local/lib/foo.so"
                .into(),
        ),
        (
            "/opt/a..b/../libx.so",
            "ln -s /opt/a..b/../libx.so /usr/local/lib/libx.so && \
             export IBV_EXTEND_DRIVERS=/usr/local/lib/libx.so"
                .into(),
        ),
        (
            "x/b....so",
            format!(
                "ln -s {} /usr/local/lib/b.so && export IBV_EXTEND_DRIVERS=/usr/local/lib/b.so",
                full.display()
            ),
        ),
        // Nobody knows where it is.
        ("libfoo..so", "find / -name libfoo..so 2>/dev/null".into()),
    ] {
        let error = only(look(entry, Path::new("/nothing/here"))).unwrap_err();
        assert!(matches!(error, PlugInError::DotDot { steps: false, .. }), "{error}");
        assert_eq!(error.remedy(), remedy);
    }
}

#[test]
fn a_full_path_that_is_not_allowed_gets_a_link_too() {
    let full = Instead::new("/opt/a..b/lib/libx.so");
    let error = PlugInError::Relative { entry: "lib/libx.so".to_owned(), full };
    assert_eq!(
        error.remedy(),
        "ln -s /opt/a..b/lib/libx.so /usr/local/lib/libx.so && export IBV_EXTEND_DRIVERS=/usr/local/lib/libx.so"
    );
}

#[test]
fn quotes_are_told_as_such() {
    let wrong = |entry: &str| only(look(entry, Path::new("/nothing/here"))).unwrap_err();
    assert_says(
        &wrong("\"/opt/x.so\""),
        "the entry \"\\\"/opt/x.so\\\"\" of IBV_EXTEND_DRIVERS begins or ends with a quote, which only a shell takes away; \
         write it without",
        "export IBV_EXTEND_DRIVERS=/opt/x.so",
    );
    for entry in ["'xscale_nda'", "/opt/x.so'", "\"lib/x.so", "' '"] {
        let error = wrong(entry);
        assert!(matches!(error, PlugInError::Quoted { .. }), "{entry}: {error}");
    }
    // A file may be called so.
    let here = tempdir().unwrap();
    let file = here.path().join("it's'");
    fs::write(&file, "").unwrap();
    let error = only(look(&file, here.path())).unwrap_err();
    assert!(matches!(error, PlugInError::NotElf { .. }), "{error}");
}

#[test]
fn what_a_shell_replaces_is_replaced_in_the_remedy() {
    let wrong = |entry: &str| only(look(entry, Path::new("/nothing/here"))).unwrap_err();
    let not_here = "which only a shell expands, and that only outside of quotes; write the full path";
    // Not all that run tests have it.
    if let Some(home) = std::env::var("HOME").ok().filter(|home| home.starts_with('/') && home.len() > 1) {
        for (entry, what) in
            [("~/lib/x.so", "~"), ("$HOME/lib/x.so", "$HOME"), ("${HOME}/lib/x.so", "${HOME}")]
        {
            assert_says(
                &wrong(entry),
                &format!(
                    "the entry {entry:?} of IBV_EXTEND_DRIVERS has {what:?} in it, {not_here}, which is {home}/lib/x.so"
                ),
                &Instead::new(format!("{home}/lib/x.so")).export(),
            );
        }
        let remedy = wrong("\"$HOME/x.so\"").remedy();
        assert_eq!(remedy, Instead::new(format!("{home}/x.so")).export());
    }
    for (entry, what, remedy) in [
        ("/opt/${NOBODY_HAS_THIS}/x.so", "${NOBODY_HAS_THIS}", "printenv NOBODY_HAS_THIS"),
        ("~somebody/x.so", "~somebody", "getent passwd somebody"),
        ("$NOBODY_HAS_THIS", "$NOBODY_HAS_THIS", "printenv NOBODY_HAS_THIS"),
    ] {
        let text = format!(
            "the entry {entry:?} of IBV_EXTEND_DRIVERS has {what:?} in it, {not_here} (what it stands for is not known here)"
        );
        assert_says(&wrong(entry), &text, remedy);
    }
}
