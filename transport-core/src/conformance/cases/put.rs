//! `put_nbi`: what arrives, where, and that it arrives once.

use super::transfers::{BLANK, GUARD, SIZES, SLACK, complete, distances, guarded, offsets, piece_of, pieces};
use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::mix;
use crate::conformance::turn::yield_now;
use crate::error::{Error, Result};
use crate::transport::Transport;

/// Each size, at aligned and odd offsets, to every PE and to itself; no byte beside the target changes.
pub(in crate::conformance) async fn put_every_size<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let mut turn = 0;
    for len in SIZES {
        let total = len + SLACK + 2 * GUARD;
        let (src, dst) = (job.alloc::<u8>(len + SLACK).await?, job.alloc::<u8>(total).await?);
        for &(from, to) in offsets(len) {
            for distance in distances(job.n_pes(), len) {
                turn += 1;
                let (target, writer) = (job.to_right(distance), job.to_left(distance));
                job.heap().fill(dst, BLANK)?;
                let part = src.slice(from..from + len)?;
                job.heap().write(part, &pattern(len, mix(&[job.my_pe(), turn])))?;
                job.barrier_all().await?;
                job.put_nbi(dst.slice(GUARD + to..GUARD + to + len)?, part, target)?;
                complete(job, turn).await?;
                let expected = guarded(total, to, &pattern(len, mix(&[writer, turn])));
                let what =
                    || format!("target of a put of {len} bytes, offset {from} to {to}, from PE {writer}");
                job.same_bytes(what, &expected, &job.heap().read_vec(dst)?);
            }
        }
        job.free(src).await?;
        job.free(dst).await?;
    }
    Ok(())
}

/// Hundreds of puts of many lengths to every PE before the first wait.
pub(in crate::conformance) async fn put_many_in_flight<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let zone = job.rounds(16 << 10).next_multiple_of(64);
    let (src, dst) = (job.alloc::<u8>(zone).await?, job.alloc::<u8>(n * zone).await?);
    let mut random = job.own_random();
    for round in 0..3 {
        job.heap().fill(dst, BLANK)?;
        job.heap().write(src, &pattern(zone, mix(&[me, round])))?;
        job.barrier_all().await?;
        let mine = dst.part(me, n)?;
        for distance in 0..n {
            for piece in pieces(&mut random, zone, 200) {
                job.put_nbi(piece_of(mine, piece)?, piece_of(src, piece)?, job.to_right(distance))?;
            }
        }
        complete(job, round).await?;
        for writer in 0..n {
            let found = job.heap().read_vec(dst.part(writer, n)?)?;
            let what = || format!("round {round}: what PE {writer} put in pieces");
            job.same_bytes(what, &pattern(zone, mix(&[writer, round])), &found);
        }
        // Nobody blanks what others still read: it is each PE's own copy that is read and blanked.
    }
    job.free(src).await?;
    job.free(dst).await
}

/// What the target writes over a put that is complete stays: nothing is written a second time.
pub(in crate::conformance) async fn put_is_written_once<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const LEN: usize = 5000;
    let (src, dst) = (job.alloc::<u8>(LEN).await?, job.alloc::<u8>(LEN).await?);
    for round in 0..job.rounds(50) {
        job.heap().write(src, &pattern(LEN, mix(&[job.my_pe(), round])))?;
        job.barrier_all().await?;
        job.put_nbi(dst, src, job.to_right(1))?;
        complete(job, round).await?;
        let own = pattern(LEN, mix(&[job.my_pe(), round, 77]));
        job.heap().write(dst, &own)?;
        job.quiet().await?;
        yield_now().await;
        job.barrier_all().await?;
        job.barrier_all().await?;
        job.same_bytes(|| format!("round {round}: written over a put"), &own, &job.heap().read_vec(dst)?);
    }
    job.free(src).await?;
    job.free(dst).await
}

/// After `quiet` the source may be changed; the target keeps what it was.
pub(in crate::conformance) async fn put_source_is_free_after_quiet<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    const LEN: usize = 40_000;
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(LEN).await?, job.alloc::<u8>(LEN * 2).await?);
    for round in 0..job.rounds(20) {
        for half in 0..2 {
            job.heap().write(src, &pattern(LEN, mix(&[me, round, half])))?;
            job.put_nbi(dst.part(half, 2)?, src, job.to_right(1 + half))?;
            job.quiet().await?;
            job.heap().fill(src, 0xEE)?;
        }
        job.barrier_all().await?;
        for half in 0..2 {
            let expected = pattern(LEN, mix(&[job.to_left(1 + half), round, half]));
            let what = || format!("round {round} of {n} PEs: a put whose source was changed after quiet");
            job.same_bytes(what, &expected, &job.heap().read_vec(dst.part(half, 2)?)?);
        }
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await
}

/// To itself: apart works, the equal range is a no-op, an overlap is refused.
pub(in crate::conformance) async fn put_to_self<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let me = job.my_pe();
    let buffer = job.alloc::<u32>(300).await?;
    let values: Vec<u32> = (0..300).map(|i| i * 7 + me as u32).collect();
    job.heap().write(buffer, &values)?;
    job.put_nbi(buffer.slice(200..300)?, buffer.slice(..100)?, me)?;
    job.put_nbi(buffer.slice(100..200)?, buffer.slice(100..200)?, me)?;
    job.put_nbi(buffer.slice(100..100)?, buffer.slice(150..150)?, me)?;
    job.quiet().await?;
    let mut expected = values.clone();
    expected.copy_within(..100, 200);
    job.same(|| "puts to itself".to_owned(), &expected, &job.heap().read_vec(buffer)?);
    for (to, from) in [(0..100, 1..101), (1..101, 0..100), (50..150, 149..249)] {
        let result = job.put_nbi(buffer.slice(to.clone())?, buffer.slice(from.clone())?, me);
        let what = || format!("put to itself of {from:?} to {to:?}");
        job.refused(what, "Overlap", result, |error| matches!(error, Error::Overlap { .. }));
    }
    // Between two PEs the same ranges are different memory.
    job.barrier_all().await?;
    if job.n_pes() > 1 {
        job.put_nbi(buffer.slice(1..101)?, buffer.slice(101..201)?, job.to_right(1))?;
        job.barrier_all().await?;
        let from = job.to_left(1) as u32;
        let theirs: Vec<u32> = (101..200).map(|i| i * 7 + from).collect();
        let found = job.heap().read_vec(buffer.slice(1..100)?)?;
        job.same(|| "a put whose ranges overlap, on two PEs".to_owned(), theirs, found);
    } else {
        job.barrier_all().await?;
    }
    job.quiet().await?;
    job.same(|| "what refused puts left".to_owned(), expected[250], job.heap().read_vec(buffer)?[250]);
    job.free(buffer).await
}
