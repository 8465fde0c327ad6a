//! Several threads of one PE in its transport at once. These start threads, which a simulation cannot allow.

use std::thread;

use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::{Random, mix};
use crate::error::Result;
use crate::transport::{AtomicOp, SignalOp, Transport};
use crate::wait::block_on;

use super::transfers::{piece_of, pieces};

const THREADS: usize = 4;

/// Runs `work` on several threads and answers the first error.
fn on_threads(work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..THREADS).map(|which| scope.spawn(move || work(which))).collect();
        // All are joined before the first error ends this: a thread left over would panic unseen.
        let results: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        results.into_iter().collect()
    })
}

/// Puts of several threads of each PE to every PE, completed by one barrier.
pub(in crate::conformance) async fn put_from_several_threads<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const ZONE: usize = 2048;
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(THREADS * ZONE).await?, job.alloc::<u8>(n * THREADS * ZONE).await?);
    for round in 0..job.rounds(10) {
        job.heap().write(src, &pattern(THREADS * ZONE, mix(&[me, round])))?;
        on_threads(|which| {
            let mut random = Random::new(mix(&[me, round, which]));
            let (from, to) = (src.part(which, THREADS)?, dst.part(me, n)?.part(which, THREADS)?);
            for distance in 0..n {
                for piece in pieces(&mut random, ZONE, 300) {
                    job.put_nbi(piece_of(to, piece)?, piece_of(from, piece)?, job.to_right(distance))?;
                }
                job.fence()?;
            }
            Ok(())
        })?;
        job.barrier_all().await?;
        for writer in 0..n {
            let found = job.heap().read_vec(dst.part(writer, n)?)?;
            let what = || format!("round {round}: what the threads of PE {writer} put");
            job.same_bytes(what, &pattern(THREADS * ZONE, mix(&[writer, round])), &found);
        }
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await
}

/// Put, quiet, get back, atomics and signals, on several threads of each PE; each finds its own bytes.
pub(in crate::conformance) async fn every_call_from_several_threads<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    const EACH: usize = 600;
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(THREADS * EACH).await?, job.alloc::<u8>(THREADS * EACH).await?);
    let (back, words) = (job.alloc::<u8>(THREADS * EACH).await?, job.calloc::<u64>(2).await?);
    let (counted, signalled) = (words.part(0, 2)?, words.part(1, 2)?);
    let rounds = job.rounds(30);
    let target = job.to_right(1);
    on_threads(|which| {
        let (from, to, back) =
            (src.part(which, THREADS)?, dst.part(which, THREADS)?, back.part(which, THREADS)?);
        for round in 0..rounds {
            let sent = pattern(EACH, mix(&[me, which, round]));
            job.heap().write(from, &sent)?;
            job.put_signal_nbi(to, from, signalled, SignalOp::Add(1), target)?;
            block_on(job.quiet())?;
            block_on(job.atomic(counted, AtomicOp::Add(1), target))?;
            job.get_nbi(back, to, target)?;
            block_on(job.quiet())?;
            let what = || format!("thread {which}, round {round}: fetched back");
            job.same_bytes(what, &sent, &job.heap().read_vec(back)?);
        }
        Ok(())
    })?;
    job.barrier_all().await?;
    let total = (THREADS * rounds) as u64;
    job.same(|| format!("atomics and signals of {n} PEs"), vec![total; 2], job.heap().read_vec(words)?);
    job.free(src).await?;
    job.free(dst).await?;
    job.free(back).await?;
    job.free(words).await
}
