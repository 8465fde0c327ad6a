//! The eager AllGather by [bytes that tell by themselves that they have come](super::marks): one message a peer, where a flag would
//! be a second.
//!
//! The slots, and what makes them safe without a barrier, are as in the [eager form](super::eager): those of successive epochs are
//! apart. A slot is cleared when its words were read, which comes before this PE's next post, and so before anything that is sent
//! to the same slot again. Even an empty part is a message: epochs that nobody heard of would let one run ahead.

use super::all_gather::AllGather;
use super::marks::{self, BLOCK, BLOCK_DATA, BlockData, MOST_WORDS};
use super::run::{Run, Started};
use crate::error::Result;
use crate::heap::SymHeap;
use crate::transport::{Transfer, Transport};

/// Sends this PE's part. No more than two may be started and not finished, in the order of their starts.
#[inline]
pub(super) fn start<'a, X: Transport + ?Sized>(transport: &'a X, plan: &AllGather) -> Result<Started<'a>> {
    let run = Run::check(transport, plan)?;
    let started = run.start(&run.staging().marked);
    let epoch = started.epoch;
    let (slot, words) = (run.staging().marked_slot(epoch, run.my_pe), marks::words(run.len));
    for block in Block::all(run.len) {
        let mut data = BlockData([0; BLOCK_DATA + 1]);
        run.heap().read_bytes(run.src + block.data, &mut data.0[..block.len]);
        run.heap().write_bytes(slot + block.start, bytemuck::cast_slice(&marks::mark(&data)[..block.words]));
    }
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
    let (staging, heap) = (run.staging(), run.heap());
    let (slot, part) = (staging.marked_slot(epoch, pe), run.part(pe));
    let mut next = 0;
    while let Err(missing) = take_blocks(heap, (slot, part, run.len), next) {
        run.wait_whole(pe, (missing.at, missing.found), |pe| staging.marked_slot(epoch, pe)).await?;
        next = missing.block;
    }
    // Only now: whoever places the bytes may place some of them twice until the last has come.
    heap.write_bytes(slot, &NOTHING[..8 * marks::words(run.len) as usize]);
    Ok(())
}

/// A word that misses some of its bytes.
struct Missing {
    block: usize,
    /// In bytes from the start of the slot.
    at: u64,
    found: u64,
}

/// Takes the blocks from number `next` on, up to one that has not come as a whole.
#[inline(never)]
fn take_blocks(
    heap: &SymHeap,
    (slot, part, len): (u64, u64, u64),
    next: usize,
) -> std::result::Result<(), Missing> {
    for (number, block) in Block::all(len).enumerate().skip(next) {
        let mut words = [0; BLOCK];
        for (at, word) in (block.start..).step_by(8).zip(&mut words[..block.words]) {
            *word = heap.load_word(slot + at);
            if !marks::is_whole(*word) {
                return Err(Missing { block: number, at, found: *word });
            }
        }
        heap.write_bytes(part + block.data, &marks::unmark(&words).0[..block.len]);
    }
    Ok(())
}

/// An empty slot.
static NOTHING: [u8; 8 * MOST_WORDS] = [0; 8 * MOST_WORDS];

/// Some words of a slot, and what they say.
struct Block {
    /// Where the words begin, in bytes from the start of the slot.
    start: u64,
    words: usize,
    /// Where the data begins, in bytes from the start of the part.
    data: u64,
    len: usize,
}

impl Block {
    /// Of a part of `len` bytes.
    #[inline]
    fn all(len: u64) -> impl Iterator<Item = Self> + Send {
        let words = marks::words(len);
        (0..words).step_by(BLOCK).map(move |first| {
            let (start, data) = (8 * first, 7 * first);
            let words = (words - first).min(BLOCK as u64) as usize;
            Self { start, words, data, len: (len - data).min(BLOCK_DATA as u64) as usize }
        })
    }
}
