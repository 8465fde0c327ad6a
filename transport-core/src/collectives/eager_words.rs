//! The eager AllGather by words that tell by themselves that they have come: one message a peer, where a flag would be a second.
//!
//! The slots, and what makes them safe, are as in the eager form. A slot is cleared when its words were read; the own one, which the
//! words are sent from, is written anew each time.

use super::all_gather::AllGather;
use super::run::Run;
use super::words;
use crate::error::Result;
use crate::transport::{Steps, Transfer, Transport};

/// An AllGather whose words are on their way to everybody.
pub(crate) struct Started<'a, X: ?Sized> {
    run: Run<'a, X>,
    epoch: u64,
    steps: Steps<'a>,
}

/// Sends this PE's part. No more than two may be started and not finished, in the order of their starts.
pub(crate) fn start<'a, X: Transport + ?Sized>(transport: &'a X, plan: &AllGather) -> Result<Started<'a, X>> {
    let run = Run::check(transport, plan)?;
    let steps = run.half_way();
    let epoch = run.staging().eager_words.next();
    let slot = run.staging().eager_words_slot(epoch, run.my_pe);
    words::write(run.heap(), slot, run.src, run.len);
    for pe in run.targets() {
        if let Some(put) = Transfer::between(slot, slot, words::room(run.len), pe) {
            transport.post_put_words(put)?;
        }
    }
    Ok(Started { run, epoch, steps })
}

impl<X: Transport + ?Sized> Started<'_, X> {
    /// Takes everybody's part.
    pub(crate) async fn finish(self) -> Result<()> {
        let Self { run, epoch, steps } = self;
        let staging = run.staging();
        run.copy_own();
        for pe in run.sources() {
            let slot = |pe| Some(staging.eager_words_slot(epoch, pe));
            words::take(&run, pe, slot, run.part(pe), run.len).await?;
            words::clear(run.heap(), staging.eager_words_slot(epoch, pe), run.len);
        }
        steps.end();
        Ok(())
    }
}
