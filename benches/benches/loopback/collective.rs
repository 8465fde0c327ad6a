//! `barrier_all` and the AllGather, by PE count and size.

use benches::{Job, Work};
use criterion::{BenchmarkId, Criterion};

pub(crate) fn benches(criterion: &mut Criterion) {
    for n_pes in [2, 4, 8] {
        let mut job = Job::start(n_pes).expect("processes");
        let mut group = criterion.benchmark_group(format!("{n_pes} PEs"));
        let mut bench = |name, work| {
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|rounds| job.time(work, rounds).expect("collective"));
            });
        };
        bench(BenchmarkId::from_parameter("barrier_all"), Work::Barrier);
        for bytes in [64, 4096, 65536, 1 << 20] {
            bench(BenchmarkId::new("all_gather", bytes), Work::AllGather(bytes));
        }
        group.finish();
    }
}
