//! AllGather from neighbour to neighbour.

use super::all_gather::AllGather;
use super::run::Run;
use crate::error::Result;
use crate::heap::PeerWord;
use crate::transport::Transport;

/// Bytes that are sent on as one: a piece travels while the next one comes.
const PIECE: u64 = 128 << 10;

/// In step `s` a PE sends the part of the PE `s` to its left, which has come in the step before, to its right-hand neighbour,
/// in pieces. A fence between keeps their signals, which count them, in order.
///
/// It needs to hear of one PE only that its destination can be written. In the next run it hears that again only when this run
/// is done there, so no count goes ahead of its pieces.
pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let run = Run::check(transport, plan)?;
    let staging = run.staging();
    if run.n_pes == 1 || run.len == 0 {
        run.copy_own();
        return Ok(());
    }
    let (left, right, last) = (run.left(1), run.right(1), run.n_pes - 1);
    let steps = run.half_way();
    let epoch = staging.ring.next();
    let pieces = run.len.div_ceil(PIECE);
    let all = staging.ring_pieces.advance(pieces * last as u64);
    let before = all.wrapping_sub(pieces * last as u64);
    run.signal(left, staging.word(run.my_pe, PeerWord::RingReady), epoch)?;
    run.copy_own();
    run.wait(right, staging.word(right, PeerWord::RingReady), epoch).await?;
    let (count, counted) =
        (staging.word(run.my_pe, PeerWord::RingPieces), staging.word(left, PeerWord::RingPieces));
    for step in 0..last {
        let part = run.part(if step == 0 { run.my_pe } else { run.left(step) });
        for piece in 0..pieces {
            // What has come in the step before.
            let come = before + step as u64 * pieces + piece + 1;
            if step > 0 {
                run.wait(left, counted, come - pieces).await?;
            }
            let (at, len) = (piece * PIECE, PIECE.min(run.len - piece * PIECE));
            run.put_signal(right, (part + at, part + at, len), count, come)?;
            transport.post_fence()?;
        }
    }
    run.wait(left, counted, all).await?;
    run.release_source().await?;
    steps.end();
    Ok(())
}
