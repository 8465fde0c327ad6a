//! `barrier_all` and the AllGather, by PE count and size; and the AllGather by each algorithm.

use benches::{BenchError, Kind, Work};
use criterion::{BenchmarkId, Criterion};
use transport_core::collectives::AllGatherAlgorithm;

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
    benches::with_job(2, &[largest], |watch| {
        let name = format!("{}/all_gather by algorithm, 2 PEs", watch.backend());
        let mut group = criterion.benchmark_group(name);
        for (algorithm, name) in AllGatherAlgorithm::ALL {
            for bytes in SIZES {
                let work = Work::new(Kind::AllGather, bytes)?.with_algorithm(algorithm);
                // What has no room for the size would be measured as another.
                if algorithm == AllGatherAlgorithm::Auto || watch.gathers_by(work)? == Some(algorithm) {
                    time(&mut group, BenchmarkId::new(name, bytes), watch, work);
                }
            }
        }
        group.finish();
        Ok(())
    })
}
