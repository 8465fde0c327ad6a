//! Which NIC each NPU has, on hosts whose NICs are not on the NPUs' own dies, and which NPUs share a port.

use std::collections::BTreeMap;
use std::path::Path;

use transport_core::checks::Section;

use crate::kind::NicKind;
use crate::nic::{DeviceFacts, is_held_by};
use crate::rootinfo::{RootInfo, RootInfoError};

/// NPUs of a host.
const NPUS: u32 = 8;

/// Section `npu-nics`, for `kind`, by the file of the host or by what is usual.
pub(super) fn npu_nics(kind: &NicKind, devices: &[DeviceFacts], file: &Path) -> Section {
    let mut section = Section::new("npu-nics", "NPUs and their NICs");
    let pairs = match RootInfo::read(file) {
        Ok(Some(info)) => told(&mut section, &info, devices, file),
        Ok(None) => usual(&mut section, kind, devices, file),
        Err(error) => {
            wrong(&mut section, &error);
            Vec::new()
        }
    };
    shared(&mut section, kind, &pairs);
    section
}

/// What the file tells.
fn told(section: &mut Section, info: &RootInfo, devices: &[DeviceFacts], file: &Path) -> Vec<(u32, String)> {
    let mut pairs = Vec::new();
    if info.npus().is_empty() {
        section.warn("file", format!("{} lists no NPU", file.display()), format!("cat {}", file.display()));
    }
    for npu in info.npus() {
        match info.nic_address(npu) {
            Ok(address) => match is_held_by(devices, address) {
                Some(device) => {
                    section.ok("pair", format!("NPU {npu}: {device} ({address})"));
                    pairs.push((npu, device));
                }
                None => section.warn(
                    "pair",
                    format!(
                        "NPU {npu}: no verbs device of this host holds {address}, the address of its NIC"
                    ),
                    format!("ip -br address | grep -F {address}; rdma link"),
                ),
            },
            Err(error) => wrong(section, &error),
        }
    }
    pairs
}

/// What is usual, for those whose device is there.
fn usual(section: &mut Section, kind: &NicKind, devices: &[DeviceFacts], file: &Path) -> Vec<(u32, String)> {
    let Some(usual) = kind.usual_device else {
        section.ok("file", format!("{} is not there: the NIC is chosen by the rendezvous", file.display()));
        return Vec::new();
    };
    let pair = |npu| Some((npu, usual(npu)?.to_owned()));
    let there = |(_, name): &(u32, String)| devices.iter().any(|device| device.name == *name);
    let pairs: Vec<_> = (0..NPUS).filter_map(pair).filter(there).collect();
    let list: Vec<String> = pairs.iter().map(|(npu, name)| format!("NPU {npu}: {name}")).collect();
    let list = if list.is_empty() { "none of them is here".to_owned() } else { list.join(", ") };
    section.ok("file", format!("{} is not there; the usual pairs count: {list}", file.display()));
    pairs
}

fn wrong(section: &mut Section, error: &RootInfoError) {
    section.warn("file", error.to_string(), error.remedy());
}

/// Ports that several NPUs have, where that matters.
fn shared(section: &mut Section, kind: &NicKind, pairs: &[(u32, String)]) {
    let Some((what, remedy)) = kind.shared_port else { return };
    let mut by_device: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (npu, device) in pairs {
        by_device.entry(device).or_default().push(npu.to_string());
    }
    for (device, npus) in by_device.iter().filter(|(_, npus)| npus.len() > 1) {
        let npus = npus.join(" and ");
        section.warn("shared-port", format!("NPUs {npus} are behind one port of {device}: {what}"), remedy);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use transport_core::checks::Level;

    use super::*;
    use crate::nic::{Gid, GidFacts, GidKind, PortFacts};

    const KIND: NicKind = NicKind {
        usual_device: Some(|npu| ["hrn5_1", "hrn5_1", "hrn5_0"].get(npu as usize).copied()),
        shared_port: Some(("frames may be dropped", "hiroce5 gids")),
        ..NicKind::ROCE
    };

    fn device(name: &str, address: &str) -> DeviceFacts {
        let gid = Gid::from(address.parse::<IpAddr>().unwrap());
        let gids = vec![GidFacts { index: 1, gid, kind: GidKind::RoceV2, netdev: None }];
        let port = PortFacts {
            number: 1,
            state: "ACTIVE".into(),
            active: true,
            ethernet: true,
            mtu_bytes: 1024,
            gids,
        };
        DeviceFacts { name: name.into(), ports: vec![port] }
    }

    fn lines(section: &Section) -> Vec<String> {
        section.findings.iter().map(|one| format!("{} {}", one.level, one.what)).collect()
    }

    #[test]
    fn what_is_usual_counts_without_the_file() {
        let nowhere = Path::new("/nowhere/hccl_rootinfo.json");
        let both = [device("hrn5_0", "10.3.0.1"), device("hrn5_1", "10.3.1.1")];
        assert_eq!(
            lines(&npu_nics(&KIND, &both, nowhere)),
            [
                "ok /nowhere/hccl_rootinfo.json is not there; the usual pairs count: NPU 0: hrn5_1, NPU 1: hrn5_1, NPU 2: hrn5_0",
                "warn NPUs 0 and 1 are behind one port of hrn5_1: frames may be dropped",
            ]
        );
        let section = npu_nics(&KIND, &both[..1], nowhere);
        assert_eq!((section.level(), section.findings.len()), (Level::Ok, 1));
        let section = npu_nics(&NicKind { usual_device: None, ..KIND }, &both, nowhere);
        assert!(lines(&section)[0].contains("chosen by the rendezvous"));
    }

    #[test]
    fn the_file_tells_the_pairs_and_its_faults() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rootinfo.json");
        let entry = |npu: u32, address: &str| {
            format!(
                r#"{{"device_id":{npu},"level_list":[{{"net_type":"CLOS","rank_addr_list":[{{"addr_type":"IPV4","addr":"{address}"}}]}}]}}"#
            )
        };
        let all = [entry(0, "10.3.0.1"), entry(1, "10.3.0.1"), entry(2, "10.9.9.9")].join(",");
        std::fs::write(&file, format!(r#"{{"rank_list":[{all}]}}"#)).unwrap();
        let section = npu_nics(&KIND, &[device("hrn5_7", "10.3.0.1")], &file);
        assert_eq!(
            lines(&section),
            [
                "ok NPU 0: hrn5_7 (10.3.0.1)",
                "ok NPU 1: hrn5_7 (10.3.0.1)",
                "warn NPU 2: no verbs device of this host holds 10.9.9.9, the address of its NIC",
                "warn NPUs 0 and 1 are behind one port of hrn5_7: frames may be dropped",
            ]
        );
        std::fs::write(&file, "{").unwrap();
        let section = npu_nics(&KIND, &[], &file);
        assert_eq!(section.level(), Level::Warn);
    }
}
