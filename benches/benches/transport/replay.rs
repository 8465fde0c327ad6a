//! A captured graph, replayed.

use benches::{BenchError, Kind, Work};
use criterion::{BenchmarkId, Criterion, Throughput};

use crate::time;

const SIZES: [usize; 3] = [64, 4096, 65536];

pub(crate) fn benches(criterion: &mut Criterion) -> Result<(), BenchError> {
    let empty = Work::new(Kind::EmptyNodes, 0)?;
    benches::with_job(1, &[empty], |watch| {
        let mut group = criterion.benchmark_group(format!("{}/replay", watch.backend()));
        group.throughput(Throughput::Elements(100));
        time(&mut group, BenchmarkId::from_parameter("100 empty nodes"), watch, empty);
        group.finish();
        Ok(())
    })?;
    let largest = Work::new(Kind::Replay, SIZES[SIZES.len() - 1])?;
    for n_pes in [2, 4, 8] {
        benches::with_job(n_pes, &[largest], |watch| {
            let name = format!("{}/replay of the reference job, {n_pes} PEs", watch.backend());
            let mut group = criterion.benchmark_group(name);
            for bytes in SIZES {
                time(&mut group, BenchmarkId::from_parameter(bytes), watch, Work::new(Kind::Replay, bytes)?);
            }
            group.finish();
            Ok(())
        })?;
    }
    Ok(())
}
