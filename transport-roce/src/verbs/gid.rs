//! A port's GID table: the addresses that it can speak from.
//!
//! The table has holes, and a queue pair names its entry by index, so every index is looked at and kept.

use std::fs;

use super::context::Context;
use super::errno::Errno;
use super::error::VerbsError;
use super::port::LinkLayer;
use crate::abi::{IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2, ibv_gid, ibv_gid_entry};

/// What packets that are sent from a GID look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GidKind {
    /// InfiniBand's own.
    InfiniBand,
    /// Ethernet frames of a type of their own, which no router passes on.
    RoceV1,
    /// UDP over IP, to port 4791.
    RoceV2,
}

/// A filled place of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GidEntry {
    /// Its place.
    pub(crate) index: u32,
    /// The address; an IPv4 address as `::ffff:a.b.c.d`.
    pub(crate) gid: [u8; 16],
    /// The kind of its packets.
    pub(crate) kind: GidKind,
    /// The network interface that has the address, if this network namespace has that interface.
    pub(crate) netdev: Option<String>,
}

impl Context {
    /// All filled places of the table of `port`, by index.
    pub(crate) fn gids(&self, port: u8) -> Result<Vec<GidEntry>, VerbsError> {
        let len = self.port(port)?.gid_table_len;
        (0..len).filter_map(|index| self.gid(port, index).transpose()).collect()
    }

    /// The entry at `index` of the table of `port`, `None` if that place is empty.
    pub(crate) fn gid(&self, port: u8, index: u32) -> Result<Option<GidEntry>, VerbsError> {
        let Some(query) = self.library.symbols._ibv_query_gid_ex else {
            return self.gid_by_files(port, index);
        };
        let mut raw = ibv_gid_entry::zeroed();
        // SAFETY: the context is open, and `raw` is as large as we say.
        let returned = unsafe {
            query(self.context.as_ptr(), port.into(), index, &mut raw, 0, size_of::<ibv_gid_entry>())
        };
        match Errno::check(returned) {
            Ok(()) => {}
            // The first is what the library answers for an empty place, the others what some kernels and drivers do.
            Err(Errno::NODATA | Errno::AGAIN | Errno::NOENT) => return Ok(None),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return self.gid_by_files(port, index),
            Err(errno) => return Err(self.query_error(format!("GID {index} of port {port}"), errno)),
        }
        // SAFETY: any bytes are a GID.
        let gid = unsafe { raw.gid.raw };
        let kind = match raw.gid_type {
            IBV_GID_TYPE_IB => GidKind::InfiniBand,
            IBV_GID_TYPE_ROCE_V1 => GidKind::RoceV1,
            IBV_GID_TYPE_ROCE_V2 => GidKind::RoceV2,
            // Of a kind that is newer than this program: not one that it could speak from.
            _ => return Ok(None),
        };
        if gid == [0; 16] {
            return Ok(None);
        }
        let netdev = interface_name(raw.ndev_ifindex).or_else(|| self.gid_file(port, "ndevs", index));
        Ok(Some(GidEntry { index, gid, kind, netdev }))
    }

    /// As [`Context::gid`], for libraries before rdma-core 31.
    pub(super) fn gid_by_files(&self, port: u8, index: u32) -> Result<Option<GidEntry>, VerbsError> {
        let mut raw = ibv_gid { raw: [0; 16] };
        let place = i32::try_from(index).unwrap_or(i32::MAX);
        // SAFETY: the context is open, and `raw` is a GID.
        let returned =
            unsafe { (self.library.symbols.ibv_query_gid)(self.context.as_ptr(), port, place, &mut raw) };
        Errno::check(returned)
            .map_err(|errno| self.query_error(format!("GID {index} of port {port}"), errno))?;
        // SAFETY: any bytes are a GID.
        let gid = unsafe { raw.raw };
        if gid == [0; 16] {
            return Ok(None);
        }
        let link_layer = self.port(port)?.link_layer;
        // An empty place's file cannot be read, though the place may still have the port's default GID.
        let kind = self.gid_file(port, "types", index).and_then(|kind| kind_of(&kind, link_layer));
        let Some(kind) = kind else { return Ok(None) };
        Ok(Some(GidEntry { index, gid, kind, netdev: self.gid_file(port, "ndevs", index) }))
    }

    fn gid_file(&self, port: u8, what: &str, index: u32) -> Option<String> {
        let device = self.name();
        let path = format!("/sys/class/infiniband/{device}/ports/{port}/gid_attrs/{what}/{index}");
        let text = fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }
}

/// What the kernel's word for a GID's kind means: it does not tell InfiniBand from RoCE v1.
fn kind_of(text: &str, link_layer: LinkLayer) -> Option<GidKind> {
    match text {
        "RoCE v2" => Some(GidKind::RoceV2),
        "IB/RoCE v1" if link_layer == LinkLayer::Ethernet => Some(GidKind::RoceV1),
        "IB/RoCE v1" => Some(GidKind::InfiniBand),
        _ => None,
    }
}

/// The name of the interface with the number `index` in this network namespace; 0 stands for none.
fn interface_name(index: u32) -> Option<String> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice::index_to_name, socket_with};
    if index == 0 {
        return None;
    }
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    index_to_name(socket, index).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_words_become_kinds() {
        assert_eq!(kind_of("RoCE v2", LinkLayer::Ethernet), Some(GidKind::RoceV2));
        assert_eq!(kind_of("IB/RoCE v1", LinkLayer::Ethernet), Some(GidKind::RoceV1));
        assert_eq!(kind_of("IB/RoCE v1", LinkLayer::InfiniBand), Some(GidKind::InfiniBand));
        assert_eq!(kind_of("", LinkLayer::Ethernet), None);
    }

    #[test]
    fn interfaces_have_names() {
        assert_eq!(interface_name(0), None);
        assert_eq!(interface_name(u32::MAX), None);
        if let Some(index) =
            fs::read_to_string("/sys/class/net/lo/ifindex").ok().and_then(|n| n.trim().parse().ok())
        {
            assert_eq!(interface_name(index).as_deref(), Some("lo"));
        }
    }
}
