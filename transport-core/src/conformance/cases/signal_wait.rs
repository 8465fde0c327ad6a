//! `signal_wait_until`: what ends it.

use std::time::Duration;

use crate::conformance::job::Job;
use crate::error::{Error, Result};
use crate::transport::{Cmp, SignalOp, Transport};

/// Comparison, the word before, the signal, what is waited for: it holds after the signal and not before.
const EVERY: [(Cmp, u64, u64, u64); 10] = [
    (Cmp::Eq, 0, 7, 7),
    (Cmp::Ne, 3, 4, 3),
    (Cmp::Gt, 9, 10, 9),
    (Cmp::Ge, 9, 10, 10),
    (Cmp::Lt, 9, 8, 9),
    (Cmp::Le, 9, 8, 8),
    // Words are unsigned.
    (Cmp::Gt, 1, u64::MAX, 1 << 63),
    (Cmp::Lt, u64::MAX, 1, 2),
    (Cmp::Ge, 0, u64::MAX, u64::MAX),
    (Cmp::Le, 1, 0, 0),
];

/// Each comparison: ended by a neighbour's signal, and at once if it holds already.
pub(in crate::conformance) async fn signal_wait_every_cmp<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (none, word) = (job.calloc::<u8>(0).await?, job.calloc::<u64>(1).await?);
    for round in 0..job.rounds(5) {
        for (cmp, before, after, value) in EVERY {
            job.heap().write(word, &[before])?;
            job.barrier_all().await?;
            job.put_signal_nbi(none, none, word, SignalOp::Set(after), job.to_right(1 + round))?;
            let symbol = cmp.symbol();
            let found = job.signal_wait_until(word, cmp, value).await?;
            job.same(|| format!("round {round}: word answered by a wait for {symbol} {value}"), after, found);
            let again = job.signal_wait_until(word, cmp, value).await?;
            job.same(
                || format!("round {round}: a wait for {symbol} {value} that holds already"),
                after,
                again,
            );
            job.barrier_all().await?;
        }
    }
    job.free(none).await?;
    job.free(word).await
}

/// A word that a plain put or an atomic writes is seen too.
pub(in crate::conformance) async fn signal_wait_sees_plain_puts<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let (src, word) = (job.calloc::<u64>(1).await?, job.calloc::<u64>(1).await?);
    for round in 0..job.rounds(6).min(120) as u64 {
        job.heap().write(src, &[2 * round + 1])?;
        job.put_nbi(word, src, job.to_right(1))?;
        job.quiet().await?;
        let found = job.signal_wait_until(word, Cmp::Ge, 2 * round + 1).await?;
        job.same(|| format!("round {round}: word written by a put"), 2 * round + 1, found);
        job.barrier_all().await?;
        job.atomic(word, crate::AtomicOp::Add(1), job.to_right(1)).await?;
        let found = job.signal_wait_until(word, Cmp::Ge, 2 * round + 2).await?;
        job.same(|| format!("round {round}: word changed by an atomic"), 2 * round + 2, found);
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(word).await
}

/// What does not come ends the wait at the deadline, which says where and what was there; the word is usable after.
pub(in crate::conformance) async fn signal_wait_ends_at_the_deadline<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let (none, word) = (job.calloc::<u8>(0).await?, job.calloc::<u64>(1).await?);
    job.heap().write(word, &[41])?;
    let usual = job.timeout();
    job.endpoint().set_timeout(Duration::from_millis(30));
    let result = job.signal_wait_until(word, Cmp::Gt, 41).await;
    job.endpoint().set_timeout(usual);
    job.refused(
        || "a wait for what does not come".to_owned(),
        "SignalTimeout with offset and value",
        result,
        |e| matches!(e, Error::SignalTimeout { offset, value: 41, .. } if *offset == word.offset()),
    );
    job.barrier_all().await?;
    job.put_signal_nbi(none, none, word, SignalOp::Add(1), job.to_right(1))?;
    job.same(|| "the same wait, later".to_owned(), 42, job.signal_wait_until(word, Cmp::Gt, 41).await?);
    job.free(none).await?;
    job.free(word).await
}
