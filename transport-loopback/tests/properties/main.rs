//! Random programs against what they mean: a sequential model of memory, AllGather's definition, a model of the heap.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

mod all_gather;
mod heap;
mod memory;
mod plan;

use std::future::Future;
use std::time::Duration;

use proptest::test_runner::Config;
use transport_core::Transport;
use transport_core::wait::block_on;
use transport_loopback::{Loopback, Threads};

/// What a PE says when the world is not as its model.
type Verdict = Result<(), String>;

/// `PROPTEST_CASES` if set, or else `cases`.
fn config(cases: u32) -> Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    // The smallest failing input is printed; there is no file to keep it in.
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Runs `work` on each PE of a new job, on threads; the first complaint of a PE is the verdict.
///
/// A PE that complains is dropped at once, which ends the waits of the others.
fn on_pes<F: Future<Output = Result<Verdict, transport_core::Error>>>(
    n: usize,
    work: impl Fn(Loopback) -> F + Sync,
) -> Verdict {
    let pes = Threads::new(n).heap_size(4 << 20).timeout(Duration::from_secs(10)).start().unwrap();
    let work = &work;
    let mut verdicts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = pes.into_iter().map(|pe| scope.spawn(move || block_on(work(pe)))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // What a model contradicts says more than the errors of those who then wait in vain.
    verdicts.sort_by_key(|verdict| !matches!(verdict, Ok(Err(_))));
    verdicts.into_iter().try_for_each(|verdict| verdict.unwrap_or_else(|error| Err(error.to_string())))
}

/// The end of each job.
async fn end(pe: Loopback) -> Result<Verdict, transport_core::Error> {
    pe.finalize().await?;
    Ok(Ok(()))
}
