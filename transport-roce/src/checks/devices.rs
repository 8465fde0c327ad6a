//! The verbs devices: what they are, what their ports have, and which of them a job would use.

use std::path::PathBuf;

use transport_core::checks::Section;

use super::link::Link;
use super::port::{Port, port};
use crate::kind::NicKind;
use crate::nic::{Choice, DeviceFacts, NicError};
use crate::seen::Seen;
use crate::verbs::VerbsError;

/// A device that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenDevice {
    /// Its ports and GIDs.
    pub(crate) facts: DeviceFacts,
    /// The file of its provider, if the system says.
    pub(crate) provider: Option<PathBuf>,
    /// The links of its ports.
    pub(crate) links: Vec<Link>,
}

impl OpenDevice {
    /// All that are open, with a look at their links.
    pub(crate) fn all(seen: &Seen) -> Vec<Self> {
        let of = |device: &crate::seen::SeenDevice| Self {
            facts: device.facts.clone(),
            provider: device.provider.clone(),
            links: device.facts.ports.iter().map(|port| Link::of(&device.context, port)).collect(),
        };
        seen.open.iter().map(of).collect()
    }
}

/// What is known about the devices of this host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Devices<'a> {
    /// Those that are open.
    pub(crate) open: &'a [OpenDevice],
    /// Those that are not, with why.
    pub(crate) failed: &'a [(String, VerbsError)],
    /// Those that the kernel has and that libibverbs does not list.
    pub(crate) undriven: &'a [&'a str],
    /// What a job would use.
    pub(crate) choice: &'a Result<Choice, NicError>,
}

impl Devices<'_> {
    /// Whether a job cannot run for want of a NIC: then what is wrong with any of them is a failure, else a warning. That
    /// several could be used is decided by the rendezvous, which is not there yet.
    fn none_chosen(&self) -> bool {
        !matches!(self.choice, Ok(_) | Err(NicError::Several { .. }))
    }
}

/// Judges, for a backend of this kind. A device of another kind is only mentioned.
pub(crate) fn devices(devices: &Devices<'_>, kind: &NicKind) -> Section {
    let mut section = Section::new("devices", "RDMA devices");
    let stops = devices.none_chosen();
    for device in devices.open {
        open(&mut section, device, devices.choice, kind);
    }
    for (name, error) in devices.failed {
        if kind.serves(name) {
            bad(&mut section, stops, "not-opened", error.to_string(), error.remedy());
        } else {
            section.ok("other-device", format!("{} (it is no {}, so nothing is lost)", error, kind.name));
        }
    }
    for name in devices.undriven {
        if kind.serves(name) {
            let what = format!(
                "the kernel has {name}, but no provider of libibverbs drives it: its user-space driver is not installed, or is \
                 for another release of libibverbs"
            );
            // If that is why there is no choice, the section of the plug-ins says so.
            let told = matches!(devices.choice, Err(NicError::Provider(_)));
            bad(&mut section, stops && !told, "no-provider", what, driver_of(kind));
        } else {
            let what = format!("the kernel has {name}, which no provider drives; it is no {}", kind.name);
            section.ok("other-device", what);
        }
    }
    chosen(&mut section, devices, kind);
    section
}

fn bad(section: &mut Section, stops: bool, id: &'static str, what: String, remedy: String) {
    if stops { section.fail(id, what, remedy) } else { section.warn(id, what, remedy) }
}

/// How to get, or to find, the user-space driver.
fn driver_of(kind: &NicKind) -> String {
    match kind.plug_in {
        Some(names) => format!("find / -name '{}*.so*' 2>/dev/null; ls /etc/libibverbs.d", names.stem),
        None => "apt-get install ibverbs-providers  # RPM: dnf install libibverbs".to_owned(),
    }
}

fn open(section: &mut Section, device: &OpenDevice, choice: &Result<Choice, NicError>, kind: &NicKind) {
    let facts = &device.facts;
    let provider = match &device.provider {
        Some(file) => format!("driven by {}", file.display()),
        None => "the system does not say which provider drives it".to_owned(),
    };
    if !kind.serves(&facts.name) {
        let what = format!("{} ({provider}) is no {}; this backend does not use it", facts.name, kind.name);
        section.ok("other-device", what);
        return;
    }
    if facts.ports.is_empty() {
        let remedy = format!("ibv_devinfo -v -d {}", facts.name);
        section.warn("device", format!("{} has no ports; {provider}", facts.name), remedy);
        return;
    }
    section.ok("device", format!("{}: {provider}", facts.name));
    for facts_of_port in &facts.ports {
        let link = device.links.iter().find(|link| link.port == facts_of_port.number);
        port(section, &Port { device: &facts.name, facts: facts_of_port, link, choice });
    }
}

fn chosen(section: &mut Section, devices: &Devices<'_>, kind: &NicKind) {
    let told = devices.failed.iter().any(|(name, _)| kind.serves(name))
        || devices.undriven.iter().any(|name| kind.serves(name));
    match devices.choice {
        Ok(choice) => section.ok("choice", format!("a job would use {choice}")),
        Err(error @ NicError::Several { .. }) => {
            section.warn("choice", format!("{error}. The rendezvous of a job may tell"), error.remedy());
        }
        // Those that are there and cannot be used were told of above.
        Err(NicError::NoDevices | NicError::NoneOfKind { .. } | NicError::Provider(_)) if told => {}
        Err(error) => section.fail("choice", error.to_string(), error.remedy()),
    }
}

#[cfg(test)]
#[path = "devices_tests.rs"]
mod tests;
