//! The start of a job, to its first barrier.

use std::time::Duration;

use benches::BenchError;
use criterion::{BenchmarkId, Criterion, SamplingMode};

/// Makes a group beside those of the backend, which is the environment's.
pub(crate) fn benches(criterion: &mut Criterion) -> Result<(), BenchError> {
    let mut group = criterion.benchmark_group("start-up to first barrier");
    // A start takes milliseconds: the usual number of samples would take minutes.
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(2));
    for n_pes in [2, 8] {
        group.bench_function(BenchmarkId::new("PEs", n_pes), |bencher| {
            bencher.iter_custom(|rounds| {
                let all: Result<Duration, BenchError> = (0..rounds).map(|_| benches::start_up(n_pes)).sum();
                all.unwrap_or_else(|error| {
                    eprintln!("start-up of {n_pes} PEs failed: {error}");
                    std::process::exit(1)
                })
            });
        });
    }
    group.finish();
    Ok(())
}
