//! Benches of a backend: `cargo bench -p benches`; `SHMEM_BACKEND` and its kin choose which, and how.
//!
//! Jobs are processes, as in use; this program starts itself again for the other PEs.

mod collective;
mod put;
mod replay;
mod start_up;

use std::process::ExitCode;

use benches::{BenchError, Watch, Work};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

fn main() -> ExitCode {
    let done = benches::be_a_child().and_then(|child| if child { Ok(()) } else { run() });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("a PE of the bench failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), BenchError> {
    let mut criterion = Criterion::default().configure_from_args();
    put::benches(&mut criterion)?;
    collective::benches(&mut criterion)?;
    replay::benches(&mut criterion)?;
    start_up::benches(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

/// Benches one work in a group. After a failure the job is over, and so is this program: criterion could only go on with
/// times that mean nothing.
fn time(group: &mut BenchmarkGroup<'_, WallTime>, id: BenchmarkId, watch: &mut dyn Watch, work: Work) {
    group.bench_function(id, |bencher| {
        bencher.iter_custom(|rounds| {
            watch.time(work, rounds).unwrap_or_else(|error| {
                eprintln!("{work} failed: {error}");
                std::process::exit(1)
            })
        });
    });
}
