//! AllGather against its definition, by every algorithm.

use std::fmt::Debug;

use bytemuck::Pod;

use super::transfers::{BLANK, GUARD};
use crate::collectives::{AllGatherAlgorithm, all_gather, all_gather_in_place};
use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::{Random, mix};
use crate::conformance::turn::yield_now;
use crate::error::{Error, Result};
use crate::transport::Transport;

/// Bytes of a PE.
static SIZES: [usize; 10] = [0, 1, 3, 63, 64, 65, 4095, 4096, 4097, 64 << 10];

/// What is gathered of all PEs.
fn gathered(n_pes: usize, len: usize, tag: &[usize]) -> Vec<u8> {
    let mut all = Vec::with_capacity(n_pes * len);
    for pe in 0..n_pes {
        all.extend_from_slice(&pattern(len, mix(tag) ^ mix(&[pe])));
    }
    all
}

/// Of `sizes`, those for this job: large jobs do without the largest, whose result every PE would hold.
fn sizes<X: Transport>(job: &Job<'_, X>, sizes: &'static [usize]) -> impl Iterator<Item = usize> + use<X> {
    let most = if job.n_pes() <= 16 { usize::MAX } else { 65 };
    sizes.iter().copied().filter(move |&size| size <= most || size == 4097)
}

/// Each size, in place and out of place, at an odd offset; no byte beside the buffer changes.
pub(in crate::conformance) async fn all_gather_every_size<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    for len in sizes(job, &SIZES) {
        let src = job.alloc::<u8>(len + 3).await?;
        let around = job.alloc::<u8>(2 * GUARD + n * len).await?;
        let dst = around.slice(GUARD - 1..GUARD - 1 + n * len)?;
        let from = src.slice(3..)?;
        for (algorithm, name) in AllGatherAlgorithm::ALL {
            for in_place in [false, true] {
                let tag = [len, usize::from(in_place), name.len()];
                let mine = pattern(len, mix(&tag) ^ mix(&[me]));
                job.heap().fill(around, BLANK)?;
                if in_place {
                    job.heap().write(dst.part(me, n)?, &mine)?;
                    all_gather_in_place(&**job, dst, algorithm).await?;
                } else {
                    job.heap().write(from, &mine)?;
                    all_gather(&**job, dst, from, algorithm).await?;
                }
                let mut expected = vec![BLANK; around.len()];
                expected[GUARD - 1..GUARD - 1 + n * len].copy_from_slice(&gathered(n, len, &tag));
                let what = || format!("{name}, {len} bytes a PE, in place: {in_place}");
                job.same_bytes(what, &expected, &job.heap().read_vec(around)?);
            }
        }
        job.free(src).await?;
        job.free(around).await?;
    }
    Ok(())
}

/// Elements of each width, signed and floating too; and the same buffer as source of another gather.
pub(in crate::conformance) async fn all_gather_every_type<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    of_type(job, "u8", |x| x as u8).await?;
    of_type(job, "u16", |x| x as u16).await?;
    of_type(job, "u32", |x| x as u32).await?;
    of_type(job, "u64", |x| x).await?;
    of_type(job, "i32", |x| -(x as u32 as i32)).await?;
    of_type(job, "f64", |x| x as f64 / -3.0).await
}

async fn of_type<T, X>(job: &Job<'_, X>, name: &str, value: fn(u64) -> T) -> Result<()>
where
    T: Pod + PartialEq + Debug + Send + Sync,
    X: Transport,
{
    let (me, n) = (job.my_pe(), job.n_pes());
    for (algorithm, _) in AllGatherAlgorithm::ALL {
        for len in sizes(job, &[1, 7, 130]) {
            let (src, dst) = (job.alloc::<T>(len).await?, job.alloc::<T>(n * len).await?);
            let all = |salt: usize| (0..n * len).map(|i| value(mix(&[salt, i]) >> 8)).collect::<Vec<T>>();
            job.heap().write(src, &all(1)[me * len..][..len])?;
            all_gather(&**job, dst, src, algorithm).await?;
            job.same(|| format!("{algorithm} of {len} {name} a PE"), all(1), job.heap().read_vec(dst)?);
            job.heap().write(dst.part(me, n)?, &all(2)[me * len..][..len])?;
            all_gather_in_place(&**job, dst, algorithm).await?;
            job.same(
                || format!("{algorithm} of {len} {name} a PE in place"),
                all(2),
                job.heap().read_vec(dst)?,
            );
            job.free(src).await?;
            job.free(dst).await?;
        }
    }
    Ok(())
}

/// A PE that is late now and then: others are then ahead as far as the AllGather lets them.
async fn dawdle(random: &mut Random) {
    if random.once_in(3) {
        for _ in 0..random.below(12) {
            yield_now().await;
        }
    }
}

/// Many in a row into one buffer, from a source that changes each time, with no barrier but the AllGather's own.
pub(in crate::conformance) async fn all_gather_back_to_back<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    back_to_back(job, false).await
}

/// The same in place.
pub(in crate::conformance) async fn all_gather_in_place_back_to_back<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    back_to_back(job, true).await
}

async fn back_to_back<X: Transport>(job: &Job<'_, X>, in_place: bool) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let mut random = job.own_random();
    for (algorithm, name) in AllGatherAlgorithm::ALL {
        for (len, rounds) in [(16, 200), (2000, 60)] {
            let (src, dst) = (job.alloc::<u8>(len).await?, job.alloc::<u8>(n * len).await?);
            for round in 0..job.rounds(rounds) {
                let mine = pattern(len, mix(&[round]) ^ mix(&[me]));
                if in_place {
                    job.heap().write(dst.part(me, n)?, &mine)?;
                    all_gather_in_place(&**job, dst, algorithm).await?;
                } else {
                    job.heap().write(src, &mine)?;
                    all_gather(&**job, dst, src, algorithm).await?;
                    job.heap().fill(src, 0xEE)?;
                }
                dawdle(&mut random).await;
                let found = job.heap().read_vec(dst)?;
                let what = || format!("{name}, round {round} of {len} bytes a PE");
                job.same_bytes(what, &gathered(n, len, &[round]), &found);
                dawdle(&mut random).await;
            }
            job.free(src).await?;
            job.free(dst).await?;
        }
    }
    Ok(())
}

/// Lengths that do not fit, a source that overlaps, a buffer that is gone: refused before anything moves.
pub(in crate::conformance) async fn all_gather_bad_input<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let n = job.n_pes();
    let (src, dst) = (job.alloc::<u16>(10).await?, job.alloc::<u16>(10 * n + 1).await?);
    let gone = job.alloc::<u16>(10).await?;
    job.free(gone).await?;
    job.heap().fill(dst, 0xABCD)?;
    job.barrier_all().await?;
    for (algorithm, name) in AllGatherAlgorithm::ALL {
        for (to, from) in [(10 * n + 1, 10), (10 * n - 1, 10), (10 * n, 9), (0, 10), (10, 0)] {
            let result = all_gather(&**job, dst.slice(..to)?, src.slice(..from)?, algorithm).await;
            job.refused(
                || format!("{name} of {from} elements into {to}"),
                "LengthMismatch",
                result,
                |e| matches!(e, Error::LengthMismatch { .. }),
            );
        }
        let inside = dst.slice(1..11)?;
        let result = all_gather(&**job, dst.slice(..10 * n)?, inside, algorithm).await;
        job.refused(
            || format!("{name} of a source inside of the buffer"),
            "Overlap",
            result,
            |e| matches!(e, Error::Overlap { .. }),
        );
        let result = all_gather(&**job, dst.slice(..10 * n)?, gone, algorithm).await;
        job.refused(
            || format!("{name} of a freed source"),
            "NotLive",
            result,
            |e| matches!(e, Error::NotLive { .. }),
        );
        if n > 1 {
            let result = all_gather_in_place(&**job, dst.slice(..10 * n - 1)?, algorithm).await;
            job.refused(
                || format!("{name} in place of no whole parts"),
                "BadSlice",
                result,
                |e| matches!(e, Error::BadSlice { .. } | Error::LengthMismatch { .. }),
            );
        }
    }
    job.barrier_all().await?;
    job.same(|| "the buffer".to_owned(), vec![0xABCD; 10 * n + 1], job.heap().read_vec(dst)?);
    job.free(src).await?;
    job.free(dst).await
}
