//! What `IBV_EXTEND_DRIVERS` names, entry by entry, and whether the devices have a provider.

use std::path::Path;

use transport_core::checks::Section;

use crate::kind::NicKind;
use crate::plug_ins::{Entry, PlugIn, PlugIns, VARIABLE};
use crate::provider::{self, Drivers, ProviderError};

/// Section `plug-ins`.
pub(super) fn plug_ins(kind: &NicKind, plug_ins: &PlugIns, drivers: &Drivers) -> Section {
    let mut section = Section::new("plug-ins", "Provider plug-ins (IBV_EXTEND_DRIVERS)");
    let judged = provider::check(kind, plug_ins, drivers).err();
    match &plug_ins.value {
        None => section.ok("variable", not_set(kind, drivers)),
        Some(value) if plug_ins.ignored => section.warn(
            "variable",
            format!("{VARIABLE}={value} is ignored: this program runs with more rights than the user who started it"),
            "chmod u-s,g-s PROGRAM; setcap -r PROGRAM",
        ),
        Some(value) => section.ok("variable", format!("{VARIABLE}={value}")),
    }
    // Only who needs a plug-in fails with one.
    let needed = kind.plug_in.is_some() || matches!(judged, Some(ProviderError::PlugIn(_)));
    for Entry { text, outcome } in &plug_ins.entries {
        match outcome {
            Ok(plug_in) => loaded(&mut section, text, plug_in, drivers),
            Err(error) if needed => section.fail("entry", error.to_string(), error.remedy()),
            Err(error) => section.warn("entry", error.to_string(), error.remedy()),
        }
    }
    match judged {
        // It is among the entries.
        None | Some(ProviderError::PlugIn(_)) => {}
        Some(error) => section.fail("provider", error.to_string(), error.remedy()),
    }
    section
}

fn not_set(kind: &NicKind, drivers: &Drivers) -> String {
    let Some(names) = kind.plug_in else {
        return format!("{VARIABLE} is not set; backend {} needs no plug-in", kind.backend);
    };
    let driven = drivers.listed.iter().filter(|(name, _)| kind.serves(name));
    let driven: Vec<String> = driven
        .map(|(name, file)| match file {
            Some(file) => format!("{name} is driven by {}", file.display()),
            None => format!("{name} is driven"),
        })
        .collect();
    if driven.is_empty() {
        return format!("{VARIABLE} is not set; the plug-in of an {} is {}", kind.name, names.file);
    }
    format!("{VARIABLE} is not set, and need not be for this library: {}", driven.join(", "))
}

fn loaded(section: &mut Section, text: &str, plug_in: &PlugIn, drivers: &Drivers) {
    let PlugIn { path, provider_abi, extends, extend_library } = plug_in;
    let name = if Path::new(text) == path { text.to_owned() } else { format!("{text} ({})", path.display()) };
    let library = extend_library.as_deref().unwrap_or(Path::new("libibv_extend.so")).display();
    let what = match (provider_abi, extends) {
        (Some(abi), false) => format!("a provider of libibverbs, ABI {abi}"),
        (Some(abi), true) => {
            format!("a provider of libibverbs, ABI {abi}, and an extend plug-in of {library}")
        }
        (None, true) => format!("an extend plug-in of {library}"),
        (None, false) => {
            let what =
                format!("{name} is loaded, but registers neither with libibverbs nor with libibv_extend");
            return section.warn("entry", what, format!("nm -D --undefined-only {}", path.display()));
        }
    };
    // By links and by the file itself the loader knows only the one.
    let real = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let same = |file: &Path| real(file) == real(path);
    let drives = drivers.listed.iter().filter(|(_, file)| file.as_deref().is_some_and(same));
    let drives: Vec<&str> = drives.map(|(device, _)| device.as_str()).collect();
    match (provider_abi, drives.as_slice()) {
        (None, _) => section.ok("entry", format!("{name} is loaded: {what}")),
        (Some(_), []) => section.warn(
            "entry",
            format!("{name} is loaded: {what}; but it drives no device of this host"),
            "IBV_SHOW_WARNINGS=1 ibv_devinfo",
        ),
        (Some(_), drives) => {
            section.ok("entry", format!("{name} is loaded: {what}; it drives {}", drives.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use transport_core::checks::Level;

    use super::*;
    use crate::plug_ins::PlugInError;

    const KIND: NicKind = NicKind::LIKE_XSCALE;

    fn set(text: &str, provider_abi: Option<u32>, extends: bool) -> PlugIns {
        let plug_in =
            PlugIn { path: "/opt/libxscale_nda.so".into(), provider_abi, extends, extend_library: None };
        let entries = vec![Entry { text: text.into(), outcome: Ok(plug_in) }];
        PlugIns { value: Some(text.into()), ignored: false, entries }
    }

    fn unset() -> PlugIns {
        PlugIns { value: None, ignored: false, entries: vec![] }
    }

    fn drivers(file: &str) -> Drivers {
        Drivers { listed: vec![("xscale_0".into(), Some(file.into()))], kernel: vec!["xscale_0".into()] }
    }

    #[track_caller]
    fn says(section: &Section, level: Level, part: &str) {
        let found = section.findings.iter().any(|one| one.level == level && one.what.contains(part));
        assert!(found, "no {level} with {part:?} in {section:#?}");
        assert!(section.findings.iter().all(|one| (one.level == Level::Ok) == one.remedy.is_none()));
    }

    #[test]
    fn an_unset_variable_is_well_where_it_is_not_needed() {
        let undriven = Drivers { listed: vec![], kernel: vec!["xscale_0".into()] };
        let section = plug_ins(&NicKind::ROCE, &unset(), &undriven);
        says(&section, Level::Ok, "backend roce needs no plug-in");
        says(&section, Level::Fail, "no provider of libibverbs drives it. Install");
        let section = plug_ins(&KIND, &unset(), &drivers("/usr/lib/libxscale-rdmav34.so"));
        says(&section, Level::Ok, "xscale_0 is driven by /usr/lib/libxscale-rdmav34.so");
        let section = plug_ins(&KIND, &unset(), &undriven);
        says(&section, Level::Fail, "the kernel has xscale_0, but no provider");
    }

    #[test]
    fn what_is_loaded_says_as_what_and_what_it_drives() {
        let path = "/opt/libxscale_nda.so";
        let section = plug_ins(&KIND, &set(path, Some(34), false), &drivers(path));
        says(&section, Level::Ok, "is loaded: a provider of libibverbs, ABI 34; it drives xscale_0");
        let section = plug_ins(&KIND, &set("xscale_nda", Some(34), true), &drivers("/usr/lib/other.so"));
        says(&section, Level::Warn, "xscale_nda (/opt/libxscale_nda.so) is loaded: a provider");
        says(&section, Level::Warn, "it drives no device of this host");
        let section = plug_ins(&KIND, &set(path, None, true), &drivers("/usr/lib/other.so"));
        says(&section, Level::Ok, "an extend plug-in of libibv_extend.so");
        let section = plug_ins(&KIND, &set(path, None, false), &drivers("/usr/lib/other.so"));
        says(&section, Level::Warn, "registers neither");
    }

    #[test]
    fn an_ignored_variable_is_a_warning_by_itself() {
        let ignored = PlugIns { ignored: true, entries: vec![], ..set("/opt/x.so", None, false) };
        says(&plug_ins(&KIND, &ignored, &drivers("/usr/lib/other.so")), Level::Warn, "is ignored");
    }

    #[test]
    fn an_entry_that_fails_fails_who_needs_it() {
        let error =
            PlugInError::NoSuchFile { file: "/nowhere/libxscale_nda.so".into(), link: None, found: None };
        let entries = vec![Entry { text: "/nowhere/libxscale_nda.so".into(), outcome: Err(error) }];
        let plug_ins_of = PlugIns { value: Some("set".into()), ignored: false, entries };
        let other = drivers("/usr/lib/other.so");
        let part = "/nowhere/libxscale_nda.so";
        says(&plug_ins(&KIND, &plug_ins_of, &other), Level::Fail, part);
        says(&plug_ins(&NicKind::ROCE, &plug_ins_of, &other), Level::Warn, part);
        says(&plug_ins(&NicKind::ROCE, &plug_ins_of, &Drivers::default()), Level::Fail, part);
    }
}
