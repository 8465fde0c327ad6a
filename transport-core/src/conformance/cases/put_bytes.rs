//! `put_bytes_nbi`: the transport owns the bytes until it is done.

use bytes::{Bytes, BytesMut};

use super::transfers::{BLANK, GUARD, SIZES, SLACK, complete, distances, guarded, offsets};
use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::mix;
use crate::error::Result;
use crate::transport::Transport;

/// Each size, from whole and from cut bytes, to odd offsets, to every PE and to itself.
pub(in crate::conformance) async fn put_bytes_every_size<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let mut turn = 0;
    for len in SIZES {
        let total = len + SLACK + 2 * GUARD;
        let dst = job.alloc::<u8>(total).await?;
        for &(from, to) in offsets(len) {
            for distance in distances(job.n_pes(), len) {
                turn += 1;
                let (target, writer) = (job.to_right(distance), job.to_left(distance));
                job.heap().fill(dst, BLANK)?;
                job.barrier_all().await?;
                let mut bytes = vec![0x11; from];
                bytes.extend_from_slice(&pattern(len, mix(&[job.my_pe(), turn])));
                bytes.extend_from_slice(&[0x22; 9]);
                let data = Bytes::from(bytes).slice(from..from + len);
                job.put_bytes_nbi(dst.slice(GUARD + to..GUARD + to + len)?, data, target)?;
                complete(job, turn).await?;
                let expected = guarded(total, to, &pattern(len, mix(&[writer, turn])));
                let what =
                    || format!("target of a put of {len} bytes cut at {from}, to {to}, from PE {writer}");
                job.same_bytes(what, &expected, &job.heap().read_vec(dst)?);
            }
        }
        job.free(dst).await?;
    }
    Ok(())
}

/// The caller drops its handle at once, and uses the memory again, for many puts in flight.
pub(in crate::conformance) async fn put_bytes_is_kept<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const PUTS: usize = 64;
    const EACH: usize = 777;
    let (me, n) = (job.my_pe(), job.n_pes());
    let dst = job.calloc::<u8>(PUTS * EACH).await?;
    let target = job.to_right(n - 1);
    for round in 0..job.rounds(10) {
        // One allocation of which each put gets a part; the rest goes on being written, as a receive buffer would be.
        let mut buffer = BytesMut::with_capacity(PUTS * EACH);
        for put in 0..PUTS {
            buffer.extend_from_slice(&pattern(EACH, mix(&[me, round, put])));
            let data = buffer.split().freeze();
            job.put_bytes_nbi(dst.part(put, PUTS)?, data, target)?;
            drop(vec![0xDD_u8; EACH]);
        }
        complete(job, round).await?;
        for put in 0..PUTS {
            let expected = pattern(EACH, mix(&[job.to_left(n - 1), round, put]));
            let found = job.heap().read_vec(dst.part(put, PUTS)?)?;
            job.same_bytes(|| format!("round {round}, put {put} of dropped bytes"), &expected, &found);
        }
        job.barrier_all().await?;
    }
    // Bytes without an owner, of a length of their own.
    job.put_bytes_nbi(dst.slice(3..16)?, Bytes::from_static(b"static bytes!"), job.to_right(1))?;
    job.barrier_all().await?;
    job.same_bytes(|| "static bytes".to_owned(), b"static bytes!", &job.heap().read_vec(dst.slice(3..16)?)?);
    job.free(dst).await
}
