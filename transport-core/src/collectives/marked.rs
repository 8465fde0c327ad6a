//! The eager AllGather by [bytes that tell by themselves that they have come](super::marks): one message a peer, where a flag would
//! be a second.
//!
//! The slots, and what makes them safe without a barrier, are as in the [eager form](super::eager): those of successive epochs are
//! apart. A slot is cleared when its words were read, which comes before this PE's next post, and so before anything that is sent
//! to the same slot again. Even an empty part is a message: epochs that nobody heard of would let one run ahead.

use super::all_gather::AllGather;
use super::marks::{self, MOST_DATA};
use super::run::{Run, Started};
use crate::error::Result;
use crate::transport::{Transfer, Transport};

/// Sends this PE's part. No more than two may be started and not finished, in the order of their starts.
#[inline]
pub(super) fn start<'a, X: Transport + ?Sized>(transport: &'a X, plan: &AllGather) -> Result<Started<'a>> {
    let run = Run::check(transport, plan)?;
    let started = run.start(&run.staging().marked);
    let epoch = started.epoch;
    let (slot, len) = (run.staging().marked_slot(epoch, run.my_pe), run.len as usize);
    let mut data = [0; MOST_DATA];
    run.heap().read_bytes(run.src, &mut data[..len]);
    let words = marks::words(run.len);
    run.heap().write_bytes(slot, bytemuck::cast_slice(&marks::mark(&data[..len])[..words as usize]));
    for pe in run.targets() {
        if let Some(put) = Transfer::between(slot, slot, 8 * words, pe) {
            transport.post_put_marked(put)?;
        }
    }
    Ok(started)
}

/// Takes the part of `pe`.
#[inline]
pub(super) async fn take<X: Transport + ?Sized>(run: &Run<'_, X>, epoch: u64, pe: usize) -> Result<()> {
    let (staging, heap, words) = (run.staging(), run.heap(), marks::words(run.len));
    let mut data = [0; MOST_DATA];
    for (at, data) in (0..words).zip(data.chunks_mut(7)) {
        let word = run.wait_whole(pe, 8 * at, |pe| staging.marked_slot(epoch, pe)).await?;
        data.copy_from_slice(&marks::unmark(word));
    }
    let slot = staging.marked_slot(epoch, pe);
    heap.write_bytes(slot, &bytemuck::bytes_of(&[0_u64; marks::MOST_WORDS])[..8 * words as usize]);
    heap.write_bytes(run.part(pe), &data[..run.len as usize]);
    Ok(())
}
