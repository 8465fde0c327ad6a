//! One transfer of more than 2^31 and one of more than 2^32 bytes: lengths are never cut to 32 bits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use transport_core::wait::block_on;
use transport_core::{SymSlice, Transport};
use transport_loopback::{Loopback, Threads};

/// Bytes that the machine could still give.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Puts all of `src` to `dst` of PE 1 and gets it back: the ends and some places around the powers of two arrive, and the
/// byte after the end does not change.
fn there_and_back(pe: &Loopback, src: SymSlice<u8>, dst: SymSlice<u8>) {
    let len = src.len();
    let mut marks: Vec<usize> = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, len - 1]
        .into_iter()
        .filter(|&at| at < len)
        .collect();
    marks.dedup();
    let one = |slice: SymSlice<u8>, at: usize| slice.slice(at..=at).unwrap();
    for (i, &at) in marks.iter().enumerate() {
        pe.heap().write(one(src, at), &[i as u8 + 1]).unwrap();
    }
    pe.put_nbi(dst.slice(..len).unwrap(), src, 1).unwrap();
    block_on(pe.quiet()).unwrap();
    for &at in &marks {
        pe.heap().write(one(src, at), &[0]).unwrap();
    }
    pe.get_nbi(src, dst.slice(..len).unwrap(), 1).unwrap();
    block_on(pe.quiet()).unwrap();
    for (i, &at) in marks.iter().enumerate() {
        assert_eq!(pe.heap().read_vec(one(src, at)).unwrap(), [i as u8 + 1], "byte {at} of {len}");
    }
}

#[test]
fn more_than_four_gib_arrive() {
    // The source stays mostly untouched before the get; both are whole after it.
    let len = (1_usize << 32) + 4097;
    let needed = 2 * len as u64 + (1 << 30);
    if available() < needed {
        eprintln!("not run: {needed} bytes of memory are needed, {} are available", available());
        return;
    }
    let pes = Threads::new(2).heap_size(2 * len as u64 + 8192).start().unwrap();
    let alloc = |pe: &Loopback| {
        block_on(async {
            transport_core::Result::Ok((pe.alloc::<u8>(len).await?, pe.alloc::<u8>(len + 1).await?))
        })
    };
    let (src, dst) = std::thread::scope(|scope| {
        let other = scope.spawn(|| alloc(&pes[1]));
        let mine = alloc(&pes[0]).unwrap();
        assert_eq!(other.join().unwrap().unwrap(), mine);
        mine
    });
    let small = (1 << 31) + 1;
    there_and_back(&pes[0], src.slice(..small).unwrap(), dst);
    there_and_back(&pes[0], src, dst);
    let after = dst.slice(len..).unwrap();
    pes[0].get_nbi(src.slice(..1).unwrap(), after, 1).unwrap();
    assert_eq!(pes[0].heap().read_vec(src.slice(..1).unwrap()).unwrap(), [0]);
}
