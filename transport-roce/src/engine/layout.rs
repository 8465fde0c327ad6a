//! What the backend keeps in each PE's registered memory beside the user's heap, and where: the same on every PE.

use transport_core::transport::Dissemination;

/// A cache line: what different PEs write lies on lines of its own.
const LINE: u64 = 64;
/// Results of atomics that can be under way at once.
pub(crate) const RESULTS: usize = 64;
/// Pieces that `put_bytes_nbi` sends from.
pub(crate) const STAGES: usize = 64;
/// Bytes of each.
pub(crate) const STAGE_LEN: u64 = 16 << 10;

/// Offsets from the start of the heap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    base: u64,
    rounds: u64,
    n_pes: u64,
}

impl Layout {
    /// For a job of `n_pes`, whose backend area begins at `base`.
    pub(crate) fn new(base: u64, n_pes: usize) -> Self {
        Self { base, rounds: Dissemination::rounds(n_pes).into(), n_pes: n_pes as u64 }
    }

    /// Bytes of the backend area of a job of `n_pes`.
    pub(crate) fn bytes(n_pes: usize) -> u64 {
        let at = Self::new(0, n_pes);
        at.stage(STAGES)
    }

    /// The barrier's flag of this PE that its partner of `round` writes. Each round has a line: a slot for each round, not for
    /// each PE, is all that a dissemination needs.
    #[inline]
    pub(crate) fn flag(&self, round: u32) -> u64 {
        self.base + u64::from(round) * LINE
    }

    /// Where the flag that this PE sends in `round` is sent from, if the device sends nothing inline.
    #[inline]
    pub(crate) fn flag_source(&self, round: u32) -> u64 {
        self.base + (self.rounds + u64::from(round)) * LINE
    }

    /// The number of the barrier that this PE has entered last; others read it to tell who is late.
    #[inline]
    pub(crate) fn entered(&self) -> u64 {
        self.base + 2 * self.rounds * LINE
    }

    /// Where answers go that nobody wants: those of signals that add.
    #[inline]
    pub(crate) fn discard(&self) -> u64 {
        self.entered() + LINE
    }

    /// Where the answer of an atomic goes.
    #[inline]
    pub(crate) fn result(&self, slot: usize) -> u64 {
        self.discard() + LINE + slot as u64 * LINE
    }

    /// The copy of what `pe` has in [`entered`](Self::entered).
    pub(crate) fn entered_copy(&self, pe: usize) -> u64 {
        self.result(RESULTS) + pe as u64 * 8
    }

    /// A piece to send bytes from that are not in the heap.
    pub(crate) fn stage(&self, slot: usize) -> u64 {
        let start = (self.result(RESULTS) + self.n_pes * 8).next_multiple_of(LINE);
        start + slot as u64 * STAGE_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_aligned() {
        for n_pes in [1, 2, 3, 64, 65, 4097] {
            let at = Layout::new(4096 + 64 * 7, n_pes);
            let rounds = Dissemination::rounds(n_pes);
            let mut places: Vec<(u64, u64)> = Vec::new();
            places.extend((0..rounds).flat_map(|r| [(at.flag(r), 8), (at.flag_source(r), 8)]));
            places.extend([(at.entered(), 8), (at.discard(), 8)]);
            places.extend((0..RESULTS).map(|slot| (at.result(slot), 8)));
            places.extend((0..n_pes).map(|pe| (at.entered_copy(pe), 8)));
            places.extend((0..STAGES).map(|slot| (at.stage(slot), STAGE_LEN)));
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{n_pes}");
            assert!(places.iter().all(|(offset, _)| offset % 8 == 0), "{n_pes}");
            let (last, len) = places[places.len() - 1];
            assert!(last + len - (4096 + 64 * 7) <= Layout::bytes(n_pes), "{n_pes}");
        }
    }
}
