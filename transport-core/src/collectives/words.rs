//! Data in words that tell by themselves that they have come: no flag behind them, so no second message, and no order among them.
//!
//! A word of 64 bits holds 32 bits of data and a mark; 0 is a word that has not come. Its place is cleared when it was read, before
//! anybody can write there again, so nothing old is ever taken for new, whatever counters do.

use super::run::Run;
use crate::error::Result;
use crate::heap::SymHeap;
use crate::transport::Transport;

const MARK: u64 = 1;
/// Bytes of data in a word.
const DATA: u64 = 4;

/// Bytes of words for `len` bytes of data.
#[inline]
pub(super) fn room(len: u64) -> u64 {
    len.div_ceil(DATA) * 8
}

/// Writes `len` bytes from `src` as words from `to` on.
#[track_caller]
pub(super) fn write(heap: &SymHeap, to: u64, src: u64, len: u64) {
    for at in 0..len.div_ceil(DATA) {
        let mut bytes = [0; DATA as usize];
        let part = DATA.min(len - at * DATA) as usize;
        heap.read_bytes(src + at * DATA, &mut bytes[..part]);
        heap.write_word(to + at * 8, u64::from(u32::from_ne_bytes(bytes)) << 32 | MARK);
    }
}

/// Waits for the words of `from` that begin at the place that `place_of` says, and writes their data to `dst`.
pub(super) async fn take<X: Transport + ?Sized>(
    run: &Run<'_, X>,
    from: usize,
    place_of: impl Fn(usize) -> Option<u64> + Send + Sync,
    dst: u64,
    len: u64,
) -> Result<()> {
    for at in 0..len.div_ceil(DATA) {
        let word = run.wait_among(from, MARK, |pe| place_of(pe).map(|place| place + at * 8)).await?;
        let part = DATA.min(len - at * DATA) as usize;
        run.heap().write_bytes(dst + at * DATA, &((word >> 32) as u32).to_ne_bytes()[..part]);
    }
    Ok(())
}

/// So that they can come again.
#[track_caller]
pub(super) fn clear(heap: &SymHeap, place: u64, len: u64) {
    heap.clear(place, room(len));
}
