//! The hot path allocates nothing: counted by the allocator.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use transport_core::wait::{block_on, prepare_thread};
use transport_core::{AtomicOp, Cmp, SignalOp, Transport};
use transport_loopback::Threads;

/// Counts what the whole process allocates.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn puts_quiets_signals_and_barriers_allocate_nothing() {
    let pes = Threads::new(2).heap_size(1 << 20).start().unwrap();
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = pes
            .iter()
            .map(|pe| {
                scope.spawn(move || {
                    prepare_thread();
                    block_on(async {
                        let data = pe.calloc::<u64>(64).await?;
                        let signal = pe.calloc::<u64>(1).await?;
                        let peer = 1 - pe.my_pe();
                        let mut before = 0;
                        for round in 0..2000 {
                            // The first rounds are for what is made once.
                            if round == 100 {
                                pe.barrier_all().await?;
                                before = ALLOCATIONS.load(Ordering::Relaxed);
                                pe.barrier_all().await?;
                            }
                            pe.put_nbi(data.slice(..1)?, data.slice(1..2)?, peer)?;
                            pe.put_nbi(data.slice(8..40)?, data.slice(16..48)?, peer)?;
                            pe.get_nbi(data.slice(2..3)?, data.slice(1..2)?, peer)?;
                            pe.fence()?;
                            pe.quiet().await?;
                            pe.atomic(data.slice(50..51)?, AtomicOp::Add(1), peer).await?;
                            pe.put_signal_nbi(
                                data.slice(..0)?,
                                data.slice(..0)?,
                                signal,
                                SignalOp::Add(1),
                                peer,
                            )?;
                            pe.signal_wait_until(signal, Cmp::Ge, round + 1).await?;
                            pe.barrier_all().await?;
                        }
                        let after = ALLOCATIONS.load(Ordering::Relaxed);
                        pe.barrier_all().await?;
                        transport_core::Result::Ok(after - before)
                    })
                    .unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(counts, [0, 0]);
}
