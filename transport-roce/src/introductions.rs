//! What the PEs said of themselves, read and compared.

use bytes::Bytes;
use transport_core::PeList;

use crate::connect::Introduction;
use crate::error::RoceError;
use crate::nic::{Gid, GidKind, PeerNic};

/// All of them, in the order of their PEs.
pub(crate) fn read_introductions(my_pe: usize, said: &[Bytes]) -> Result<Vec<Introduction>, RoceError> {
    let first = said.first().and_then(|said| said.first());
    let odd: PeList =
        said.iter().enumerate().filter(|(_, said)| said.first() != first).map(|(pe, _)| pe).collect();
    if !odd.is_empty() {
        return Err(RoceError::OtherVersion { my_pe, odd });
    }
    let read = |(pe, said): (usize, &Bytes)| {
        Introduction::decode(said).ok_or(RoceError::Garbled { my_pe, pe, what: "description of its NIC" })
    };
    said.iter().enumerate().map(read).collect()
}

/// Checks what must be set alike on all.
pub(crate) fn check_alike(my_pe: usize, all: &[Introduction]) -> Result<(), RoceError> {
    let connect = |one: &Introduction| if one.first_use { "first-use" } else { "start" }.to_owned();
    differ(my_pe, all, "SHMEM_ROCE_QPS", |one| one.per_peer.to_string())?;
    differ(my_pe, all, "SHMEM_ROCE_CONNECT", connect)
}

fn differ(
    my_pe: usize,
    all: &[Introduction],
    what: &'static str,
    value: impl Fn(&Introduction) -> String,
) -> Result<(), RoceError> {
    let Some(ours) = all.first().map(&value) else { return Ok(()) };
    let odd = || all.iter().enumerate().filter(|(_, one)| value(one) != ours);
    match odd().next() {
        None => Ok(()),
        Some((_, first)) => {
            let (theirs, odd) = (value(first), odd().map(|(pe, _)| pe).collect());
            Err(RoceError::SettingsDiffer { my_pe, odd, what, theirs, ours })
        }
    }
}

impl Introduction {
    /// Its NIC, as PE `pe`.
    pub(crate) fn nic(&self, pe: usize) -> PeerNic {
        let kind = match self.gid_kind {
            0 => GidKind::InfiniBand,
            1 => GidKind::RoceV1,
            _ => GidKind::RoceV2,
        };
        PeerNic {
            pe,
            host: self.host.clone(),
            device: self.device.clone(),
            port: self.port,
            gid: Gid(self.gid),
            kind,
            mtu_bytes: self.mtu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport_core::host::ProcessorSet;

    fn introduction(per_peer: u8, first_use: bool) -> Introduction {
        Introduction {
            host: "a".into(),
            boot: "b".into(),
            device: "rxe_0".into(),
            port: 1,
            gid: [0; 16],
            gid_kind: 2,
            mtu: 1024,
            reads: 16,
            per_peer,
            first_use,
            software: true,
            processors: ProcessorSet::of_this_process(),
            token: 1,
        }
    }

    #[test]
    fn settings_that_differ_name_the_odd_and_both_values() {
        let alike = [introduction(1, false), introduction(1, false)];
        assert!(check_alike(0, &alike).is_ok() && check_alike(0, &[]).is_ok());
        let odd = [introduction(1, false), introduction(1, false), introduction(2, true)];
        let text = check_alike(1, &odd).unwrap_err().to_string();
        assert!(text.contains("PE 2 have SHMEM_ROCE_QPS 2, PE 0 has 1"), "{text}");
        let text = check_alike(1, &[introduction(1, true), introduction(1, false)]).unwrap_err().to_string();
        assert!(text.contains("SHMEM_ROCE_CONNECT start, PE 0 has first-use"), "{text}");
    }

    #[test]
    fn another_version_and_rubbish_are_told_apart() {
        let good = introduction(1, false).encode();
        let mut newer = good.to_vec();
        newer[0] += 1;
        let said = [good.clone(), good.clone(), newer.into()];
        let error = read_introductions(0, &said).unwrap_err();
        assert!(matches!(error, RoceError::OtherVersion { odd, .. } if odd.as_slice() == [2]));
        let said = [good.clone(), good.slice(..9)];
        let error = read_introductions(0, &said).unwrap_err();
        assert!(matches!(error, RoceError::Garbled { pe: 1, .. }), "{error}");
    }
}
