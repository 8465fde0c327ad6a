//! The hot path allocates nothing: counted by the allocator, over all threads.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use support::{Job, device, whole};
use transport_core::collectives::AllGatherAlgorithm::Auto;
use transport_core::graph::kernels::vector_add;
use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, HostBuffer, Stream};
use transport_core::wait::{block_on, prepare_thread};
use transport_core::{AtomicOp, Cmp, Result, SignalOp, Transport};
use transport_roce::Roce;

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

const WARM_UP: u64 = 20;
const ROUNDS: u64 = 100;
const EACH: usize = 16;

/// Allocations of the process while both PEs call everything that a loop may.
async fn calls(pe: &Roce) -> Result<u64> {
    let (near, far) = (pe.calloc::<u8>(64 << 10).await?, pe.calloc::<u8>(64 << 10).await?);
    let (words, signal) = (pe.calloc::<u64>(8).await?, pe.calloc::<u64>(1).await?);
    let (none, peer) = (near.slice(..0)?, 1 - pe.my_pe());
    let mut before = 0;
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            pe.barrier_all().await?;
            before = ALLOCATIONS.load(Ordering::Relaxed);
            pe.barrier_all().await?;
        }
        // In the request itself, one packet, many packets, a burst.
        for len in [8, 64, 4 << 10, 64 << 10] {
            pe.put_nbi(far.slice(..len)?, near.slice(..len)?, peer)?;
            pe.quiet().await?;
        }
        for place in 0..100 {
            pe.put_nbi(far.part(place % 64, 64)?, near.part(place % 64, 64)?, peer)?;
        }
        pe.fence()?;
        pe.get_nbi(near, far, peer)?;
        pe.quiet().await?;
        pe.put_nbi(far, near, pe.my_pe())?;
        pe.atomic(words.slice(..1)?, AtomicOp::Add(1), peer).await?;
        pe.atomic(words.slice(1..2)?, AtomicOp::Xor(1), peer).await?;
        pe.put_signal_nbi(far, near, signal, SignalOp::Add(1), peer)?;
        pe.signal_wait_until(signal, Cmp::Ge, 2 * round + 1).await?;
        pe.put_signal_nbi(none, none, signal, SignalOp::Set(2 * round + 2), peer)?;
        pe.signal_wait_until(signal, Cmp::Ge, 2 * round + 2).await?;
        pe.barrier_all().await?;
    }
    let after = ALLOCATIONS.load(Ordering::Relaxed);
    pe.barrier_all().await?;
    Ok(after - before)
}

/// Allocations of the process while both PEs launch and synchronize the reference's graph.
fn replay(pe: &Arc<Roce>) -> std::result::Result<u64, GraphError> {
    let (me, n, own) = (pe.my_pe(), pe.n_pes(), 10 + pe.my_pe() as i32);
    let (a, b) = (block_on(pe.calloc::<i32>(n * EACH))?, block_on(pe.calloc::<i32>(n * EACH))?);
    pe.heap().fill(a.part(me, n)?, own)?;
    pe.heap().fill(b.part(me, n)?, own)?;
    let (add, temp) = (DeviceBuffer::zeroed(n * EACH)?, DeviceBuffer::zeroed(n * EACH)?);
    add.slice(me * EACH..(me + 1) * EACH)?.fill(own);
    let (sum, host) = (DeviceBuffer::zeroed(n * EACH)?, HostBuffer::zeroed(n * EACH)?);
    let stream = Stream::create(Arc::clone(pe))?;
    let graph = stream.capture::<GraphError>(CaptureMode::ThreadLocal, |stream| {
        stream.launch_kernel(vector_add(&temp, a, &add))?;
        stream.memcpy_async(a, &temp)?;
        stream.all_gather_in_place(a, Auto)?;
        stream.all_gather_in_place(b, Auto)?;
        stream.launch_kernel(vector_add(&sum, a, b))
    })?;
    let mut before = 0;
    for round in 0..WARM_UP + ROUNDS {
        if round == WARM_UP {
            block_on(pe.barrier_all())?;
            before = ALLOCATIONS.load(Ordering::Relaxed);
            block_on(pe.barrier_all())?;
        }
        graph.launch(&stream)?;
        stream.memcpy_async(&host, &sum)?;
        stream.synchronize()?;
    }
    block_on(pe.barrier_all())?;
    let after = ALLOCATIONS.load(Ordering::Relaxed);
    block_on(pe.finalize())?;
    let rounds = (WARM_UP + ROUNDS) as i32;
    let expected: Vec<i32> = (0..n as i32).flat_map(|pe| [(10 + pe) * (2 + rounds); EACH]).collect();
    assert_eq!(host.read_vec(), expected);
    Ok(after - before)
}

/// One test: what another one allocates would count too.
#[test]
fn what_a_loop_may_call_allocates_nothing() {
    let Some(device) = device() else { return };
    for depth in ["1024", "16"] {
        let job = Job::new(&device, 2).set("SHMEM_ROCE_QUEUE_DEPTH", depth);
        let counts = whole(job.start(), async |pe| {
            prepare_thread();
            calls(pe).await.unwrap()
        });
        assert_eq!(counts, [0, 0], "queues of {depth}");
    }
    let pes = Job::new(&device, 2).start();
    let threads: Vec<_> =
        pes.into_iter().map(|pe| std::thread::spawn(move || replay(&Arc::new(pe)))).collect();
    let counts: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect();
    assert_eq!(counts, [0, 0], "a graph");
}
