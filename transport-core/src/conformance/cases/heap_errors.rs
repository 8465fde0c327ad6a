//! Collective heap calls that cannot be done: the same typed error on every PE, nothing changed, all usable after.

use bytemuck::Pod;

use crate::conformance::job::Job;
use crate::error::{Error, Result};
use crate::heap::SymSlice;
use crate::transport::Transport;

/// The heap works: an allocation, a put into it, and the books as they were.
async fn still_usable<X: Transport>(job: &Job<'_, X>, after: &str) -> Result<()> {
    let slice = job.calloc::<u64>(2).await?;
    job.heap().write(slice.slice(..1)?, &[9 + job.my_pe() as u64])?;
    job.put_nbi(slice.slice(1..)?, slice.slice(..1)?, job.to_right(1))?;
    job.barrier_all().await?;
    let found = job.heap().read_vec(slice.slice(1..)?)?;
    job.same(|| format!("a put after {after}"), vec![9 + job.to_left(1) as u64], found);
    job.free(slice).await
}

/// More than there is, and more than can be: `HeapFull` with what was asked, what is free and the largest piece.
pub(in crate::conformance) async fn heap_full_says_what_there_is<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let part = job.alloc::<u8>(5000).await?;
    let before = job.heap().stats();
    let largest = before.largest_free as usize;
    for len in [largest + 1, before.size as usize, usize::MAX / 2 + 1, usize::MAX - 10, usize::MAX] {
        let result = job.alloc::<u8>(len).await;
        job.refused(|| format!("alloc of {len} bytes"), "HeapFull with the numbers", result, |e| {
            matches!(e, Error::HeapFull { asked, free, largest, size, .. }
                if *asked >= len as u64 && (*free, *largest, *size) == (before.free, before.largest_free, before.size))
        });
        let result = job.calloc::<u64>(len).await;
        job.refused(
            || format!("calloc of {len} words"),
            "HeapFull",
            result,
            |e| matches!(e, Error::HeapFull { .. }),
        );
    }
    job.same(|| "statistics after refused calls".to_owned(), before, job.heap().stats());
    still_usable(job, "HeapFull").await?;
    job.free(part).await
}

async fn refused_alignment<T: Pod, X: Transport>(
    job: &Job<'_, X>,
    align: u64,
    of: &str,
    result: Result<SymSlice<T>>,
) -> Result<()> {
    if let Ok(slice) = result {
        job.free(slice).await?;
    }
    job.refused(
        || format!("align of {of} to {align}"),
        "BadAlignment",
        result,
        |e| matches!(e, Error::BadAlignment { .. }),
    );
    Ok(())
}

/// Alignments that are no power of two, or too large.
pub(in crate::conformance) async fn heap_bad_alignment<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let before = job.heap().stats();
    for align in [0, 3, 65, 1 << 62, u64::MAX] {
        refused_alignment(job, align, "bytes", job.align::<u8>(align, 10).await).await?;
        // That it is wrong does not depend on the element.
        refused_alignment(job, align, "words", job.align::<u64>(align, 10).await).await?;
    }
    job.same(|| "used after refused calls".to_owned(), before.used, job.heap().stats().used);
    still_usable(job, "BadAlignment").await
}

/// One PE asks for another size: every PE is told which.
pub(in crate::conformance) async fn heap_asymmetric_sizes<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    for odd in [0, n / 2, n - 1] {
        let before = job.heap().stats();
        let result = job.alloc::<u8>(if me == odd { 2000 } else { 1000 }).await;
        job.refused(
            || format!("alloc where PE {odd} differs"),
            "Asymmetric that names it",
            result,
            |e| {
                // Of two PEs either may be the odd one.
                matches!(e, Error::Asymmetric { odd: named, my_pe, .. }
                if *my_pe == me && named.len() == 1 && (n == 2 || named.contains(odd)))
            },
        );
        let result = job.align::<u8>(if me == odd { 128 } else { 64 }, 1000).await;
        job.refused(
            || format!("align where PE {odd} differs"),
            "Asymmetric",
            result,
            |e| matches!(e, Error::Asymmetric { .. }),
        );
        // Bytes are what counts, not how they are called: only PE `odd` asks for more than there is.
        let result = job.alloc::<u8>(if me == odd { usize::MAX } else { 1 }).await;
        job.refused(
            || format!("alloc where PE {odd} wants too much"),
            "Asymmetric",
            result,
            |e| matches!(e, Error::Asymmetric { .. }),
        );
        job.same(|| "statistics after refused calls".to_owned(), before, job.heap().stats());
        still_usable(job, "Asymmetric").await?;
    }
    Ok(())
}

/// One PE makes another call.
pub(in crate::conformance) async fn heap_asymmetric_calls<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let (a, b) = (job.alloc::<u8>(100).await?, job.alloc::<u8>(100).await?);
    let before = job.heap().stats();
    let asymmetric = |e: &Error| matches!(e, Error::Asymmetric { .. });
    for odd in [0, n - 1] {
        let mine = me == odd;
        let result = match mine {
            true => job.free(a).await,
            false => job.alloc::<u8>(100).await.map(drop),
        };
        job.refused(|| format!("free on PE {odd}, alloc on the others"), "Asymmetric", result, asymmetric);
        let result = match mine {
            true => job.calloc::<u8>(100).await,
            false => job.alloc::<u8>(100).await,
        };
        job.refused(|| format!("calloc on PE {odd}, alloc on the others"), "Asymmetric", result, asymmetric);
        let result = job.free(if mine { a } else { b }).await;
        job.refused(|| format!("free of another on PE {odd}"), "Asymmetric", result, asymmetric);
        job.same(|| "used after refused calls".to_owned(), before.used, job.heap().stats().used);
    }
    // Neither is freed anywhere.
    job.heap().fill(a, 1)?;
    job.heap().fill(b, 2)?;
    still_usable(job, "calls that differ").await?;
    job.free(a).await?;
    job.free(b).await
}

/// A part of an allocation cannot be freed; it stays live as a whole.
pub(in crate::conformance) async fn heap_free_of_a_part<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let whole = job.alloc::<u8>(1000).await?;
    let before = job.heap().stats();
    // Parts at its start differ from it by more than an allocator rounds.
    for (start, end) in [(1, 1000), (500, 600), (999, 999), (1000, 1000), (0, 200), (0, 0)] {
        let result = job.free(whole.slice(start..end)?).await;
        let accepted = result.is_ok();
        job.refused(
            || format!("free of {start}..{end} of 1000 bytes"),
            "NotLive",
            result,
            |e| matches!(e, Error::NotLive { .. }),
        );
        if accepted {
            // It is gone; nothing more can be seen here.
            return still_usable(job, "free of a part").await;
        }
    }
    job.same(|| "statistics after refused calls".to_owned(), before, job.heap().stats());
    job.heap().fill(whole, 3)?;
    still_usable(job, "free of a part").await?;
    job.free(whole).await
}

/// What is freed cannot be freed again, even if the memory is in use again.
pub(in crate::conformance) async fn heap_double_free<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let once = job.alloc::<u8>(1000).await?;
    job.free(once).await?;
    let not_live = |e: &Error| matches!(e, Error::NotLive { .. });
    job.refused(|| "a second free".to_owned(), "NotLive", job.free(once).await, not_live);
    let again = job.calloc::<u8>(1000).await?;
    job.refused(|| "a free of what is used again".to_owned(), "NotLive", job.free(once).await, not_live);
    job.same_bytes(|| "what is used again".to_owned(), &[0; 1000], &job.heap().read_vec(again)?);
    still_usable(job, "a second free").await?;
    job.free(again).await
}
