//! The end of a job, good or bad: what every call answers after it.

use bytes::Bytes;

use crate::conformance::job::Job;
use crate::conformance::turn::look_until;
use crate::error::{Error, Result};
use crate::transport::{AtomicOp, Cmp, SignalOp, Transport};

/// After `finalize` every call answers so, and nothing hangs.
pub(in crate::conformance) async fn finalize_ends_the_job<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (dst, src) = (job.calloc::<u8>(16).await?, job.calloc::<u8>(16).await?);
    let word = job.calloc::<u64>(1).await?;
    job.put_nbi(dst, src, job.to_right(1))?;
    job.finalize().await?;
    let refused = |call: &str, result: Result<()>| {
        job.refused(
            || format!("{call} after finalize"),
            "Finalized",
            result,
            |e| matches!(e, Error::Finalized { .. }),
        );
    };
    for distance in [0, 1] {
        let pe = job.to_right(distance);
        refused("put_nbi", job.put_nbi(dst, src, pe));
        refused("put_bytes_nbi", job.put_bytes_nbi(dst, Bytes::from_static(&[1; 16]), pe));
        refused("get_nbi", job.get_nbi(dst, src, pe));
        refused("put_signal_nbi", job.put_signal_nbi(dst, src, word, SignalOp::Set(1), pe));
        refused("atomic", job.atomic(word, AtomicOp::Add(1), pe).await.map(drop));
    }
    refused("signal_wait_until", job.signal_wait_until(word, Cmp::Eq, 1).await.map(drop));
    refused("fence", job.fence());
    refused("quiet", job.quiet().await);
    refused("barrier_all", job.barrier_all().await);
    refused("alloc", job.alloc::<u8>(1).await.map(drop));
    refused("free", job.free(word).await);
    refused("finalize", job.finalize().await);
    Ok(())
}

/// One PE gives up: every wait of the others ends, at once and from then on, naming it and its reason.
pub(in crate::conformance) async fn abort_ends_every_wait<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const REASON: &str = "out of patience";
    let (me, n) = (job.my_pe(), job.n_pes());
    let last = n - 1;
    let none = job.calloc::<u8>(0).await?;
    let (word, seen) = (job.calloc::<u64>(1).await?, job.calloc::<u64>(1).await?);
    if me == last {
        // Not while others are still in the barrier of the last allocation, out of which this PE may be first.
        job.signal_wait_until(seen, Cmp::Eq, last as u64).await?;
        job.abort(REASON);
        return Ok(());
    }
    job.put_signal_nbi(none, none, seen, SignalOp::Add(1), last)?;
    let lost =
        |e: &Error| matches!(e, Error::PeerLost { pe, cause, .. } if *pe == last && cause.contains(REASON));
    let refused = |call: &str, result: Result<()>| {
        let expected = "PeerLost that names it and its reason";
        job.refused(|| format!("{call} after PE {last} gave up"), expected, result, lost);
    };
    if me.is_multiple_of(2) {
        refused("barrier_all", job.barrier_all().await);
        refused("signal_wait_until", job.signal_wait_until(word, Cmp::Eq, 1).await.map(drop));
    } else {
        refused("signal_wait_until", job.signal_wait_until(word, Cmp::Eq, 1).await.map(drop));
        refused("barrier_all", job.barrier_all().await);
    }
    refused("barrier_all once more", job.barrier_all().await);
    refused("a put to it", job.put_signal_nbi(none, none, word, SignalOp::Set(1), last));
    // Nobody leaves, and is lost too, before all have seen this. Puts between those that are left still work.
    for distance in 0..n {
        if job.to_right(distance) != last {
            job.put_signal_nbi(none, none, seen, SignalOp::Add(1), job.to_right(distance))?;
        }
    }
    let all = look_until(&**job, || Ok(job.heap().load(seen)? == last as u64)).await?;
    job.holds(|| "signals of the PEs that are left arrive".to_owned(), all);
    Ok(())
}
