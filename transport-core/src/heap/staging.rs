//! Where collectives keep what is under way: a part of the heap's own area, and the counters of this PE.
//!
//! All of it is at the same offsets on every PE. What a PE writes at another is at a place of its own there, so that two never
//! write the same. Counters only go up, and 64 bits do not wrap; a flag is compared with `>=`.

use std::sync::atomic::{AtomicU64, Ordering};

/// A cache line, in bytes: what different PEs write is apart by that.
const LINE: u64 = 64;
/// The most data of an eager slot.
const SLOT_DATA: u64 = 8 << 10;
/// The most that the slots of all PEs of one epoch have.
const SLOTS_OF_EPOCH: u64 = 16 * (SLOT_DATA + LINE);
/// Blocks of a Bruck of one epoch.
const BLOCKS_OF_EPOCH: u64 = 256 << 10;
/// The most words of a slot of marked bytes.
const MARKED_SLOT: u64 = 8 * crate::collectives::MOST_MARKED_WORDS as u64;
/// The most that the slots of marked bytes of all PEs of one epoch have.
const MARKED_SLOTS_OF_EPOCH: u64 = 32 << 10;
/// Runs whose parts are laid aside apart: see there.
const FETCH_EPOCHS: u64 = 2;
/// As many rounds as a `u32` of PEs can need.
const ROUNDS: u64 = 32;
/// Data up to here travels in the line of its flag.
const BESIDE_FLAG: u64 = LINE - 8;

/// Epochs whose eager slots are apart. A PE may post two AllGathers before it waits for the first, so a peer may be that far
/// ahead, and its own two may not have been read: four.
pub(crate) const EAGER_EPOCHS: u64 = 4;
/// Epochs whose Bruck blocks are apart: a peer may be one ahead.
const BRUCK_EPOCHS: u64 = 2;

/// Words that PE `from` writes at another: one line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PeerWord {
    /// The last direct AllGather whose data of it has landed.
    Direct = 0,
    /// The last pulling AllGather for which its source is ready.
    PullReady = 8,
    /// Where that source is: bytes from the start of the heap.
    PullSource = 16,
    /// The last pulling AllGather for which it has read the source of the other.
    PullDone = 24,
    /// The last ring for which its destination is ready.
    RingReady = 32,
    /// Pieces that it has sent in rings.
    RingPieces = 40,
}

/// The counters of one algorithm's runs on this PE. All PEs run the same ones in the same order, so they agree.
#[derive(Debug, Default)]
pub(crate) struct Epoch(AtomicU64);

impl Epoch {
    /// The next run's number, from 1.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.advance(1)
    }

    /// What it comes to when `by` is added.
    #[inline]
    pub(crate) fn advance(&self, by: u64) -> u64 {
        // One collective at a time: no other thread adds meanwhile.
        let next = self.0.load(Ordering::Relaxed).wrapping_add(by);
        self.0.store(next, Ordering::Relaxed);
        next
    }
}

/// Places by offset from the start of the heap.
#[derive(Debug)]
pub(crate) struct Staging {
    start: u64,
    n_pes: u64,
    slot: u64,
    pub(crate) eager: Epoch,
    pub(crate) direct: Epoch,
    pub(crate) pull: Epoch,
    pub(crate) ring: Epoch,
    pub(crate) ring_pieces: Epoch,
    pub(crate) bruck: Epoch,
    pub(crate) marked: Epoch,
    pub(crate) fetch: Epoch,
}

/// Where the data of a PE is for one eager AllGather, and the flag that tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) flag: u64,
    pub(crate) data: u64,
}

impl Staging {
    /// Bytes that it takes.
    pub(super) fn len(n_pes: u64) -> u64 {
        let slot = Self::slot_len(n_pes) + Self::marked_slot_len(n_pes);
        let slots = n_pes.saturating_mul(slot).saturating_mul(EAGER_EPOCHS);
        let lines = n_pes.saturating_add(BRUCK_EPOCHS * ROUNDS).saturating_mul(LINE);
        let fixed = BRUCK_EPOCHS * BLOCKS_OF_EPOCH + FETCH_EPOCHS * Self::FETCH_ROOM;
        lines.saturating_add(fixed).saturating_add(slots)
    }

    /// From `start` on, a multiple of a line.
    pub(super) fn new(start: u64, n_pes: u64) -> Self {
        let [eager, direct, pull, ring, ring_pieces, bruck, marked, fetch] =
            std::array::from_fn(|_| Epoch::default());
        let slot = Self::slot_len(n_pes);
        Self { start, n_pes, slot, eager, direct, pull, ring, ring_pieces, bruck, marked, fetch }
    }

    fn slot_len(n_pes: u64) -> u64 {
        let each = SLOTS_OF_EPOCH / n_pes.max(1) / LINE * LINE;
        each.clamp(LINE, SLOT_DATA + LINE)
    }

    /// Nothing where PEs are so many that none would have a line.
    fn marked_slot_len(n_pes: u64) -> u64 {
        (MARKED_SLOTS_OF_EPOCH / n_pes.max(1) / LINE * LINE).min(MARKED_SLOT)
    }

    /// A word that PE `from` writes.
    #[inline]
    pub(crate) fn word(&self, from: usize, word: PeerWord) -> u64 {
        self.start + from as u64 * LINE + word as u64
    }

    /// The flag of a round of Bruck.
    #[inline]
    pub(crate) fn bruck_flag(&self, epoch: u64, round: u32) -> u64 {
        self.start + (self.n_pes + epoch % BRUCK_EPOCHS * ROUNDS + u64::from(round)) * LINE
    }

    /// The blocks of a Bruck.
    #[inline]
    pub(crate) fn bruck_blocks(&self, epoch: u64) -> u64 {
        let lines = self.n_pes + BRUCK_EPOCHS * ROUNDS;
        self.start + lines * LINE + epoch % BRUCK_EPOCHS * BLOCKS_OF_EPOCH
    }

    /// The most bytes a PE that a fetching AllGather has room for.
    pub(crate) const FETCH_ROOM: u64 = 8 << 10;

    /// Where a PE lays its part aside.
    #[inline]
    pub(crate) fn fetch_place(&self, epoch: u64) -> u64 {
        let places = self.bruck_blocks(0) + BRUCK_EPOCHS * BLOCKS_OF_EPOCH;
        places + epoch % FETCH_EPOCHS * Self::FETCH_ROOM
    }

    /// The most bytes a PE that Bruck has room for.
    #[inline]
    pub(crate) fn bruck_room(&self) -> u64 {
        BLOCKS_OF_EPOCH / self.n_pes.max(1)
    }

    /// Where the `len` bytes of PE `from` arrive. On `from` itself it is where they are sent from.
    #[inline]
    pub(crate) fn eager_slot(&self, epoch: u64, from: usize, len: u64) -> Slot {
        let slots = self.fetch_place(0) + FETCH_EPOCHS * Self::FETCH_ROOM;
        let flag = slots + (epoch % EAGER_EPOCHS * self.n_pes + from as u64) * self.slot;
        Slot { flag, data: flag + if len <= BESIDE_FLAG { 8 } else { LINE } }
    }

    /// Where the marked bytes of PE `from` arrive. On `from` itself it is where they are sent from.
    #[inline]
    pub(crate) fn marked_slot(&self, epoch: u64, from: usize) -> u64 {
        let slots = self.eager_slot(0, 0, 0).flag + EAGER_EPOCHS * self.n_pes * self.slot;
        slots + (epoch % EAGER_EPOCHS * self.n_pes + from as u64) * Self::marked_slot_len(self.n_pes)
    }

    /// The most bytes a PE that an AllGather by marked bytes has room for.
    #[inline]
    pub(crate) fn marked_room(&self) -> u64 {
        Self::marked_slot_len(self.n_pes) / 8 * 7
    }

    /// The most bytes a PE that an eager AllGather has room for.
    #[inline]
    pub(crate) fn eager_room(&self) -> u64 {
        if self.slot > LINE { self.slot - LINE } else { BESIDE_FLAG }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_apart_and_inside() {
        for n_pes in [1_u64, 2, 3, 5, 8, 16, 33, 64, 1000, 4096, 65536] {
            let staging = Staging::new(4096, n_pes);
            let mut places = Vec::new();
            let last = n_pes - 1;
            for from in [0, last / 2, last] {
                places.push((staging.word(from as usize, PeerWord::Direct), LINE));
                for epoch in 0..EAGER_EPOCHS {
                    let (room, flags) =
                        (staging.eager_room(), staging.eager_slot(epoch, from as usize, 0).flag);
                    let slot = staging.eager_slot(epoch, from as usize, room);
                    assert_eq!(slot.flag, flags, "a flag stays where it is, whatever the size");
                    assert!(slot.data >= slot.flag + 8);
                    places.push((slot.flag, slot.data + room - slot.flag));
                    if staging.marked_room() > 0 {
                        let len = 8 * staging.marked_room().div_ceil(7);
                        places.push((staging.marked_slot(epoch, from as usize), len));
                    }
                }
            }
            places.extend([0, 1].map(|epoch| (staging.fetch_place(epoch), Staging::FETCH_ROOM)));
            for epoch in 0..BRUCK_EPOCHS {
                places.push((staging.bruck_blocks(epoch), n_pes * staging.bruck_room()));
                places.extend([0, 31].map(|round| (staging.bruck_flag(epoch, round), 8)));
            }
            places.sort_unstable();
            places.dedup();
            for pair in places.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{n_pes} PEs: {pair:?}");
            }
            let (first, last) = (places[0], places[places.len() - 1]);
            assert_eq!(first.0, 4096);
            assert!(last.0 + last.1 <= 4096 + Staging::len(n_pes), "{n_pes} PEs: {last:?}");
            assert!(places.iter().all(|place| place.0 % 8 == 0));
        }
    }

    #[test]
    fn it_stays_small() {
        for (n_pes, most) in [(2, 1 << 20), (64, 1200 << 10), (4096, 2 << 20)] {
            assert!(Staging::len(n_pes) <= most, "{n_pes} PEs: {}", Staging::len(n_pes));
        }
        assert_eq!(Staging::new(0, 2).eager_room(), SLOT_DATA);
        assert_eq!(Staging::new(0, 4096).eager_room(), BESIDE_FLAG);
        assert_eq!(Staging::len(u64::MAX), u64::MAX);
    }

    #[test]
    fn small_data_is_in_the_line_of_its_flag() {
        let slot = |len| Staging::new(0, 2).eager_slot(3, 1, len);
        assert_eq!(slot(56).data, slot(56).flag + 8);
        assert_eq!(slot(57).data, slot(57).flag + 64);
    }
}
