//! Bruck's AllGather by words that tell by themselves that they have come: one message a round.
//!
//! Blocks are sent on as they have come, words and all. They are cleared only when the next epoch is complete: then all have posted
//! that one, so all had completed this one, and nothing is sent from here any more. So the blocks of four epochs are apart: who posts
//! epoch `e` has completed `e - 1`, so all had posted `e - 1` and completed `e - 2`, and with it cleared `e - 3` and all before, of which
//! `e - 4` is in the place that `e` takes.

use super::all_gather::AllGather;
use super::run::Run;
use super::words;
use crate::error::Result;
use crate::transport::{Dissemination, Transfer, Transport};

pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let run = Run::check(transport, plan)?;
    let (heap, staging, len) = (run.heap(), run.staging(), run.len);
    if run.n_pes == 1 || len == 0 {
        run.copy_own();
        return Ok(());
    }
    let steps = run.half_way();
    let epoch = staging.bruck_words.next();
    let (blocks, each) = (staging.bruck_words_blocks(epoch), words::room(len));
    words::write(heap, blocks, run.src, len);
    run.copy_own();
    for round in 0..Dissemination::rounds(run.n_pes) {
        let have = 1 << round;
        let count = have.min(run.n_pes - have);
        let (to, from) = (blocks + have as u64 * each, run.right(have));
        if let Some(put) = Transfer::between(blocks, to, count as u64 * each, run.left(have)) {
            transport.post_put_words(put)?;
        }
        for block in have..have + count {
            let place = blocks + block as u64 * each;
            let part = run.part(run.right(block));
            words::take(&run, from, |pe| (pe == from).then_some(place), part, len).await?;
        }
    }
    // Those of the epoch before, as large as they were then.
    let before = staging.bruck_words_blocks(epoch.wrapping_sub(1));
    heap.clear(before, staging.bruck_words_used(run.n_pes as u64 * each));
    steps.end();
    Ok(())
}
