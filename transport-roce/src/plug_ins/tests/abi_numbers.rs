//! Providers for other releases of libibverbs.

use super::super::{AbiNumbers, PlugInError};
use super::objects::{NOTHING, Objects, PROVIDER, numbered};
use super::{assert_says, load, only};

#[test]
fn name_and_symbols_are_told_apart() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-34.so.1", 34);
    objects.libibverbs("libverbs-57.so.1", 57);
    let build = |name: &str, abi: u32| {
        objects.build(name, &numbered(PROVIDER, abi), &[&format!("libverbs-{abi}.so.1")])
    };
    let wrong = |file: &std::path::Path| only(load(file, objects.path(), &library)).unwrap_err();
    let text = |file: &std::path::Path, seen: &str| {
        format!(
            "{} is for libibverbs with the private ABI 57, but the installed one ({}) has 34: {seen}. Install the NIC's \
             driver package that fits the installed libibverbs, or the libibverbs that came with the package",
            file.display(),
            library.display()
        )
    };

    let both = build("libboth-rdmav57.so", 57);
    let seen = "its name ends in -rdmav57.so and it needs symbols of the version IBVERBS_PRIVATE_57";
    assert_says(&wrong(&both), &text(&both, seen), "find / -name libboth-rdmav34.so 2>/dev/null");

    let name_only = build("libname-rdmav57.so", 34);
    let seen = "its name ends in -rdmav57.so, while it needs symbols of the version IBVERBS_PRIVATE_34";
    assert_says(&wrong(&name_only), &text(&name_only, seen), "find / -name libname-rdmav34.so 2>/dev/null");

    let symbols_only = build("libsymbols-rdmav34.so", 57);
    let seen = "its name ends in -rdmav34.so, while it needs symbols of the version IBVERBS_PRIVATE_57";
    assert_says(
        &wrong(&symbols_only),
        &text(&symbols_only, seen),
        "find / -name 'libibverbs.so.1*' 2>/dev/null",
    );

    let no_name = build("libsymbols.so", 57);
    let seen = "it needs symbols of the version IBVERBS_PRIVATE_57";
    assert_says(&wrong(&no_name), &text(&no_name, seen), "find / -name 'libibverbs.so.1*' 2>/dev/null");

    let no_symbols = objects.build("libnothing-rdmav57.so", NOTHING, &[]);
    let seen = "its name ends in -rdmav57.so";
    assert_says(
        &wrong(&no_symbols),
        &text(&no_symbols, seen),
        "find / -name libnothing-rdmav34.so 2>/dev/null",
    );
}

#[test]
fn a_provider_that_was_linked_without_versions_tells_its_number_by_the_functions_name() {
    let objects = Objects::new();
    let library = objects.libibverbs("libverbs-versions.so.1", 34);
    let file = objects.build("libcareless.so", &numbered(PROVIDER, 59), &[]);
    let error = only(load(&file, objects.path(), &library)).unwrap_err();
    let expected = AbiNumbers { suffix: None, symbols: Some(59) };
    assert!(
        matches!(error, PlugInError::OtherAbi { numbers, library: 34, .. } if numbers == expected),
        "{error}"
    );
}

#[test]
fn a_library_that_tells_no_number_is_left_to_the_loader() {
    let objects = Objects::new();
    let library = objects.build("libverbs-silent.so.1", NOTHING, &[]);
    let file = objects.build("libany-rdmav57.so", NOTHING, &[]);
    assert_eq!(only(load(&file, objects.path(), &library)).unwrap().path, file);
}
