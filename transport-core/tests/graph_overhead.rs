//! What a node costs beside its work. A measurement, not a check:
//! `cargo test --release -p transport-core --test graph_overhead -- --ignored --nocapture`.

use std::sync::Arc;
use std::time::Instant;

use transport_core::graph::kernels::vector_add;
use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, Stream};
use transport_core::wait::block_on;
use transport_loopback::{Loopback, Threads};

#[test]
#[ignore = "measures"]
fn nanoseconds_per_node() {
    const NODES: usize = 1000;
    const LAUNCHES: usize = 500;
    let pe = Arc::new(Threads::new(1).heap_size(1 << 20).start().unwrap().remove(0));
    let stream = Stream::create(Arc::clone(&pe)).unwrap();
    let (a, b) = (DeviceBuffer::<u64>::zeroed(16).unwrap(), DeviceBuffer::<u64>::zeroed(16).unwrap());
    let none = a.slice(..0).unwrap();
    type Enqueue<'a> = &'a dyn Fn(&Stream<Loopback>) -> Result<(), GraphError>;
    let kinds: [(&str, Enqueue<'_>); 5] = [
        ("empty host function", &|s| s.launch_host_func(|| {})),
        ("copy of 0 B", &|s| s.memcpy_async(&none, &none)),
        ("copy of 128 B", &|s| s.memcpy_async(&a, &b)),
        ("vector_add of 0", &|s| s.launch_kernel(vector_add(&none, &none, &none))),
        ("vector_add of 16 u64", &|s| s.launch_kernel(vector_add(&a, &a, &b))),
    ];
    for (name, enqueue) in kinds {
        let graph = stream
            .capture::<GraphError>(CaptureMode::Relaxed, |s| (0..NODES).try_for_each(|_| enqueue(s)))
            .unwrap();
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            graph.launch(&stream).unwrap();
        }
        stream.synchronize().unwrap();
        let by_stream = start.elapsed();
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            block_on(graph.run(&*pe)).unwrap();
        }
        let by_future = start.elapsed();
        let each = |time: std::time::Duration| time.as_nanos() as f64 / (NODES * LAUNCHES) as f64;
        println!("{name:22} stream {:6.1} ns, future {:6.1} ns a node", each(by_stream), each(by_future));
    }
    let graph = stream.capture::<GraphError>(CaptureMode::Relaxed, |s| s.launch_host_func(|| {})).unwrap();
    let start = Instant::now();
    for _ in 0..100_000 {
        graph.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    println!("launch of 1 node: {:.1} ns each, in a row", start.elapsed().as_nanos() as f64 / 1e5);
    let start = Instant::now();
    for _ in 0..20_000 {
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
    }
    println!("launch + synchronize: {:.1} ns", start.elapsed().as_nanos() as f64 / 2e4);
}
