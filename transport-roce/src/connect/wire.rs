//! What the PEs tell each other before they can write into each other's memory.

use std::net::SocketAddr;

use bytes::{Buf, BufMut, Bytes};
use transport_core::host::ProcessorSet;

/// Changes whenever what is sent, or the layout of the registered memory, does.
pub(crate) const VERSION: u8 = 3;

/// What a PE says of itself and its NIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// The host's name for people.
    pub(crate) host: String,
    /// The host, told from all others.
    pub(crate) boot: String,
    /// The NIC.
    pub(crate) device: String,
    pub(crate) port: u8,
    pub(crate) gid: [u8; 16],
    /// 0 InfiniBand, 1 RoCE v1, 2 RoCE v2.
    pub(crate) gid_kind: u8,
    pub(crate) mtu: u32,
    /// Reads and atomics that it answers at a time.
    pub(crate) reads: u8,
    /// Queue pairs to each peer.
    pub(crate) per_peer: u8,
    /// Whether peers are connected on first use.
    pub(crate) first_use: bool,
    /// Whether its NIC is the kernel's own work.
    pub(crate) software: bool,
    /// Where it may run.
    pub(crate) processors: ProcessorSet,
    /// A random number; that of PE 0 is the job's.
    pub(crate) token: u64,
}

/// What a PE offers the others to write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Where its heap begins.
    pub(crate) address: u64,
    /// The key to it.
    pub(crate) rkey: u32,
    /// Where it answers who connects later.
    pub(crate) listener: Option<SocketAddr>,
    /// For each link of each peer: the number and the first packet number of the queue pair that it has for it; 0 without one.
    pub(crate) ends: Vec<End>,
}

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct End {
    pub(crate) qp: u32,
    pub(crate) psn: u32,
}

impl End {
    pub(crate) const LEN: usize = 8;

    pub(crate) fn write(self, to: &mut impl BufMut) {
        to.put_u32_le(self.qp);
        to.put_u32_le(self.psn);
    }

    pub(crate) fn read(from: &mut impl Buf) -> Option<Self> {
        Some(Self { qp: from.try_get_u32_le().ok()?, psn: from.try_get_u32_le().ok()? })
    }
}

impl Introduction {
    pub(crate) fn encode(&self) -> Bytes {
        let mut to = vec![VERSION];
        for text in [&self.host, &self.boot, &self.device] {
            put_text(&mut to, text);
        }
        to.put_u8(self.port);
        to.put_slice(&self.gid);
        to.put_u8(self.gid_kind);
        to.put_u32_le(self.mtu);
        to.put_u8(self.reads);
        to.put_u8(self.per_peer);
        to.put_u8(self.first_use.into());
        to.put_u8(self.software.into());
        let processors = self.processors.encode();
        to.put_u8(processors.len() as u8);
        to.put_slice(&processors);
        to.put_u64_le(self.token);
        to.into()
    }

    /// `None` if it is none of this version.
    pub(crate) fn decode(mut from: &[u8]) -> Option<Self> {
        if from.try_get_u8().ok()? != VERSION {
            return None;
        }
        let read = Self {
            host: get_text(&mut from)?,
            boot: get_text(&mut from)?,
            device: get_text(&mut from)?,
            port: from.try_get_u8().ok()?,
            gid: {
                let mut gid = [0; 16];
                from.try_copy_to_slice(&mut gid).ok()?;
                gid
            },
            gid_kind: from.try_get_u8().ok()?,
            mtu: from.try_get_u32_le().ok()?,
            reads: from.try_get_u8().ok()?,
            per_peer: from.try_get_u8().ok()?,
            first_use: from.try_get_u8().ok()? != 0,
            software: from.try_get_u8().ok()? != 0,
            processors: {
                let len = usize::from(from.try_get_u8().ok()?);
                let (processors, rest) = from.split_at_checked(len)?;
                from = rest;
                ProcessorSet::decode(processors)?
            },
            token: from.try_get_u64_le().ok()?,
        };
        from.is_empty().then_some(read)
    }
}

impl Offer {
    pub(crate) fn encode(&self) -> Bytes {
        let mut to = Vec::with_capacity(64 + self.ends.len() * End::LEN);
        to.put_u64_le(self.address);
        to.put_u32_le(self.rkey);
        put_text(&mut to, &self.listener.map(|address| address.to_string()).unwrap_or_default());
        self.ends.iter().for_each(|end| end.write(&mut to));
        to.into()
    }

    /// `None` if it is not one for `links` links.
    pub(crate) fn decode(mut from: &[u8], links: usize) -> Option<Self> {
        let address = from.try_get_u64_le().ok()?;
        let rkey = from.try_get_u32_le().ok()?;
        let listener = get_text(&mut from)?;
        let listener = if listener.is_empty() { None } else { Some(listener.parse().ok()?) };
        if from.len() != links.checked_mul(End::LEN)? {
            return None;
        }
        let ends = (0..links).map(|_| End::read(&mut from)).collect::<Option<_>>()?;
        Some(Self { address, rkey, listener, ends })
    }
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    // Cut in the middle of a letter it is still no more than a name for people.
    let text = &text.as_bytes()[..text.len().min(255)];
    to.put_u8(text.len() as u8);
    to.put_slice(text);
}

fn get_text(from: &mut &[u8]) -> Option<String> {
    let len = usize::from(from.try_get_u8().ok()?);
    let (text, rest) = from.split_at_checked(len)?;
    *from = rest;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn introduction() -> Introduction {
        Introduction {
            host: "node-a".into(),
            boot: "1234".into(),
            device: "rxe_0".into(),
            port: 1,
            gid: [7; 16],
            gid_kind: 2,
            mtu: 1024,
            reads: 16,
            per_peer: 1,
            first_use: true,
            software: false,
            processors: ProcessorSet::of_this_process(),
            token: u64::MAX - 5,
        }
    }

    fn offer(links: usize) -> Offer {
        let end = |i| End { qp: i as u32, psn: 0x00FF_FFFF - i as u32 };
        let listener = Some("[fe80::1]:80".parse().unwrap());
        Offer { address: u64::MAX, rkey: 9, listener, ends: (0..links).map(end).collect() }
    }

    #[test]
    fn what_is_said_is_heard() {
        assert_eq!(Introduction::decode(&introduction().encode()), Some(introduction()));
        for links in [0, 1, 8, 1000] {
            assert_eq!(Offer::decode(&offer(links).encode(), links), Some(offer(links)));
            assert_eq!(Offer::decode(&offer(links).encode(), links + 1), None);
        }
        let silent = Offer { listener: None, ..offer(3) };
        assert_eq!(Offer::decode(&silent.encode(), 3), Some(silent));
    }

    #[test]
    fn another_version_and_what_is_cut_are_refused() {
        let good = introduction().encode();
        let mut other = good.to_vec();
        other[0] += 1;
        assert_eq!(Introduction::decode(&other), None);
        for len in 0..good.len() {
            assert_eq!(Introduction::decode(&good[..len]), None);
        }
        let long = "x".repeat(300);
        let cut = Introduction::decode(&Introduction { host: long, ..introduction() }.encode()).unwrap();
        assert_eq!(cut.host.len(), 255);
    }

    proptest! {
        #[test]
        fn rubbish_is_no_panic(bytes: Vec<u8>, links in 0..10_usize) {
            let _ = Introduction::decode(&bytes);
            let _ = Offer::decode(&bytes, links);
        }
    }
}
