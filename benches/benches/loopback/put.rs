//! One-sided operations between two processes.

use benches::{Job, Work, bare_handoff};
use criterion::{BenchmarkId, Criterion, Throughput};
use transport_core::{Transport, wait::block_on};

const SIZES: [usize; 7] = [8, 64, 256, 4096, 65536, 1 << 20, 4 << 20];

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut job = Job::start(2).expect("two processes");
    put_quiet(criterion, &job);
    get_quiet(criterion, &job);
    ping_pong(criterion, &mut job);
}

fn put_quiet(criterion: &mut Criterion, job: &Job) {
    let mut group = criterion.benchmark_group("put_nbi + quiet");
    for bytes in SIZES {
        let (src, dst) = halves(job, bytes);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
            bencher.iter(|| {
                job.pe().put_nbi(dst, src, 1)?;
                block_on(job.pe().quiet())
            });
        });
    }
    group.finish();
    let (src, dst) = halves(job, 8);
    criterion.bench_function("put_nbi alone, 8", |bencher| bencher.iter(|| job.pe().put_nbi(dst, src, 1)));
}

fn get_quiet(criterion: &mut Criterion, job: &Job) {
    let mut group = criterion.benchmark_group("get_nbi + quiet");
    for bytes in SIZES {
        let (src, dst) = halves(job, bytes);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter(bytes), |bencher| {
            bencher.iter(|| {
                job.pe().get_nbi(dst, src, 1)?;
                block_on(job.pe().quiet())
            });
        });
    }
    group.finish();
}

/// The time of a round trip, beside that of a bare cache line.
fn ping_pong(criterion: &mut Criterion, job: &mut Job) {
    let mut group = criterion.benchmark_group("ping-pong, round trip");
    group.bench_function("bare cache line", |bencher| bencher.iter_custom(bare_handoff));
    for bytes in [0, 8, 64, 4096, 65536] {
        group.bench_function(BenchmarkId::new("put_signal", bytes), |bencher| {
            bencher.iter_custom(|rounds| job.time(Work::PingPong(bytes), rounds).expect("ping-pong"));
        });
    }
    group.finish();
}

fn halves(job: &Job, bytes: usize) -> (transport_core::SymSlice<u8>, transport_core::SymSlice<u8>) {
    let data = job.data();
    (data.slice(..bytes).expect("room"), data.slice(8 << 20..(8 << 20) + bytes).expect("room"))
}
