//! Every outcome, with its text.

use std::path::Path;

use super::*;
use crate::plug_ins::{PlugIn, PlugInError};

const XSCALE: NicKind = NicKind::LIKE_XSCALE;

fn plug_in(path: &str, provider_abi: Option<u32>, extends: bool) -> Entry {
    let plug_in = PlugIn { path: path.into(), provider_abi, extends, extend_library: None };
    Entry { text: path.to_owned(), outcome: Ok(plug_in) }
}

fn absent() -> PlugInError {
    PlugInError::NoSuchFile { file: "/nowhere/libxscale_nda.so".into(), link: None, found: None }
}

fn failing(text: &str) -> Entry {
    Entry { text: text.to_owned(), outcome: Err(absent()) }
}

fn plug_ins(entries: Vec<Entry>) -> PlugIns {
    let value = (!entries.is_empty()).then(|| "set".to_owned());
    PlugIns { value, ignored: false, entries }
}

/// `listed` have a provider, `kernel` are there beside them.
fn drivers(listed: &[&str], kernel: &[&str]) -> Drivers {
    let provider = Some(Path::new("/usr/lib/libx-rdmav34.so").to_owned());
    Drivers {
        listed: listed.iter().map(|name| ((*name).to_owned(), provider.clone())).collect(),
        kernel: listed.iter().chain(kernel).map(|name| (*name).to_owned()).collect(),
    }
}

#[track_caller]
fn refused(entries: Vec<Entry>, drivers: &Drivers) -> String {
    let error = check(&XSCALE, &plug_ins(entries), drivers).unwrap_err();
    assert!(!error.remedy().is_empty());
    error.to_string()
}

#[test]
fn a_device_with_a_provider_needs_no_variable() {
    assert_eq!(check(&XSCALE, &plug_ins(vec![]), &drivers(&["xscale_0"], &[])), Ok(()));
    // That there is none of the kind is for the choice to say.
    assert_eq!(check(&XSCALE, &plug_ins(vec![]), &drivers(&["rxe_0"], &["hrn5_0"])), Ok(()));
}

#[test]
fn without_the_variable_an_undriven_device_asks_for_it() {
    assert_eq!(
        refused(vec![], &drivers(&["rxe_0"], &["xscale_0", "xscale_1"])),
        "the kernel has xscale_0, xscale_1, but no provider of libibverbs drives it, and IBV_EXTEND_DRIVERS is not set. Set it to \
         the whole path of libxscale_nda.so, which the NIC's driver package brings, on every host and for every PE (a launcher may \
         not pass it on). It comes beside the ordinary provider, libxscale-rdmavNN.so, which must be installed as well: it drives \
         the device, the plug-in adds to it"
    );
}

#[test]
fn an_ignored_variable_says_why() {
    let ignored = PlugIns { value: Some("/opt/libxscale_nda.so".into()), ignored: true, entries: vec![] };
    let text = check(&XSCALE, &ignored, &drivers(&[], &["xscale_0"])).unwrap_err().to_string();
    assert!(text.contains("is ignored") && text.contains("setuid"), "{text}");
}

#[test]
fn the_other_nic_s_plug_in_is_told_even_where_it_works() {
    for entry in ["/opt/libhrn5-rdmav34.so", "hrn5"] {
        assert_eq!(
            refused(vec![plug_in(entry, Some(34), false)], &drivers(&["xscale_0"], &[])),
            format!(
                "IBV_EXTEND_DRIVERS names {entry}, the plug-in of backend hns1825, but backend xscale was asked for, whose plug-in \
                 is libxscale_nda.so. Choose --backend hns1825, or name libxscale_nda.so with its whole path"
            )
        );
    }
    // Beside the right one it is another NIC's business.
    let both = vec![
        plug_in("/opt/libhrn5-rdmav34.so", Some(34), false),
        plug_in("/opt/libxscale_nda.so", None, true),
    ];
    assert_eq!(check(&XSCALE, &plug_ins(both), &drivers(&["xscale_0"], &[])), Ok(()));
    // It is the wrong one, whatever else is wrong with it.
    let text = refused(vec![failing("/nowhere/libhrn5-rdmav34.so")], &drivers(&[], &["xscale_0"]));
    assert!(text.contains("the plug-in of backend hns1825"), "{text}");
}

#[test]
fn a_plug_in_that_failed_is_the_error_of_who_needs_it() {
    let text = refused(vec![failing("/nowhere/libxscale_nda.so")], &drivers(&["xscale_0"], &[]));
    assert_eq!(text, absent().to_string());
    // Any NIC will do for roce.
    let failed = || plug_ins(vec![failing("/nowhere/libxscale_nda.so")]);
    assert_eq!(check(&NicKind::ROCE, &failed(), &drivers(&["rxe_0"], &[])), Ok(()));
    assert_eq!(check(&NicKind::ROCE, &failed(), &drivers(&[], &[])), Err(absent().into()));
    // A device that nobody drives is more telling than that there is none; beside one that works it does not matter.
    let undriven = drivers(&[], &["xscale_0"]);
    let text = check(&NicKind::ROCE, &plug_ins(vec![]), &undriven).unwrap_err().to_string();
    assert!(
        text.starts_with("the kernel has xscale_0, but no provider of libibverbs drives it. Install"),
        "{text}"
    );
    assert_eq!(check(&NicKind::ROCE, &plug_ins(vec![]), &drivers(&["rxe_0"], &["xscale_0"])), Ok(()));
}

#[test]
fn what_was_loaded_and_drives_nothing_says_what_it_is() {
    let undriven = drivers(&[], &["xscale_0"]);
    let text = refused(vec![plug_in("/opt/libxscale_nda.so", Some(34), false)], &undriven);
    assert_eq!(
        text,
        "/opt/libxscale_nda.so was loaded, but registered no device: the kernel has xscale_0, which no provider of libibverbs \
         drives. It is a provider, but of other devices: name libxscale_nda.so, of the release that belongs to the NIC's kernel \
         module"
    );
    let text = refused(vec![plug_in("/opt/libxscale_nda.so", None, true)], &undriven);
    assert!(
        text.contains("install that too (libxscale-rdmavNN.so, and its line in /etc/libibverbs.d)"),
        "{text}"
    );
    let text = refused(vec![plug_in("/opt/libz.so", None, false)], &undriven);
    assert!(text.contains("It is no provider"), "{text}");
}
