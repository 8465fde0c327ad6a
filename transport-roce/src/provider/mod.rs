//! Whether the devices of a kind of NIC have a provider that drives them, after the plug-ins were loaded; if not, why.

mod error;

use std::path::PathBuf;

pub use error::ProviderError;

use crate::kind::{NicKind, PlugInNames};
use crate::plug_ins::{Entry, PlugIns};
use crate::seen::Seen;

/// The devices that there are, and who drives them.
#[derive(Debug, Default)]
pub(crate) struct Drivers {
    /// Those that libibverbs lists, with the provider's file if it is known.
    pub(crate) listed: Vec<(String, Option<PathBuf>)>,
    /// All that the kernel has.
    pub(crate) kernel: Vec<String>,
}

impl Drivers {
    pub(crate) fn of(seen: &Seen) -> Self {
        let open = seen.open.iter().map(|device| (device.facts.name.clone(), device.provider.clone()));
        let failed = seen.failed.iter().map(|(name, _)| (name.clone(), None));
        Self { listed: open.chain(failed).collect(), kernel: seen.kernel.clone() }
    }

    /// Devices that the kernel has and that libibverbs does not list, since no provider drives them.
    pub(crate) fn undriven(&self) -> Vec<&str> {
        let listed = |name: &&str| self.listed.iter().any(|(listed, _)| listed == name);
        self.kernel.iter().map(String::as_str).filter(|name| !listed(name)).collect()
    }
}

/// Whether `kind` can be used with these plug-ins.
///
/// # Errors
/// If a plug-in failed that this kind needs, if they are another NIC's, or if a device of it has no provider. That there is no
/// such device at all is for the choice to tell.
pub(crate) fn check(kind: &NicKind, plug_ins: &PlugIns, drivers: &Drivers) -> Result<(), ProviderError> {
    let any_driven = drivers.listed.iter().any(|(name, _)| kind.serves(name));
    let mut undriven = drivers.undriven();
    undriven.retain(|name| kind.serves(name));
    let failed = plug_ins.entries.iter().find_map(|entry| entry.outcome.as_ref().err());
    let Some(names) = kind.plug_in else {
        // Any NIC will do, so that a plug-in is only missed where there is none.
        return match failed {
            _ if any_driven => Ok(()),
            Some(error) => Err(error.clone().into()),
            None if undriven.is_empty() => Ok(()),
            None => Err(ProviderError::Undriven { devices: undriven.join(", ") }),
        };
    };
    // Before what may be wrong with the file: it is the wrong one in any case.
    if let Some((entry, theirs)) = other_nic(names, &plug_ins.entries) {
        let (backend, file) = (kind.backend, names.file);
        return Err(ProviderError::OtherNic { entry, theirs, backend, file });
    }
    if let Some(error) = failed {
        return Err(error.clone().into());
    }
    if any_driven || undriven.is_empty() {
        return Ok(());
    }
    let devices = undriven.join(", ");
    Err(if plug_ins.ignored {
        ProviderError::Ignored { devices }
    } else if plug_ins.entries.is_empty() {
        ProviderError::NotNamed { devices, file: names.file, ordinary: ordinary(names) }
    } else {
        let loaded = plug_ins.entries.iter().filter_map(|entry| entry.outcome.as_ref().ok());
        let paths: Vec<String> = loaded.map(|plug_in| plug_in.path.display().to_string()).collect();
        let why = why_nothing(names, &plug_ins.entries);
        ProviderError::DrivesNothing { plug_ins: paths.join(", "), devices, why }
    })
}

/// The first entry that belongs to another NIC, if none belongs to this one.
fn other_nic(names: PlugInNames, entries: &[Entry]) -> Option<(String, &'static str)> {
    if entries.iter().any(|entry| stem(&entry.text).starts_with(names.stem)) {
        return None;
    }
    entries.iter().find_map(|entry| {
        let (_, backend) = names.mistaken.iter().find(|(theirs, _)| stem(&entry.text).starts_with(theirs))?;
        Some((entry.text.clone(), *backend))
    })
}

/// The file that an entry names, as one that begins with `lib`.
fn stem(entry: &str) -> String {
    let file = entry.rsplit('/').next().unwrap_or_default();
    if file.starts_with("lib") { file.to_owned() } else { format!("lib{file}") }
}

fn ordinary(names: PlugInNames) -> String {
    if names.is_provider {
        return String::new();
    }
    format!(
        ". It comes beside the ordinary provider, {}, which must be installed as well: it drives the device, the plug-in adds to it",
        names.provider
    )
}

fn why_nothing(names: PlugInNames, entries: &[Entry]) -> String {
    let loaded = || entries.iter().filter_map(|entry| entry.outcome.as_ref().ok());
    if loaded().any(|plug_in| plug_in.provider_abi.is_some()) {
        return format!(
            "It is a provider, but of other devices: name {}, of the release that belongs to the NIC's kernel module",
            names.file
        );
    }
    if loaded().any(|plug_in| plug_in.extends) {
        return format!(
            "It is an extend plug-in, which adds to an ordinary provider: install that too ({}, and its line in \
             /etc/libibverbs.d)",
            names.provider
        );
    }
    format!(
        "It is no provider: it registers neither with libibverbs nor with libibv_extend. Name {}",
        names.file
    )
}

#[cfg(test)]
mod tests;
