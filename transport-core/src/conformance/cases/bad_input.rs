//! What is refused: an error, and nothing sent.

use bytes::Bytes;

use crate::conformance::job::Job;
use crate::error::{Error, Result};
use crate::heap::SymSlice;
use crate::transport::{AtomicOp, Cmp, SignalOp, Transport};

const LEN: usize = 96;

/// Buffers that a refused call must leave as they are, on every PE.
struct Untouched {
    dst: SymSlice<u8>,
    src: SymSlice<u8>,
    word: SymSlice<u64>,
}

impl Untouched {
    async fn new<X: Transport>(job: &Job<'_, X>) -> Result<Self> {
        let new = Self { dst: job.alloc(LEN).await?, src: job.alloc(LEN).await?, word: job.alloc(1).await? };
        job.heap().fill(new.dst, 0x0D)?;
        job.heap().fill(new.src, 0x05)?;
        job.heap().fill(new.word, 0xF1)?;
        job.barrier_all().await?;
        Ok(new)
    }

    /// Looks on this PE, when all that was posted anywhere has landed; then a proper put shows that the transport works.
    async fn check<X: Transport>(self, job: &Job<'_, X>) -> Result<()> {
        job.quiet().await?;
        job.barrier_all().await?;
        let what = "after refused calls";
        job.same_bytes(|| format!("destination {what}"), &[0x0D; LEN], &job.heap().read_vec(self.dst)?);
        job.same_bytes(|| format!("source {what}"), &[0x05; LEN], &job.heap().read_vec(self.src)?);
        job.same(|| format!("word {what}"), 0xF1, job.heap().load(self.word)?);
        job.barrier_all().await?;
        job.put_signal_nbi(self.dst, self.src, self.word, SignalOp::Set(1), job.to_right(1))?;
        job.signal_wait_until(self.word, Cmp::Eq, 1).await?;
        job.same_bytes(|| format!("a put {what}"), &[0x05; LEN], &job.heap().read_vec(self.dst)?);
        job.free(self.dst).await?;
        job.free(self.src).await?;
        job.free(self.word).await
    }
}

/// A PE that the job does not have, in every call that takes one.
pub(in crate::conformance) async fn bad_pe_is_refused<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let buffers = Untouched::new(job).await?;
    let Untouched { dst, src, word } = buffers;
    let n = job.n_pes();
    for pe in [n, n + 1, 1 << 20, usize::MAX] {
        let named = |e: &Error| matches!(e, Error::NoSuchPe { pe: p, n_pes, .. } if (*p, *n_pes) == (pe, n));
        let refused = |call: &str, result: Result<()>| {
            job.refused(|| format!("{call} to PE {pe}"), "NoSuchPe that names it", result, named);
        };
        refused("put_nbi", job.put_nbi(dst, src, pe));
        refused("put_nbi of nothing", job.put_nbi(dst.slice(..0)?, src.slice(..0)?, pe));
        refused("put_bytes_nbi", job.put_bytes_nbi(dst, Bytes::from_static(&[9; LEN]), pe));
        refused("get_nbi", job.get_nbi(dst, src, pe));
        refused("put_signal_nbi", job.put_signal_nbi(dst, src, word, SignalOp::Set(3), pe));
        refused("atomic", job.atomic(word, AtomicOp::Add(1), pe).await.map(drop));
    }
    buffers.check(job).await
}

/// Source and destination of different lengths; more or less than one word.
pub(in crate::conformance) async fn bad_length_is_refused<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let buffers = Untouched::new(job).await?;
    let Untouched { dst, src, word } = buffers;
    let words = job.calloc::<u64>(2).await?;
    let mismatch = |e: &Error| matches!(e, Error::LengthMismatch { .. });
    let refused = |call: &str, result: Result<()>| {
        job.refused(|| call.to_owned(), "LengthMismatch", result, mismatch);
    };
    for distance in [0, 1] {
        let pe = job.to_right(distance);
        for (to, from) in [(LEN, LEN - 1), (LEN - 1, LEN), (0, 1), (1, 0)] {
            let (to, from) = (dst.slice(..to)?, src.slice(..from)?);
            refused("put_nbi", job.put_nbi(to, from, pe));
            refused("get_nbi", job.get_nbi(to, from, pe));
            refused("put_signal_nbi", job.put_signal_nbi(to, from, word, SignalOp::Set(3), pe));
            refused("put_bytes_nbi", job.put_bytes_nbi(to, Bytes::from(vec![7; from.len()]), pe));
        }
        for no_word in [words, words.slice(..0)?] {
            let signalled = job.put_signal_nbi(dst, src, no_word, SignalOp::Set(3), pe);
            refused("put_signal_nbi with no single word", signalled);
            refused("atomic on no single word", job.atomic(no_word, AtomicOp::Add(1), pe).await.map(drop));
        }
    }
    let waited = job.signal_wait_until(words, Cmp::Eq, 0).await;
    refused("signal_wait_until on two words", waited.map(drop));
    refused("heap write", job.heap().write(dst, &[1; LEN + 1]));
    refused("heap read", job.heap().read(dst, &mut [1; LEN - 1]));
    job.same(|| "words after refused calls".to_owned(), vec![0, 0], job.heap().read_vec(words)?);
    job.free(words).await?;
    buffers.check(job).await
}

/// A freed allocation and parts of it, even when the memory belongs to another allocation by then.
pub(in crate::conformance) async fn freed_allocation_is_refused<X: Transport>(
    job: &Job<'_, X>,
) -> Result<()> {
    let gone = job.alloc::<u8>(LEN).await?;
    let gone_word = job.alloc::<u64>(1).await?;
    job.free(gone).await?;
    job.free(gone_word).await?;
    // It most likely gets the same memory again.
    let buffers = Untouched::new(job).await?;
    let Untouched { dst, src, word } = buffers;
    let not_live = |e: &Error| matches!(e, Error::NotLive { .. });
    let refused = |call: &str, result: Result<()>| {
        job.refused(|| format!("{call} after free"), "NotLive", result, not_live);
    };
    let set = SignalOp::Set(3);
    for distance in [0, 1] {
        let pe = job.to_right(distance);
        for (from, to) in [(0, LEN), (10, 30), (5, 5)] {
            let (old, to, from) = (gone.slice(from..to)?, dst.slice(from..to)?, src.slice(from..to)?);
            refused("put_nbi to it", job.put_nbi(old, from, pe));
            refused("put_nbi from it", job.put_nbi(to, old, pe));
            refused("get_nbi to it", job.get_nbi(old, from, pe));
            refused("get_nbi from it", job.get_nbi(to, old, pe));
            refused("put_bytes_nbi to it", job.put_bytes_nbi(old, Bytes::from(vec![7; old.len()]), pe));
            refused("put_signal_nbi to it", job.put_signal_nbi(old, from, word, set, pe));
        }
        refused("put_signal_nbi with its word", job.put_signal_nbi(dst, src, gone_word, set, pe));
        refused("atomic", job.atomic(gone_word, AtomicOp::Swap(3), pe).await.map(drop));
    }
    refused("signal_wait_until", job.signal_wait_until(gone_word, Cmp::Ne, 0).await.map(drop));
    refused("heap write", job.heap().write(gone, &[1; LEN]));
    refused("heap read", job.heap().read_vec(gone).map(drop));
    refused("heap load", job.heap().load(gone_word).map(drop));
    refused("a cast", job.heap().read_vec(gone.cast::<u32>()?).map(drop));
    buffers.check(job).await
}

/// A word that is not on its boundary cannot even be named.
pub(in crate::conformance) async fn misaligned_word_is_refused<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let bytes = job.calloc::<u8>(64).await?;
    for start in 0..17 {
        let cast = bytes.slice(start..start + 8)?.cast::<u64>();
        if start % 8 == 0 {
            let word = cast?;
            job.atomic(word, AtomicOp::Add(1), job.to_right(1)).await?;
        } else {
            job.refused(
                || format!("a word at byte {start}"),
                "BadCast",
                cast,
                |e| matches!(e, Error::BadCast { .. } | Error::Misaligned { .. }),
            );
        }
    }
    job.refused(
        || "a word of 7 bytes".to_owned(),
        "BadCast",
        bytes.slice(..7)?.cast::<u64>(),
        |e| matches!(e, Error::BadCast { .. }),
    );
    for (start, end) in [(60, 65), (65, 65), (usize::MAX, usize::MAX)] {
        job.refused(
            || format!("{start}..{end} of 64 bytes"),
            "BadSlice",
            bytes.slice(start..end),
            |e| matches!(e, Error::BadSlice { .. }),
        );
    }
    job.barrier_all().await?;
    let words: &[u64] = &[1, 1, 1, 0, 0, 0, 0, 0];
    job.same(|| "the words that are".to_owned(), words, &job.heap().read_vec(bytes.cast::<u64>()?)?);
    job.free(bytes).await
}
