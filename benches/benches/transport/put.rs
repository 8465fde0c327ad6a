//! One-sided operations between two processes.

use benches::{BenchError, Kind, Watch, Work, bare_handoff};
use criterion::{BenchmarkId, Criterion, Throughput};

use crate::time;

const SIZES: [usize; 7] = [8, 64, 256, 4096, 65536, 1 << 20, 4 << 20];
const STREAM_SIZES: [usize; 3] = [8, 4096, 65536];
const PING_PONG_SIZES: [usize; 5] = [0, 8, 64, 4096, 65536];

pub(crate) fn benches(criterion: &mut Criterion) -> Result<(), BenchError> {
    criterion.bench_function("bare cache line, round trip", |bencher| bencher.iter_custom(bare_handoff));
    let largest = Work::new(Kind::PutQuiet, SIZES[SIZES.len() - 1])?;
    benches::with_job(2, &[largest], |watch| {
        by_size(criterion, watch, "put_nbi + quiet", Kind::PutQuiet)?;
        by_size(criterion, watch, "get_nbi + quiet", Kind::Get)?;
        message_rate(criterion, watch)?;
        ping_pong(criterion, watch)
    })
}

fn by_size(
    criterion: &mut Criterion,
    watch: &mut dyn Watch,
    name: &str,
    kind: Kind,
) -> Result<(), BenchError> {
    let mut group = criterion.benchmark_group(format!("{}/{name}", watch.backend()));
    for bytes in SIZES {
        group.throughput(Throughput::Bytes(bytes as u64));
        time(&mut group, BenchmarkId::from_parameter(bytes), watch, Work::new(kind, bytes)?);
    }
    group.finish();
    Ok(())
}

/// The call alone, and puts that nobody waits for until the end.
fn message_rate(criterion: &mut Criterion, watch: &mut dyn Watch) -> Result<(), BenchError> {
    let mut group = criterion.benchmark_group(format!("{}/message rate", watch.backend()));
    group.throughput(Throughput::Elements(1));
    time(&mut group, BenchmarkId::new("put_nbi alone", 8), watch, Work::new(Kind::Put, 8)?);
    for bytes in STREAM_SIZES {
        time(&mut group, BenchmarkId::new("stream", bytes), watch, Work::new(Kind::Stream, bytes)?);
    }
    group.finish();
    Ok(())
}

/// The time of a round trip, there and back.
fn ping_pong(criterion: &mut Criterion, watch: &mut dyn Watch) -> Result<(), BenchError> {
    let mut group = criterion.benchmark_group(format!("{}/ping-pong, round trip", watch.backend()));
    for (name, kind) in [("put", Kind::PingPong), ("put_signal", Kind::SignalPingPong)] {
        for bytes in PING_PONG_SIZES {
            // Without data there is no plain put.
            if let Ok(work) = Work::new(kind, bytes) {
                time(&mut group, BenchmarkId::new(name, bytes), watch, work);
            }
        }
    }
    group.finish();
    Ok(())
}
