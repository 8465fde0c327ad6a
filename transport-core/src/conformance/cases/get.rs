//! `get_nbi`: the mirror image of `put_nbi`.

use super::transfers::{BLANK, GUARD, SIZES, SLACK, distances, guarded, offsets, piece_of, pieces};
use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::mix;
use crate::error::{Error, Result};
use crate::transport::Transport;

/// Each size, at aligned and odd offsets, from every PE and from itself; no byte beside the target changes.
pub(in crate::conformance) async fn get_every_size<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let mut turn = 0;
    for len in SIZES {
        let total = len + SLACK + 2 * GUARD;
        let (src, dst) = (job.alloc::<u8>(len + SLACK).await?, job.alloc::<u8>(total).await?);
        for &(from, to) in offsets(len) {
            for distance in distances(job.n_pes(), len) {
                turn += 1;
                let owner = job.to_right(distance);
                job.heap().fill(dst, BLANK)?;
                let part = src.slice(from..from + len)?;
                job.heap().write(part, &pattern(len, mix(&[job.my_pe(), turn])))?;
                job.barrier_all().await?;
                job.get_nbi(dst.slice(GUARD + to..GUARD + to + len)?, part, owner)?;
                // `quiet` is what completes a get; the barrier only keeps the source until all have read it.
                job.quiet().await?;
                let expected = guarded(total, to, &pattern(len, mix(&[owner, turn])));
                let what =
                    || format!("target of a get of {len} bytes, offset {from} to {to}, from PE {owner}");
                job.same_bytes(what, &expected, &job.heap().read_vec(dst)?);
                job.barrier_all().await?;
            }
        }
        job.free(src).await?;
        job.free(dst).await?;
    }
    Ok(())
}

/// Hundreds of gets from every PE before the first wait, with puts among them.
pub(in crate::conformance) async fn get_many_in_flight<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let zone = job.rounds(8 << 10).next_multiple_of(64);
    let src = job.alloc::<u8>(zone).await?;
    let (got, put) = (job.calloc::<u8>(n * zone).await?, job.calloc::<u8>(n * zone).await?);
    let mut random = job.own_random();
    job.heap().write(src, &pattern(zone, mix(&[me])))?;
    job.barrier_all().await?;
    for distance in 0..n {
        let other = job.to_right(distance);
        for piece in pieces(&mut random, zone, 150) {
            job.get_nbi(piece_of(got.part(other, n)?, piece)?, piece_of(src, piece)?, other)?;
            job.put_nbi(piece_of(put.part(me, n)?, piece)?, piece_of(src, piece)?, other)?;
        }
    }
    job.barrier_all().await?;
    for other in 0..n {
        let expected = pattern(zone, mix(&[other]));
        let what = || format!("what was got in pieces from PE {other}");
        job.same_bytes(what, &expected, &job.heap().read_vec(got.part(other, n)?)?);
        let what = || format!("what PE {other} put between its gets");
        job.same_bytes(what, &expected, &job.heap().read_vec(put.part(other, n)?)?);
    }
    job.free(src).await?;
    job.free(got).await?;
    job.free(put).await
}

/// From itself: apart works, the equal range is a no-op, an overlap is refused.
pub(in crate::conformance) async fn get_to_self<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let me = job.my_pe();
    let buffer = job.alloc::<u64>(90).await?;
    let mut expected: Vec<u64> = (0..90).map(|i| mix(&[me, i])).collect();
    job.heap().write(buffer, &expected)?;
    job.get_nbi(buffer.slice(60..90)?, buffer.slice(..30)?, me)?;
    job.get_nbi(buffer.slice(30..60)?, buffer.slice(30..60)?, me)?;
    job.quiet().await?;
    expected.copy_within(..30, 60);
    job.same(|| "gets from itself".to_owned(), &expected, &job.heap().read_vec(buffer)?);
    let result = job.get_nbi(buffer.slice(0..30)?, buffer.slice(29..59)?, me);
    job.refused(
        || "get from itself that overlaps".to_owned(),
        "Overlap",
        result,
        |error| matches!(error, Error::Overlap { .. }),
    );
    job.quiet().await?;
    job.same(|| "after a refused get".to_owned(), &expected, &job.heap().read_vec(buffer)?);
    job.free(buffer).await
}
