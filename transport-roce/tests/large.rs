//! Puts and gets that are longer than the largest message of the device, which is 8 MiB on Soft-RoCE.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod support;

use support::{Job, device, whole};
use transport_core::{Result, SymSlice, Transport};
use transport_roce::Roce;

const MIB: usize = 1 << 20;
const MESSAGE: usize = 8 * MIB;

/// Bytes that the machine could still give.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// What is sent: each MiB differs from the others, and from itself when shifted.
struct Content(Vec<u8>);

impl Content {
    fn new() -> Self {
        Self((0..MIB).map(|i| (i ^ i >> 8 ^ i >> 16) as u8).collect())
    }

    /// The MiB with number `i`.
    fn piece(&mut self, i: usize) -> &[u8] {
        self.0[..8].copy_from_slice(&(i as u64 ^ 0x5A5A_0000_0000_5A5A).to_le_bytes());
        &self.0
    }

    fn write(&mut self, pe: &Roce, to: SymSlice<u8>) -> Result<()> {
        for (i, at) in (0..to.len()).step_by(MIB).enumerate() {
            let len = MIB.min(to.len() - at);
            pe.heap().write(to.slice(at..at + len)?, &self.piece(i)[..len])?;
        }
        Ok(())
    }

    /// Where `from` differs, if it does.
    fn difference(&mut self, pe: &Roce, from: SymSlice<u8>) -> Result<Option<usize>> {
        let mut found = vec![0; MIB];
        for (i, at) in (0..from.len()).step_by(MIB).enumerate() {
            let len = MIB.min(from.len() - at);
            pe.heap().read(from.slice(at..at + len)?, &mut found[..len])?;
            let expected = &self.piece(i)[..len];
            if &found[..len] != expected {
                return Ok(found.iter().zip(expected).position(|(a, b)| a != b).map(|byte| at + byte));
            }
        }
        Ok(None)
    }
}

/// One put over many messages.
#[test]
fn hundreds_of_mib_arrive() {
    let Some(device) = device() else { return };
    let most = 300 * MIB + 4097;
    // Both PEs are on this machine, and something must be left.
    let len = most.min((available() / 3) as usize);
    if len < 3 * MESSAGE {
        eprintln!("not run: only {} bytes of memory are available", available());
        return;
    }
    eprintln!("{len} bytes");
    let pes = Job::new(&device, 2).heap(len as u64 + 8192).start();
    whole(pes, async |pe| {
        let all = pe.alloc::<u8>(len).await.unwrap();
        let mut content = Content::new();
        // The other PE has none of it: no MiB of it is all zeros.
        if pe.my_pe() == 0 {
            content.write(pe, all).unwrap();
            pe.put_nbi(all, all, 1).unwrap();
        }
        pe.barrier_all().await.unwrap();
        if pe.my_pe() == 1 {
            assert_eq!(content.difference(pe, all).unwrap(), None);
        }
    });
}

/// Around one and three messages, at odd places, by one queue pair and by several; the bytes beside do not change.
#[test]
fn lengths_around_the_largest_message() {
    let Some(device) = device() else { return };
    let lengths = [MESSAGE - 1, MESSAGE, MESSAGE + 1, 3 * MESSAGE + 5];
    let room = 3 * MESSAGE + 2 * MIB;
    for (pairs, depth) in [("1", "1024"), ("3", "16")] {
        let job = Job::new(&device, 2).heap(2 * room as u64 + 8192);
        let pes = job.set("SHMEM_ROCE_QPS", pairs).set("SHMEM_ROCE_QUEUE_DEPTH", depth).start();
        whole(pes, async |pe| {
            let (near, far) = (pe.alloc::<u8>(room).await.unwrap(), pe.alloc::<u8>(room).await.unwrap());
            for (i, len) in lengths.into_iter().enumerate() {
                let (at, there) = ([1, 4095, 0, 63][i], [3, 0, 4097, 1][i]);
                let (src, dst) = (near.slice(at..at + len).unwrap(), far.slice(there..there + len).unwrap());
                let (near_edges, far_edges) = (edges(near, at, len), edges(far, there, len));
                let mut content = Content::new();
                for edge in near_edges.into_iter().chain(far_edges) {
                    pe.heap().fill(edge, 0xEE).unwrap();
                }
                pe.barrier_all().await.unwrap();
                // One puts, then gets it back to another place.
                if pe.my_pe() == i % 2 {
                    let other = 1 - pe.my_pe();
                    content.write(pe, src).unwrap();
                    pe.put_nbi(dst, src, other).unwrap();
                    pe.quiet().await.unwrap();
                    pe.get_nbi(dst, dst, other).unwrap();
                    pe.quiet().await.unwrap();
                }
                pe.barrier_all().await.unwrap();
                assert_eq!(content.difference(pe, dst).unwrap(), None, "PE {}, {len} bytes", pe.my_pe());
                for edge in near_edges.into_iter().chain(far_edges) {
                    let same = pe.heap().read_vec(edge).unwrap().iter().all(|&byte| byte == 0xEE);
                    assert!(same, "PE {}: beside {len} bytes, in {edge:?}", pe.my_pe());
                }
                // Nothing of it is left for the next.
                pe.heap().fill(dst, 0).unwrap();
                pe.barrier_all().await.unwrap();
            }
        });
    }
}

/// The bytes of `all` just before and just after the `len` from `at` on.
fn edges(all: SymSlice<u8>, at: usize, len: usize) -> [SymSlice<u8>; 2] {
    let end = at + len;
    [all.slice(at.saturating_sub(4096)..at).unwrap(), all.slice(end..end + 4096).unwrap()]
}
