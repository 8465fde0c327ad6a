//! A wait that is dropped half way leaves the transport usable: the next call resumes it.

use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::{Random, mix};
use crate::conformance::turn::{poll_once, yield_now};
use crate::error::Result;
use crate::transport::{AtomicOp, Cmp, SignalOp, Transport};

/// A barrier, now and then after a few that are dropped; a dropped one that was complete counts.
async fn barrier<X: Transport>(job: &Job<'_, X>, random: &mut Random) -> Result<()> {
    if random.once_in(2) {
        for _ in 0..1 + random.below(3) {
            if let Some(complete) = poll_once(job.barrier_all(), random.once_in(2)).await {
                return complete;
            }
            if random.once_in(2) {
                yield_now().await;
            }
        }
    }
    job.barrier_all().await
}

/// Barriers dropped on a random part of the PEs: each round is still one barrier.
pub(in crate::conformance) async fn cancelled_barrier_is_resumed<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    const LEN: usize = 2000;
    let (me, n) = (job.my_pe(), job.n_pes());
    let src = job.alloc::<u8>(2 * LEN).await?;
    let (dst, entered) = (job.alloc::<u8>(2 * n * LEN).await?, job.calloc::<u64>(1).await?);
    let mut random = job.own_random();
    for round in 0..job.rounds(150) {
        let part = src.part(round % 2, 2)?;
        let places = dst.part(round % 2, 2)?;
        job.heap().write(part, &pattern(LEN, mix(&[me, round])))?;
        for distance in 0..n {
            job.put_nbi(places.part(me, n)?, part, job.to_right(distance))?;
        }
        job.atomic(entered, AtomicOp::Add(1), 0).await?;
        barrier(job, &mut random).await?;
        let count = job.atomic(entered, AtomicOp::Fetch, 0).await? as usize;
        // Others, not this PE, may have counted themselves in for the next round.
        let exact = (round + 1) * n..(round + 2) * n;
        job.holds(|| format!("round {round}: {count} entered, of {exact:?}"), exact.contains(&count));
        for writer in 0..n {
            let found = job.heap().read_vec(places.part(writer, n)?)?;
            let what = || format!("round {round}: put of PE {writer} before a barrier dropped on some PEs");
            job.same_bytes(what, &pattern(LEN, mix(&[writer, round])), &found);
        }
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(entered).await
}

/// Quiets dropped, then posted more, then called again: all puts are complete.
pub(in crate::conformance) async fn cancelled_quiet_is_resumed<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const LEN: usize = 50_000;
    let me = job.my_pe();
    let (src, dst) = (job.alloc::<u8>(LEN).await?, job.alloc::<u8>(LEN).await?);
    let back = job.alloc::<u8>(LEN).await?;
    let mut random = job.own_random();
    for round in 0..job.rounds(60) {
        let (target, writer) = (job.to_right(round), job.to_left(round));
        let sent = pattern(LEN, mix(&[me, round]));
        job.heap().write(src, &sent)?;
        for half in 0..2 {
            job.put_nbi(dst.part(half, 2)?, src.part(half, 2)?, target)?;
            for _ in 0..random.below(3) {
                if let Some(complete) = poll_once(job.quiet(), random.once_in(2)).await {
                    complete?;
                }
            }
        }
        job.quiet().await?;
        // They are visible at the target now: this PE can fetch them back.
        job.get_nbi(back, dst, target)?;
        if let Some(complete) = poll_once(job.quiet(), true).await {
            complete?;
        }
        job.quiet().await?;
        job.same_bytes(
            || format!("round {round}: fetched back after quiet"),
            &sent,
            &job.heap().read_vec(back)?,
        );
        job.barrier_all().await?;
        let what = || format!("round {round}: put of PE {writer}");
        job.same_bytes(what, &pattern(LEN, mix(&[writer, round])), &job.heap().read_vec(dst)?);
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(back).await
}

/// Waits for a signal dropped, and called again.
pub(in crate::conformance) async fn cancelled_signal_wait_is_resumed<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let (none, word) = (job.calloc::<u8>(0).await?, job.calloc::<u64>(1).await?);
    let mut random = job.own_random();
    for round in 1..=job.rounds(100) as u64 {
        for _ in 0..random.below(3) {
            let wait = job.signal_wait_until(word, Cmp::Ge, round);
            if let Some(value) = poll_once(wait, random.once_in(2)).await {
                job.same(|| format!("round {round}: a wait that was complete"), round, value?);
            }
        }
        job.put_signal_nbi(none, none, word, SignalOp::Add(1), job.to_right(1))?;
        let value = job.signal_wait_until(word, Cmp::Ge, round).await?;
        job.same(|| format!("round {round}: a wait after others were dropped"), round, value);
        job.barrier_all().await?;
    }
    job.free(none).await?;
    job.free(word).await
}
