//! Whether the NICs that the PEs chose can talk to each other.

use std::fmt;

use super::error::NicError;
use super::facts::GidKind;
use super::gid::Gid;
use super::wish::Family;

/// The MTUs that a port can have, bytes.
const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// What a PE tells the others about its NIC. Displays as `PE 0 (host a, rxe_0 port 1, GID 10.0.0.1, RoCE v2)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerNic {
    /// The PE.
    pub pe: usize,
    /// Its host's name.
    pub host: String,
    /// The device.
    pub device: String,
    /// Its port.
    pub port: u8,
    /// The GID.
    pub gid: Gid,
    /// The GID's kind.
    pub kind: GidKind,
    /// The port's MTU, bytes.
    pub mtu_bytes: u32,
}

impl fmt::Display for PeerNic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pe, host, device, port, gid, kind, .. } = self;
        write!(f, "PE {pe} (host {host}, {device} port {port}, GID {gid}, {kind})")
    }
}

/// The MTU to use towards each of `all`, in their order: the lesser of both ends'.
///
/// All are compared with the first, not with this PE, so that every PE comes to the same answer.
///
/// # Errors
/// If two PEs' GIDs are of different kinds or families, if an MTU is none, or if `my_pe` is not among them.
pub(crate) fn agree(my_pe: usize, all: &[PeerNic]) -> Result<Vec<u32>, NicError> {
    let own = all.iter().find(|nic| nic.pe == my_pe);
    let (Some(first), Some(own)) = (all.first(), own) else {
        return Err(NicError::OwnEntryMissing { my_pe, count: all.len() });
    };
    for nic in all {
        check(first, nic)?;
    }
    // One is enough to look at.
    if let Some(lesser) = all.iter().find(|nic| nic.mtu_bytes < own.mtu_bytes) {
        tracing::warn!(
            "{lesser} has an MTU of {} bytes, which is used with it, although {own} has {}; see `ibv_devinfo` on both, and `ip link`",
            lesser.mtu_bytes,
            own.mtu_bytes
        );
    }
    Ok(all.iter().map(|nic| nic.mtu_bytes.min(own.mtu_bytes)).collect())
}

fn check(first: &PeerNic, nic: &PeerNic) -> Result<(), NicError> {
    if !MTUS.contains(&nic.mtu_bytes) {
        return Err(NicError::BadMtu { peer: nic.to_string(), mtu_bytes: nic.mtu_bytes });
    }
    if first.kind != nic.kind {
        return Err(NicError::MixedKinds { one: first.to_string(), other: nic.to_string() });
    }
    let (one_family, other_family) = (Family::of(first.gid.ip()), Family::of(nic.gid.ip()));
    if one_family != other_family {
        let (one, other) = (first.to_string(), nic.to_string());
        return Err(NicError::MixedFamilies { one, one_family, other, other_family });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn nic(pe: usize, gid: &str, kind: GidKind, mtu_bytes: u32) -> PeerNic {
        let gid = Gid::from(gid.parse::<IpAddr>().unwrap());
        PeerNic { pe, host: format!("node{pe}"), device: "rxe_0".into(), port: 1, gid, kind, mtu_bytes }
    }

    #[test]
    fn the_lesser_mtu_of_both_ends() {
        let all = [
            nic(0, "10.0.0.1", GidKind::RoceV2, 4096),
            nic(1, "10.0.0.2", GidKind::RoceV2, 1024),
            nic(2, "10.0.0.3", GidKind::RoceV2, 2048),
        ];
        assert_eq!(agree(0, &all), Ok(vec![4096, 1024, 2048]));
        assert_eq!(agree(1, &all), Ok(vec![1024, 1024, 1024]));
        assert_eq!(agree(2, &all), Ok(vec![2048, 1024, 2048]));
    }

    #[test]
    fn mixed_kinds_name_both_ends_and_every_pe_says_the_same() {
        let all = [
            nic(0, "10.0.0.1", GidKind::RoceV2, 1024),
            nic(1, "10.0.0.2", GidKind::RoceV2, 1024),
            nic(2, "10.0.0.3", GidKind::RoceV1, 1024),
        ];
        let error = agree(1, &all).unwrap_err();
        for pe in [0, 2] {
            assert_eq!(agree(pe, &all).unwrap_err(), error);
        }
        let text = error.to_string();
        assert!(text.contains("PE 0 (host node0, rxe_0 port 1, GID 10.0.0.1, RoCE v2)"), "{text}");
        assert!(text.contains("PE 2 (host node2, rxe_0 port 1, GID 10.0.0.3, RoCE v1)"), "{text}");
        assert!(text.contains("SHMEM_GID_INDEX"), "{text}");
    }

    #[test]
    fn mixed_families() {
        let all = [nic(0, "10.0.0.1", GidKind::RoceV2, 1024), nic(1, "2001:db8::1", GidKind::RoceV2, 1024)];
        let text = agree(0, &all).unwrap_err().to_string();
        assert!(
            text.contains("an IPv4 GID") && text.contains("2001:db8::1") && text.contains("IPv6 one"),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be() {
        let all = [nic(0, "10.0.0.1", GidKind::RoceV2, 1024), nic(1, "10.0.0.2", GidKind::RoceV2, 0)];
        let text = agree(0, &all).unwrap_err().to_string();
        assert!(text.contains("PE 1") && text.contains("MTU of 0"), "{text}");
        assert_eq!(agree(7, &all[..1]), Err(NicError::OwnEntryMissing { my_pe: 7, count: 1 }));
        assert_eq!(agree(0, &[]), Err(NicError::OwnEntryMissing { my_pe: 0, count: 0 }));
    }
}
