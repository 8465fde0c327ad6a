//! `barrier_all` and the AllGather, by PE count and size.

use benches::{BenchError, Kind, Work};
use criterion::{BenchmarkId, Criterion};

use crate::time;

const SIZES: [usize; 4] = [64, 4096, 65536, 1 << 20];

pub(crate) fn benches(criterion: &mut Criterion) -> Result<(), BenchError> {
    let largest = Work::new(Kind::AllGather, SIZES[SIZES.len() - 1])?;
    for n_pes in [2, 4, 8] {
        benches::with_job(n_pes, &[largest], |watch| {
            let mut group = criterion.benchmark_group(format!("{}/{n_pes} PEs", watch.backend()));
            let barrier = Work::new(Kind::Barrier, 0)?;
            time(&mut group, BenchmarkId::from_parameter("barrier_all"), watch, barrier);
            for bytes in SIZES {
                let work = Work::new(Kind::AllGather, bytes)?;
                time(&mut group, BenchmarkId::new("all_gather", bytes), watch, work);
            }
            group.finish();
            Ok(())
        })?;
    }
    Ok(())
}
