//! Looks up the NIC of an NPU.

use std::collections::BTreeMap;
use std::net::{AddrParseError, IpAddr};
use std::path::{Path, PathBuf};

use super::error::RootInfoError;
use super::file::{Address, Level, parse};
use super::read::read;
use super::shown::{first, shown};

/// The network over switches, which the NIC is in.
const NIC_NETWORK: &str = "CLOS";
/// The most networks of an NPU that an error shows.
const FOUND_NETWORKS: usize = 8;
/// The most addresses of a network that an error shows.
const FOUND_ADDRESSES: usize = 4;

/// What the file says, by NPU.
#[derive(Debug)]
pub(crate) struct RootInfo {
    path: PathBuf,
    /// The networks of each NPU. Where the file has an NPU several times, they are all here: so nothing wins silently.
    npus: BTreeMap<u32, Vec<Level>>,
}

impl RootInfo {
    /// Reads `path`, most often [`FILE`](super::FILE). `Ok(None)` if there is no such file.
    ///
    /// # Errors
    /// If it cannot be read, is too large, or is not such a file.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, RootInfoError> {
        let Some(bytes) = read(path)? else { return Ok(None) };
        Self::from_bytes(path, &bytes).map(Some)
    }

    pub(super) fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, RootInfoError> {
        let file = parse(bytes).map_err(|error| RootInfoError::not_understood(path, &error))?;
        let mut npus: BTreeMap<u32, Vec<Level>> = BTreeMap::new();
        for rank in file.rank_list {
            npus.entry(rank.device_id.0).or_default().extend(rank.into_levels());
        }
        Ok(Self { path: path.to_owned(), npus })
    }

    /// The address of the NIC that belongs to the physical NPU `npu`.
    ///
    /// # Errors
    /// If the file does not have the NPU, or gives it no address, one that is none, or several that differ.
    pub(crate) fn nic_address(&self, npu: u32) -> Result<IpAddr, RootInfoError> {
        let path = || self.path.clone();
        let Some(levels) = self.npus.get(&npu) else {
            return Err(RootInfoError::NpuMissing { path: path(), npu, known: self.npus() });
        };
        let entries = levels.iter().filter(|level| level.net_type().eq_ignore_ascii_case(NIC_NETWORK));
        let mut addresses = Vec::new();
        for entry in entries.flat_map(Level::addresses) {
            let bad = |_| RootInfoError::BadAddress {
                path: path(),
                npu,
                kind: entry.kind().to_ascii_uppercase(),
                address: shown(entry.text()),
            };
            addresses.extend(nic_ip(entry).map_err(bad)?);
        }
        addresses.sort_unstable();
        addresses.dedup();
        match *addresses.as_slice() {
            [] => Err(RootInfoError::NoAddress { path: path(), npu, found: found(levels) }),
            [address] => {
                tracing::debug!("{} gives NPU {npu} the NIC address {address}", self.path.display());
                Ok(address)
            }
            _ => Err(RootInfoError::SeveralAddresses { path: path(), npu, addresses }),
        }
    }

    /// The physical NPUs that the file has, in ascending order.
    pub(crate) fn npus(&self) -> Vec<u32> {
        self.npus.keys().copied().collect()
    }
}

/// The IP address in `entry`; `None` if it is of another kind or not set, `Err` if it is none of its kind.
fn nic_ip(entry: &Address) -> Result<Option<IpAddr>, AddrParseError> {
    // It may come with the length of its prefix.
    let text = entry.text().split_once('/').map_or(entry.text(), |(ip, _)| ip);
    if text.is_empty() {
        return Ok(None);
    }
    let ip = match entry.kind() {
        kind if kind.eq_ignore_ascii_case("IPV4") => IpAddr::V4(text.parse()?),
        kind if kind.eq_ignore_ascii_case("IPV6") => IpAddr::V6(text.parse()?),
        _ => return Ok(None),
    };
    // An IPv4 address in the dress of IPv6 is the same address.
    let ip = ip.to_canonical();
    Ok((!ip.is_unspecified()).then_some(ip))
}

/// The networks with their addresses, for an error to show: `net_type "CLOS" ("EID" "00c0"), net_type "MESH" (none)`.
fn found(levels: &[Level]) -> String {
    let entry = |entry: &Address| format!("{} {}", shown(entry.kind()), shown(entry.text()));
    let level = |level: &Level| {
        let entries: Vec<String> = level.addresses().iter().map(entry).collect();
        format!("net_type {} ({})", shown(level.net_type()), first(FOUND_ADDRESSES, &entries))
    };
    first(FOUND_NETWORKS, &levels.iter().map(level).collect::<Vec<_>>())
}
