//! `fence` and `quiet` between puts: who sees the later one sees the earlier.

use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::mix;
use crate::conformance::turn::look_until;
use crate::error::Result;
use crate::transport::{AtomicOp, Cmp, SignalOp, Transport};

/// Flags stay below this: one byte of the word changes, so that a torn write shows no value that nobody wrote.
const FLAGS: usize = 250;

/// What stands between data and flag.
#[derive(Clone, Copy)]
enum Between {
    Fence,
    Quiet,
}

/// Data, fence, flag: the flag is never seen without the data.
pub(in crate::conformance) async fn fence_orders_puts<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    data_then_flag(job, Between::Fence, 300).await
}

/// Data, quiet, flag: the same.
pub(in crate::conformance) async fn quiet_orders_puts<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    data_then_flag(job, Between::Quiet, 200).await
}

async fn data_then_flag<X: Transport>(job: &Job<'_, X>, between: Between, rounds: usize) -> Result<()> {
    const LEN: usize = 30_000;
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(LEN).await?, job.alloc::<u8>(LEN).await?);
    let (flag_src, flag) = (job.calloc::<u64>(1).await?, job.calloc::<u64>(1).await?);
    let mut random = job.shared_random();
    for round in 0..job.rounds(rounds) {
        let len = if random.once_in(4) { random.below(LEN) } else { random.below(200) };
        let distance = random.below(n);
        let (target, writer) = (job.to_right(distance), job.to_left(distance));
        let value = 1 + (round % FLAGS) as u64;
        job.heap().write(src.slice(..len)?, &pattern(len, mix(&[me, round])))?;
        job.heap().write(flag_src, &[value])?;
        job.put_nbi(dst.slice(..len)?, src.slice(..len)?, target)?;
        match between {
            Between::Fence => job.fence()?,
            Between::Quiet => job.quiet().await?,
        }
        job.put_nbi(flag, flag_src, target)?;
        let seen = look_until(&**job, || Ok(job.heap().load(flag)? == value)).await?;
        job.holds(|| format!("round {round}: the flag of PE {writer} arrived before the deadline"), seen);
        let found = job.heap().read_vec(dst.slice(..len)?)?;
        let what = || format!("round {round}: {len} bytes of PE {writer}, whose flag was seen");
        job.same_bytes(what, &pattern(len, mix(&[writer, round])), &found);
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(flag_src).await?;
    job.free(flag).await
}

/// Data, fence, atomic; and a signal that sets, fence, atomic on the same word: the atomic is never seen first. The data is
/// long, so that a backend with several ways to a peer takes another for the atomic.
pub(in crate::conformance) async fn fence_orders_atomics<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const LEN: usize = 150_000;
    let n = job.n_pes();
    let (src, dst) = (job.alloc::<u8>(LEN).await?, job.alloc::<u8>(LEN).await?);
    let words = job.calloc::<u64>(2).await?;
    let (count, set) = (words.part(0, 2)?, words.part(1, 2)?);
    let mut random = job.shared_random();
    for round in 1..=job.rounds(60) as u64 {
        let distance = random.below(n);
        let (target, writer) = (job.to_right(distance), job.to_left(distance));
        job.heap().write(src, &pattern(LEN, mix(&[job.my_pe(), round as usize])))?;
        job.put_nbi(dst, src, target)?;
        job.fence()?;
        job.atomic(count, AtomicOp::Add(1), target).await?;
        job.signal_wait_until(count, Cmp::Ge, round).await?;
        let what = || format!("round {round}: {LEN} bytes of PE {writer}, whose atomic was seen");
        let expected = pattern(LEN, mix(&[writer, round as usize]));
        job.same_bytes(what, &expected, &job.heap().read_vec(dst)?);
        job.put_signal_nbi(dst, src, set, SignalOp::Set(1000 * round), target)?;
        job.fence()?;
        job.atomic(set, AtomicOp::Add(7), target).await?;
        job.barrier_all().await?;
        job.same(
            || format!("round {round}: a word set to {round}000, plus 7"),
            1000 * round + 7,
            job.heap().load(set)?,
        );
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(words).await
}

/// Chunks to both neighbours without a wait, each with a fence and a higher flag: at any moment all chunks up to the flag
/// are there.
pub(in crate::conformance) async fn fence_in_a_stream<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const CHUNKS: usize = 200;
    const EACH: usize = 300;
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(CHUNKS * EACH).await?, job.alloc::<u8>(2 * CHUNKS * EACH).await?);
    // All flags that are sent, and one for each side that receives, on cache lines of their own.
    let (values, flags) = (job.alloc::<u64>(CHUNKS).await?, job.calloc::<u64>(16).await?);
    job.heap().write(values, &std::array::from_fn::<u64, CHUNKS, _>(|i| i as u64 + 1))?;
    let sides = [1, n - 1];
    for round in 0..job.rounds(10) {
        job.heap().write(src, &pattern(CHUNKS * EACH, mix(&[me, round])))?;
        job.heap().fill(flags, 0)?;
        job.barrier_all().await?;
        for chunk in 0..CHUNKS {
            for (side, distance) in sides.into_iter().enumerate() {
                let to = dst.part(side, 2)?.part(chunk, CHUNKS)?;
                job.put_nbi(to, src.part(chunk, CHUNKS)?, job.to_right(distance))?;
            }
            job.fence()?;
            for (side, distance) in sides.into_iter().enumerate() {
                let flag = flags.slice(side * 8..=side * 8)?;
                job.put_nbi(flag, values.slice(chunk..=chunk)?, job.to_right(distance))?;
            }
        }
        for (side, distance) in sides.into_iter().enumerate() {
            let (writer, flag) = (job.to_left(distance), flags.slice(side * 8..=side * 8)?);
            let expected = pattern(CHUNKS * EACH, mix(&[writer, round]));
            let mut seen = 0;
            while seen < CHUNKS {
                let came = look_until(&**job, || Ok(job.heap().load(flag)? as usize > seen)).await?;
                job.holds(|| format!("round {round}: a flag after {seen} before the deadline"), came);
                let now = job.heap().load(flag)? as usize;
                job.holds(|| format!("round {round}: flag {now} is one of 1 to {CHUNKS}"), now <= CHUNKS);
                let now = if came { now.min(CHUNKS) } else { CHUNKS };
                let found = job.heap().read_vec(dst.part(side, 2)?.slice(seen * EACH..now * EACH)?)?;
                let what =
                    || format!("round {round}: chunks {seen} to {now} of PE {writer}, whose flag was seen");
                job.same_bytes(what, &expected[seen * EACH..now * EACH], &found);
                seen = now;
            }
        }
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(values).await?;
    job.free(flags).await
}
