//! A captured graph, replayed.

use std::sync::Arc;

use benches::{Job, Work};
use criterion::{BenchmarkId, Criterion};
use transport_core::graph::{CaptureMode, DeviceBuffer, InlineQueue, Stream};
use transport_core::wait::block_on;
use transport_loopback::Threads;

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replay");
    empty_nodes(&mut group);
    for n_pes in [2, 4, 8] {
        let mut job = Job::start(n_pes).expect("processes");
        for bytes in [64, 4096, 65536] {
            group.bench_function(BenchmarkId::new(format!("reference job, {n_pes} PEs"), bytes), |bencher| {
                bencher.iter_custom(|rounds| job.time(Work::Replay(bytes), rounds).expect("replay"));
            });
        }
    }
    group.finish();
}

/// What a replay costs beside its work: a hundred copies of nothing.
fn empty_nodes(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
    let pe = Arc::new(Threads::new(1).heap_size(1 << 20).start().expect("a PE").remove(0));
    let stream = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe)));
    let (to, from) =
        (DeviceBuffer::<u8>::zeroed(0).expect("room"), DeviceBuffer::<u8>::zeroed(0).expect("room"));
    stream.capture_begin(CaptureMode::Relaxed).expect("capture");
    for _ in 0..100 {
        stream.memcpy_async(&to, &from).expect("a node");
    }
    let graph = stream.capture_end().expect("a graph");
    group.throughput(criterion::Throughput::Elements(100));
    group.bench_function("100 empty nodes", |bencher| bencher.iter(|| block_on(graph.run(&*pe))));
    // A rate of nodes means nothing for what follows.
    group.throughput(criterion::Throughput::Elements(1));
}
