//! `alloc`, `calloc`, `align`, `free` as they are meant to be used.

use crate::conformance::job::Job;
use crate::conformance::random::mix;
use crate::error::Result;
use crate::heap::SymSlice;
use crate::transport::Transport;

/// Notes a failure unless every PE has the same numbers.
async fn same_everywhere<X: Transport>(job: &Job<'_, X>, what: &str, mine: &[u64]) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let all = job.alloc::<u64>(n * mine.len()).await?;
    job.heap().write(all.part(me, n)?, mine)?;
    job.barrier_all().await?;
    for distance in 1..n {
        job.put_nbi(all.part(me, n)?, all.part(me, n)?, job.to_right(distance))?;
    }
    job.barrier_all().await?;
    for pe in 0..n {
        job.same(|| format!("{what} on PE {pe}"), mine, &job.heap().read_vec(all.part(pe, n)?)?);
    }
    job.free(all).await
}

/// Random allocations and frees: the same offsets on every PE, no two that share a byte, each kept as it was written.
pub(in crate::conformance) async fn heap_same_offsets_everywhere<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let mut random = job.shared_random();
    let mut live: Vec<(SymSlice<u8>, u8)> = Vec::new();
    let mut offsets = Vec::new();
    for step in 0..job.rounds(60) {
        if live.len() > 12 || (!live.is_empty() && random.once_in(3)) {
            let (slice, value) = live.swap_remove(random.below(live.len()));
            let found = job.heap().read_vec(slice)?;
            job.same_bytes(|| format!("step {step}: an allocation"), &vec![value; slice.len()], &found);
            job.free(slice).await?;
        } else {
            let len = if random.once_in(5) { random.below(100_000) } else { random.below(500) };
            let slice = if random.once_in(3) {
                job.align::<u8>(1 << random.below(13), len).await?
            } else {
                job.alloc::<u8>(len).await?
            };
            let value = mix(&[job.my_pe(), step]) as u8;
            job.heap().fill(slice, value)?;
            offsets.push(slice.offset());
            live.push((slice, value));
        }
    }
    same_everywhere(job, "offsets of allocations", &offsets).await?;
    for (slice, value) in live {
        let found = job.heap().read_vec(slice)?;
        job.same_bytes(|| "an allocation, in the end".to_owned(), &vec![value; slice.len()], &found);
        job.free(slice).await?;
    }
    Ok(())
}

/// Offsets are multiples of the alignment asked for, and of the type's.
pub(in crate::conformance) async fn heap_alignment<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let mut all = Vec::new();
    for power in 0..=16 {
        let align = 1_u64 << power;
        let slice = job.align::<u16>(align, 3).await?;
        job.same(|| format!("offset modulo {align}"), 0, slice.offset() % align.max(2));
        job.same(|| "elements of an aligned allocation".to_owned(), 3, slice.len());
        all.push(slice);
    }
    for slice in all {
        job.free(slice).await?;
    }
    let odd = job.alloc::<u8>(1).await?;
    let wide = job.alloc::<u64>(1).await?;
    let wider = job.alloc::<u128>(2).await?;
    job.same(|| "offset modulo 8 of a u64".to_owned(), 0, wide.offset() % 8);
    job.same(|| "offset modulo 16 of a u128".to_owned(), 0, wider.offset() % align_of::<u128>() as u64);
    job.free(odd).await?;
    job.free(wide).await?;
    job.free(wider).await
}

/// Memory that was used is 0 after `calloc`, on every PE before any PE can put into it.
pub(in crate::conformance) async fn heap_calloc_is_zero<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let n = job.n_pes();
    for len in [1, 63, 64, 65, 4095, 4096, 4097, 100_001] {
        let used = job.alloc::<u8>(len).await?;
        job.heap().fill(used, 0xFF)?;
        job.free(used).await?;
        let zero = job.calloc::<u8>(len).await?;
        // The right neighbour's put may come at once, into the last byte, so that is not looked at.
        let found = job.heap().read_vec(zero.slice(..len - 1)?)?;
        job.same_bytes(|| format!("calloc of {len} bytes"), &vec![0; len - 1], &found);
        let mark = bytes::Bytes::copy_from_slice(&[7]);
        job.put_bytes_nbi(zero.slice(len - 1..)?, mark, job.to_right(n - 1))?;
        job.barrier_all().await?;
        let found = job.heap().read_vec(zero.slice(len - 1..)?)?;
        job.same(|| format!("a put right after calloc of {len} bytes"), vec![7], found);
        job.free(zero).await?;
    }
    Ok(())
}

/// What was freed is used again, and neighbours that are free become one piece, whatever the order.
pub(in crate::conformance) async fn heap_reuse_and_coalescing<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const EACH: usize = 100 << 10;
    let before = job.heap().stats();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [1, 3, 0, 2]] {
        let mut four = Vec::new();
        for _ in 0..4 {
            four.push(job.alloc::<u8>(EACH).await?);
        }
        for which in order {
            job.free(four[which]).await?;
        }
        let after = job.heap().stats();
        job.same(
            || format!("largest free piece after frees in order {order:?}"),
            before.largest_free,
            after.largest_free,
        );
    }
    // All that is free in one piece can be had in one piece.
    let all = job.alloc::<u8>(before.largest_free as usize).await?;
    job.heap().write(all.slice(all.len() - 3..)?, b"end")?;
    job.same(
        || "largest free piece when it is taken".to_owned(),
        true,
        job.heap().stats().largest_free < before.largest_free.max(1),
    );
    job.free(all).await?;
    job.same(
        || "largest free piece in the end".to_owned(),
        before.largest_free,
        job.heap().stats().largest_free,
    );
    Ok(())
}

/// No element is an allocation too: it is live until freed, can be put and cannot be cut.
pub(in crate::conformance) async fn heap_size_zero<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let before = job.heap().stats().allocations;
    let (a, b) = (job.alloc::<u64>(0).await?, job.calloc::<u64>(0).await?);
    job.same(|| "elements and bytes".to_owned(), (0, 0, true), (a.len(), b.byte_len(), a.is_empty()));
    job.same(|| "allocations".to_owned(), before + 2, job.heap().stats().allocations);
    job.holds(|| "two of them are not the same".to_owned(), a != b);
    job.put_nbi(a, b, job.to_right(1))?;
    job.get_nbi(b, a, job.to_right(1))?;
    job.put_bytes_nbi(a.bytes(), bytes::Bytes::new(), job.to_right(1))?;
    job.quiet().await?;
    job.same(|| "what is in it".to_owned(), Vec::<u64>::new(), job.heap().read_vec(a)?);
    job.refused(
        || "its first element".to_owned(),
        "BadSlice",
        a.slice(..1),
        |e| matches!(e, crate::Error::BadSlice { .. }),
    );
    job.free(a).await?;
    job.free(b).await
}

/// Sizes and counts go up and down with what is allocated.
pub(in crate::conformance) async fn heap_statistics<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let before = job.heap().stats();
    job.same(|| "used and free in all".to_owned(), before.size, before.used + before.free);
    let a = job.alloc::<u8>(1000).await?;
    let b = job.calloc::<u32>(5000).await?;
    let with = job.heap().stats();
    job.same(|| "allocations".to_owned(), before.allocations + 2, with.allocations);
    job.same(|| "size".to_owned(), before.size, with.size);
    job.same(|| "used and free with two allocations".to_owned(), with.size, with.used + with.free);
    let (grown, asked) = (with.used - before.used, 1000 + 4 * 5000);
    job.holds(
        || format!("{grown} bytes are used for {asked} asked for"),
        (asked..asked + 4096).contains(&grown),
    );
    job.holds(
        || "the peak is what is used or more".to_owned(),
        with.peak >= with.used && with.peak >= before.peak,
    );
    job.free(a).await?;
    job.free(b).await?;
    let after = job.heap().stats();
    job.same(
        || "used after free".to_owned(),
        (before.used, before.allocations),
        (after.used, after.allocations),
    );
    job.same(|| "peak after free".to_owned(), with.peak, after.peak);
    same_everywhere(job, "statistics", &[after.size, after.used, after.free, after.largest_free]).await
}
