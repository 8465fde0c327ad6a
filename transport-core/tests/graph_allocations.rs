//! A replay allocates nothing: counted by the allocator, over all threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use transport_core::collectives::AllGatherAlgorithm::Auto;
use transport_core::graph::kernels::vector_add;
use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, HostBuffer, Stream};
use transport_core::{Transport, wait::block_on};
use transport_loopback::{Loopback, Threads};

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

const EACH: usize = 16;
const WARM_UP: usize = 3;
const LAUNCHES: usize = 1000;

/// Allocations of the process while both PEs launch and synchronize.
fn replay(pe: Arc<Loopback>) -> Result<u64, GraphError> {
    let (me, n, own) = (pe.my_pe(), pe.n_pes(), 10 + pe.my_pe() as i32);
    let (a, b) = (block_on(pe.calloc::<i32>(n * EACH))?, block_on(pe.calloc::<i32>(n * EACH))?);
    pe.heap().fill(a.part(me, n)?, own)?;
    pe.heap().fill(b.part(me, n)?, own)?;
    let (add, temp) = (DeviceBuffer::zeroed(n * EACH)?, DeviceBuffer::zeroed(n * EACH)?);
    add.slice(me * EACH..(me + 1) * EACH)?.fill(own);
    let (sum, host) = (DeviceBuffer::zeroed(n * EACH)?, HostBuffer::zeroed(n * EACH)?);
    let stream = Stream::create(Arc::clone(&pe))?;
    let graph = stream.capture::<GraphError>(CaptureMode::ThreadLocal, |stream| {
        stream.launch_kernel(vector_add(&temp, a, &add))?;
        stream.memcpy_async(a, &temp)?;
        stream.all_gather_in_place(a, Auto)?;
        stream.all_gather_in_place(b, Auto)?;
        stream.launch_kernel(vector_add(&sum, a, b))
    })?;
    for _ in 0..WARM_UP {
        graph.launch(&stream)?;
        stream.memcpy_async(&host, &sum)?;
        stream.synchronize()?;
    }
    block_on(pe.barrier_all())?;
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    block_on(pe.barrier_all())?;
    // Half of them one by one, with a copy outside of the graph as the reference has it; half of them in one go.
    for _ in 0..LAUNCHES / 2 {
        graph.launch(&stream)?;
        stream.memcpy_async(&host, &sum)?;
        stream.synchronize()?;
    }
    for _ in 0..LAUNCHES / 2 {
        graph.launch(&stream)?;
    }
    stream.synchronize()?;
    block_on(pe.barrier_all())?;
    let after = ALLOCATIONS.load(Ordering::Relaxed);
    block_on(pe.finalize())?;
    let round = (WARM_UP + LAUNCHES - 1) as i32;
    let expected: Vec<i32> = (0..n as i32).flat_map(|pe| [(10 + pe) * (3 + round); EACH]).collect();
    assert_eq!(sum.read_vec(), expected);
    Ok(after - before)
}

#[test]
fn a_thousand_launches_allocate_nothing() {
    let pes = Threads::new(2).heap_size(1 << 20).start().unwrap();
    let threads: Vec<_> =
        pes.into_iter().map(|pe| std::thread::spawn(move || replay(Arc::new(pe)))).collect();
    let counts: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect();
    assert_eq!(counts, [0, 0]);
}
