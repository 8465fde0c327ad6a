//! PEs that share a NIC: how many may, and what to know of it.

use std::collections::BTreeMap;

use transport_core::PeList;

use crate::connect::Introduction;
use crate::error::RoceError;
use crate::kind::NicKind;
use crate::nic::Gid;

/// Checks that no address of a NIC has more PEs than `kind` allows, and warns of ports that several use where that matters.
pub(crate) fn check_sharing(kind: &NicKind, my_pe: usize, all: &[Introduction]) -> Result<(), RoceError> {
    for (address, pes) in groups(all, |one| one.gid) {
        let (Some(limit), Some(first)) = (kind.max_pes, pes.first().and_then(|&pe| all.get(pe))) else {
            continue;
        };
        if pes.len() > limit {
            return Err(RoceError::TooManyPes {
                my_pe,
                place: format!("{} of host {} (GID {})", first.device, first.host, Gid(address)),
                pes: pes.into_iter().collect(),
                limit,
                name: kind.name,
            });
        }
    }
    // Once for each port: by the first PE behind it.
    for told in shared_ports(kind, all).iter().filter(|told| told.pes.as_slice().first() == Some(&my_pe)) {
        let SharedPort { pes, place, what, remedy } = told;
        tracing::warn!("PE {my_pe}: {pes} are behind {place}: {what}; {remedy}");
    }
    Ok(())
}

/// A port that several PEs use, and what to know of it.
struct SharedPort {
    pes: PeList,
    place: String,
    what: &'static str,
    remedy: &'static str,
}

fn shared_ports(kind: &NicKind, all: &[Introduction]) -> Vec<SharedPort> {
    let Some((what, remedy)) = kind.shared_port else { return Vec::new() };
    let ports = groups(all, |one| (one.boot.clone(), one.device.clone(), one.port));
    let several = ports.into_iter().filter(|(_, pes)| pes.len() > 1);
    let told = several.filter_map(|((_, device, port), pes)| {
        let host = &all.get(*pes.first()?)?.host;
        let place = format!("one port (host {host}, {device} port {port})");
        Some(SharedPort { pes: pes.into_iter().collect(), place, what, remedy })
    });
    told.collect()
}

/// The PEs that have the same `key`, in order.
fn groups<K: Ord>(all: &[Introduction], key: impl Fn(&Introduction) -> K) -> BTreeMap<K, Vec<usize>> {
    let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (pe, one) in all.iter().enumerate() {
        groups.entry(key(one)).or_default().push(pe);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: NicKind = NicKind {
        name: "HNS 1825 NIC",
        max_pes: Some(16),
        shared_port: Some(("frames between them may be dropped", "enable it")),
        ..NicKind::ROCE
    };

    fn pe(host: &str, device: &str, gid: u8) -> Introduction {
        Introduction {
            host: host.into(),
            boot: host.into(),
            device: device.into(),
            port: 1,
            gid: [gid; 16],
            gid_kind: 2,
            mtu: 1024,
            reads: 16,
            per_peer: 1,
            first_use: false,
            software: true,
            processors: transport_core::host::ProcessorSet::of_this_process(),
            token: 1,
        }
    }

    #[test]
    fn sixteen_on_an_address_are_right_and_seventeen_are_told() {
        let mut all: Vec<_> = (0..16).map(|_| pe("a", "hrn5_1", 1)).collect();
        all.extend((0..16).map(|_| pe("b", "hrn5_1", 2)));
        assert!(check_sharing(&KIND, 0, &all).is_ok());
        all.push(pe("b", "hrn5_1", 2));
        let text = check_sharing(&KIND, 3, &all).unwrap_err().to_string();
        assert_eq!(
            text,
            "PE 3: the 17 PEs 16-32 use hrn5_1 of host b (GID 202:202:202:202:202:202:202:202), but an address of an HNS 1825 NIC serves \
             at most 16. Start fewer on that host, or spread them over its NICs by --device or SHMEM_NIC"
        );
        assert!(check_sharing(&NicKind::ROCE, 0, &all).is_ok());
    }

    #[test]
    fn a_port_that_several_share_is_told_once_and_only_of_kinds_where_it_matters() {
        let all = [
            pe("a", "hrn5_0", 1),
            pe("a", "hrn5_1", 2),
            pe("a", "hrn5_1", 2),
            pe("b", "hrn5_0", 3),
            pe("b", "hrn5_0", 4),
        ];
        let told = shared_ports(&KIND, &all);
        let said: Vec<_> = told.iter().map(|one| format!("{} {}", one.pes, one.place)).collect();
        assert_eq!(
            said,
            ["PEs 1, 2 one port (host a, hrn5_1 port 1)", "PEs 3, 4 one port (host b, hrn5_0 port 1)"]
        );
        assert!(shared_ports(&NicKind::ROCE, &all).is_empty());
    }
}
