//! `barrier_all`: quiet, and no PE leaves before all have entered.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::mix;
use crate::conformance::turn::yield_now;
use crate::error::{Error, Result};
use crate::transport::{AtomicOp, Cmp, SignalOp, Transport};

/// Each PE counts itself in before it enters. Who leaves finds everybody counted.
pub(in crate::conformance) async fn barrier_waits_for_all<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let n = job.n_pes();
    let entered = job.calloc::<u64>(1).await?;
    let mut random = job.own_random();
    for round in 1..=job.rounds(200) {
        let keeper = round % n;
        // Now this PE is the last, now that.
        for _ in 0..random.below(4) * random.below(4) {
            yield_now().await;
        }
        job.atomic(entered, AtomicOp::Add(1), keeper).await?;
        job.barrier_all().await?;
        // Exact: nobody counts itself in for this keeper again before this PE has entered the next barrier.
        let expected = (1..=round).filter(|earlier| earlier % n == keeper).count() * n;
        let found = job.atomic(entered, AtomicOp::Fetch, keeper).await? as usize;
        job.same(|| format!("round {round}: entered, when this PE leaves"), expected, found);
    }
    job.free(entered).await
}

/// Puts before a barrier, reads after it, with nothing else between: exact in each of many rounds.
pub(in crate::conformance) async fn barrier_is_quiet<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let src = job.alloc::<u8>(2 * 3000).await?;
    // Two sets in turn: the next round's puts come while this round's are read.
    let dst = job.alloc::<u8>(2 * n * 3000).await?;
    let mut random = job.shared_random();
    for round in 0..job.rounds(150) {
        let len = if random.once_in(8) { random.below(3000) } else { random.below(100) };
        let set = round % 2;
        let part = src.part(set, 2)?.slice(..len)?;
        job.heap().write(part, &pattern(len, mix(&[me, round])))?;
        let places = dst.part(set, 2)?;
        for distance in 0..n {
            job.put_nbi(places.part(me, n)?.slice(..len)?, part, job.to_right(distance))?;
        }
        job.barrier_all().await?;
        for writer in 0..n {
            let found = job.heap().read_vec(places.part(writer, n)?.slice(..len)?)?;
            let what = || format!("round {round}: {len} bytes of PE {writer} after the barrier");
            job.same_bytes(what, &pattern(len, mix(&[writer, round])), &found);
        }
    }
    job.free(src).await?;
    job.free(dst).await
}

/// Several callers of one PE at once, by futures that are polled in turn: each call is a barrier of its own, and no two are
/// in the same one.
pub(in crate::conformance) async fn barrier_of_several_callers<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const CALLERS: usize = 3;
    let rounds = job.rounds(100);
    let mut callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            Box::pin(async {
                let mut random = job.own_random();
                for _ in 0..rounds {
                    // So that the others' callers wait, with the turn in hand, now here, now there.
                    for _ in 0..random.below(6) * random.below(6) {
                        yield_now().await;
                    }
                    job.barrier_all().await?;
                }
                Result::Ok(())
            })
        })
        .collect();
    poll_fn(|cx| {
        let mut failed = None;
        callers.retain_mut(|caller| match caller.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(ended) => {
                failed = failed.take().or(ended.err());
                false
            }
        });
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if callers.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await?;
    // One call that counted for two leaves a PE ahead, which the others would wait for until the deadline.
    job.barrier_all().await
}

/// More than a thousand barriers with nothing to complete, in bursts; after each burst the PEs compare their counts.
pub(in crate::conformance) async fn barrier_many_rounds<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (none, count) = (job.calloc::<u8>(0).await?, job.calloc::<u64>(1).await?);
    for burst in 1..=job.rounds(50) as u64 {
        for _ in 0..24 {
            job.barrier_all().await?;
        }
        for distance in 0..job.n_pes() {
            job.put_signal_nbi(none, none, count, SignalOp::Add(1), job.to_right(distance))?;
        }
        job.barrier_all().await?;
        let found = job.heap().load(count)?;
        job.same(|| format!("signals after {burst} bursts of barriers"), burst * job.n_pes() as u64, found);
        job.barrier_all().await?;
    }
    job.free(none).await?;
    job.free(count).await
}

/// One PE does not come: the others are told which at their deadline. When it comes, they resume the same barrier.
pub(in crate::conformance) async fn barrier_names_who_is_missing<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let told = job.calloc::<u64>(1).await?;
    let data = job.calloc::<u64>(n).await?;
    for odd in [0, n - 1] {
        if me == odd {
            job.signal_wait_until(told, Cmp::Eq, n as u64 - 1).await?;
            job.heap().write(told, &[0])?;
        } else {
            let usual = job.timeout();
            job.endpoint().set_timeout(Duration::from_millis(60));
            let result = job.barrier_all().await;
            job.endpoint().set_timeout(usual);
            job.refused(|| format!("a barrier without PE {odd}"), "Timeout that names it", result, |error| {
                matches!(error, Error::Timeout { missing, .. } if missing.contains(odd) && !missing.contains(me))
            });
            // Other calls work while the barrier is unfinished.
            job.atomic(told, AtomicOp::Add(1), odd).await?;
        }
        job.barrier_all().await?;
        // What comes after is no longer that barrier.
        job.heap().write(data.part(me, n)?, &[(odd + me) as u64])?;
        for distance in 1..n {
            job.put_nbi(data.part(me, n)?, data.part(me, n)?, job.to_right(distance))?;
        }
        job.barrier_all().await?;
        let expected: Vec<_> = (0..n).map(|pe| (odd + pe) as u64).collect();
        job.same(|| "puts after a resumed barrier".to_owned(), expected, job.heap().read_vec(data)?);
        job.barrier_all().await?;
    }
    job.free(told).await?;
    job.free(data).await
}
