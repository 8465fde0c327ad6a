//! Models of the table's readers against its writer. See `crate::loom_models`.

use std::sync::Arc;

use super::*;
use crate::model_run::{explore, must_fail};
use crate::sync::atomic::AtomicU64;
use crate::sync::thread;

fn pack(key: AllocKey) -> u64 {
    u64::from(key.slot) << 32 | u64::from(key.generation)
}

fn unpack(word: u64) -> Option<AllocKey> {
    (word != 0).then_some(AllocKey { slot: (word >> 32) as u32, generation: word as u32 })
}

/// A thread allocates, frees, and allocates again in the same slot, and tells the other of each step with `tell`. The other
/// finds live what it was told of, and no longer what it was told is gone.
fn readers_and_a_writer(tell: Ordering) {
    let (table, mut writer) = LiveTable::new(7);
    let first = table.insert(&mut writer).unwrap();
    let shared = Arc::new((table, AtomicU64::new(0), AtomicU64::new(0)));
    let theirs = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let (table, gone, second) = &*theirs;
        assert!(table.remove(&mut writer, first));
        gone.store(1, tell);
        let key = table.insert(&mut writer).unwrap();
        assert_eq!(key.slot, first.slot);
        second.store(pack(key), tell);
    });
    let (table, gone, second) = &*shared;
    // At first it is live, and once seen gone it is never live again, whatever lives in the slot.
    let alive = table.contains(first);
    assert!(alive || !table.contains(first), "a freed allocation lives again");
    if gone.load(Ordering::Acquire) != 0 {
        assert!(!table.contains(first), "a freed allocation is taken for live");
    }
    if let Some(key) = unpack(second.load(Ordering::Acquire)) {
        assert!(table.contains(key), "a live allocation is not found");
        assert!(!table.contains(first), "a freed allocation is taken for live");
    }
    assert!(table.contains(table.system()));
    thread.join().unwrap();
}

#[test]
fn who_was_told_sees_what_is_live() {
    explore("the live table, 1 writer, 1 reader", None, || readers_and_a_writer(Ordering::Release));
}

#[test]
fn mutant_that_tells_without_order_is_found() {
    must_fail("a live allocation is not found", || readers_and_a_writer(Ordering::Relaxed));
}
