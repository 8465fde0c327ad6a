//! All checks of a backend over NICs, in the order in which a job would stumble.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use transport_core::checks::{HeapMemory, Level, Section, huge_pages};

use super::cann::{Cann, cann};
use super::device_files::{DeviceFiles, device_files};
use super::devices::{Devices, OpenDevice, devices};
use super::hccn::{Npus, hccn};
use super::library::{LoadedLibrary, library};
use super::locked_memory::{Lockable, locked_memory};
use super::npu_nics::npu_nics;
use super::plug_ins::plug_ins;
use super::ports::{Ports, ports};
use crate::kind::NicKind;
use crate::nic::{DeviceFacts, NicError, NpuLookup, find_nic};
use crate::open::open_library;
use crate::plug_ins::{PlugIns, library_abi};
use crate::provider::{self, Drivers};
use crate::rootinfo;
use crate::seen::{Seen, kernel_devices};
use crate::settings::{NicWish, RoceSettings};

/// Looks at all that a job on NICs of `kind` would need: `heap` bytes of symmetric heap for each of `pes_here` PEs of this
/// host, the rendezvous at `rendezvous` if that is known. Blocks: it may ask `hccn_tool`, at most for half a minute.
#[must_use]
pub fn examine(
    kind: &'static NicKind,
    settings: &RoceSettings,
    heap: u64,
    pes_here: usize,
    rendezvous: Option<SocketAddr>,
) -> Vec<Section> {
    // Before what they are missed for.
    let mut sections = vec![device_files(&DeviceFiles::now(), kind)];
    let looked = match open_library() {
        Err(error) => {
            sections.push(library(Err(&error)));
            // What the variable names can be looked at all the same.
            let drivers = Drivers { listed: Vec::new(), kernel: kernel_devices() };
            sections.push(plug_ins(kind, PlugIns::of_process(None), &drivers));
            None
        }
        Ok((loaded, named)) => {
            sections.push(library(Ok(&LoadedLibrary::of(&loaded, library_abi))));
            match Seen::look(&loaded) {
                Ok(seen) => {
                    let drivers = Drivers::of(&seen);
                    sections.push(plug_ins(kind, named, &drivers));
                    let provided = provider::check(kind, named, &drivers);
                    Some((seen, drivers, provided))
                }
                Err(error) => {
                    let mut section = Section::new("devices", "RDMA devices");
                    section.fail("list", error.to_string(), error.remedy());
                    sections.push(section);
                    None
                }
            }
        }
    };
    let (mut facts, mut address) = (Vec::new(), None);
    if let Some((seen, drivers, provided)) = looked {
        facts = seen.facts();
        // As a job does: without a provider nothing is chosen.
        let choice = provided
            .map_err(NicError::from)
            .and_then(|()| find_nic(kind, &facts, settings, rendezvous, &NpuLookup::of(kind)));
        address = choice.as_ref().ok().map(|choice| choice.gid.gid.ip());
        let (open, undriven) = (OpenDevice::all(&seen), drivers.undriven());
        let found = Devices { open: &open, failed: &seen.failed, undriven: &undriven, choice: &choice };
        sections.push(devices(&found, kind));
        sections.extend(sharing(kind, &facts, pes_here));
    }
    let mut locked = locked_memory(heap, &Lockable::now());
    huge_pages(&mut locked, HeapMemory::Private);
    sections.push(locked);
    sections.push(of_npus(kind, settings, &facts));
    if let Some(range) = &kind.ports {
        sections.push(ports(&Ports::now(range, address.filter(|ip: &IpAddr| !ip.is_unspecified()))));
    }
    sections.push(cann(&Cann::now(), kind));
    sections
}

/// Whether the PEs of this host fit on its NICs, where their number is limited.
fn sharing(kind: &NicKind, facts: &[DeviceFacts], pes_here: usize) -> Option<Section> {
    let most = kind.max_pes?;
    let ports = facts.iter().filter(|device| kind.serves(&device.name)).flat_map(|device| &device.ports);
    let addresses = ports.filter(|port| port.active).count();
    let mut section = Section::new("sharing", "PEs that share a NIC");
    let what = format!(
        "{pes_here} PEs of this host, {addresses} active ports of {}s, at most {most} PEs each",
        kind.name
    );
    let remedy = "show_gids || rdma link show; shmem-doctor --pes N";
    if addresses > 0 && pes_here > most.saturating_mul(addresses) {
        section.fail("pes", what, remedy);
    } else if addresses > 0 && pes_here > most {
        section.warn("pes", format!("{what}: spread them by --device or SHMEM_NIC"), remedy);
    } else {
        section.ok("pes", what);
    }
    Some(section)
}

fn of_npus(kind: &NicKind, settings: &RoceSettings, facts: &[DeviceFacts]) -> Section {
    if kind.of_npu {
        return hccn(&Npus::ask(), facts, settings.nic.value == NicWish::Npu);
    }
    let own: Vec<DeviceFacts> = facts.iter().filter(|device| kind.serves(&device.name)).cloned().collect();
    npu_nics(kind, &own, Path::new(rootinfo::FILE))
}

/// What a start looks at before it registers `heap` bytes: quick, and only what would stop it in a less telling way later.
///
/// # Errors
/// What was found, with what to type.
pub(crate) fn before_start(kind: &NicKind, heap: u64) -> Result<(), (String, String)> {
    let sections = [device_files(&DeviceFiles::now(), kind), locked_memory(heap, &Lockable::now())];
    let failed = sections.into_iter().flat_map(|section| section.findings);
    match failed.into_iter().find(|finding| finding.level == Level::Fail) {
        Some(finding) => Err((finding.what, finding.remedy.unwrap_or_default())),
        None => Ok(()),
    }
}
