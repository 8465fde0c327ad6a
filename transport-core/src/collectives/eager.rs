//! AllGather of small parts through slots at every PE: no barrier, one message time.
//!
//! Part and flag of PE `i` go into slot `i` of every peer, where the peer copies the part out. What makes that safe without a
//! barrier is that slots of [`EAGER_EPOCHS`](crate::heap::Staging) successive epochs are apart. Let PE `i` post epoch `e`. It has
//! completed epoch `e - 2` at least (a graph posts two before it waits), so every `j` had posted `e - 2`, so `j` had completed
//! `e - 4` and is done with the slot that `e` takes: it has copied it, and has seen the flag that `e` overwrites. As to the own
//! slot, which the parts are sent from: `j` had seen the part of `e - 4`, so nothing reads it any more.

use super::all_gather::AllGather;
use super::run::{Run, Started};
use crate::error::Result;
use crate::transport::Transport;

/// Sends this PE's part. No more than two may be started and not finished, in the order of their starts.
#[inline]
pub(super) fn start<'a, X: Transport + ?Sized>(transport: &'a X, plan: &AllGather) -> Result<Started<'a>> {
    let run = Run::check(transport, plan)?;
    let started = run.start(&run.staging().eager);
    let epoch = started.epoch;
    let slot = run.staging().eager_slot(epoch, run.my_pe, run.len);
    let mut from = run.src;
    if !transport.reads_source_at_post(run.len) && run.len > 0 {
        // The user may change the source when this AllGather is done; the slot is left alone for longer.
        run.heap().copy_within(slot.data, run.src, run.len);
        from = slot.data;
    }
    for pe in run.targets() {
        run.put_signal(pe, (from, slot.data, run.len), slot.flag, epoch)?;
    }
    Ok(started)
}

/// Takes the part of `pe`.
#[inline]
pub(super) async fn take<X: Transport + ?Sized>(run: &Run<'_, X>, epoch: u64, pe: usize) -> Result<()> {
    let staging = run.staging();
    run.wait_among(pe, epoch, |pe| staging.eager_slot(epoch, pe, 0).flag).await?;
    if run.len > 0 {
        run.heap().copy_within(run.part(pe), staging.eager_slot(epoch, pe, run.len).data, run.len);
    }
    Ok(())
}
