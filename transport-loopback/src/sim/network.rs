//! What the network may do, and what it has planned for an operation.

/// What the simulated network does of all that the contract allows. By default, all of it but order.
///
/// ```
/// use transport_loopback::sim::Network;
///
/// // As reliable connections of a NIC: puts of a pair of PEs land in order, but in pieces, and read their source late.
/// let nic = Network { ordered: true, ..Network::default() };
/// // Nothing is odd but the order of operations.
/// let plain = Network { torn: false, late_source: false, ..Network::default() };
/// # assert!(nic.torn && !plain.torn);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Data lands (and is read) in pieces: in two halves where all schedules are explored, else in up to three, cut at any
    /// byte. A word that is changed by a signal or an atomic, and a flag of the barrier, never.
    pub torn: bool,
    /// What goes from one PE to another lands in the order in which it was posted, as over a queue pair. Without it only
    /// fences order.
    pub ordered: bool,
    /// A put reads its source at any time from the post to when it lands, not at the post.
    pub late_source: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self { torn: true, ordered: false, late_source: true }
    }
}

/// When the source of an operation is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadsSource {
    /// By the post.
    AtPost,
    /// By a step of its own.
    Apart,
    /// By the step that writes the destination.
    AtLanding,
}

/// The most pieces that an operation is cut into.
pub(crate) const MOST_PIECES: usize = 3;

/// What is decided about an operation before it goes: not by the scheduler, but by its name and a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// All that may be apart is apart: for the search through all schedules, which then has those in which it is together.
    Apart,
    /// By this seed.
    Random(u64),
}

impl Plan {
    /// Which bytes of a word are first, when a put of words that message `number` of `pe` begins is torn: a mask.
    pub(crate) fn some_bytes(self, pe: u32, number: u64) -> u64 {
        match self {
            Self::Apart => 0xFFFF_FFFF,
            Self::Random(seed) => {
                let bytes = Random::new(seed ^ Random::new(!number ^ (u64::from(pe) << 40)).next()).next();
                (0..8).filter(|byte| bytes >> byte & 1 == 1).map(|byte| 0xFF << (8 * byte)).sum()
            }
        }
    }

    /// How message `number` of `pe`, of `len` bytes, goes: the ends of its pieces, how many there are, and when it reads.
    pub(crate) fn of(
        self,
        network: Network,
        pe: u32,
        number: u64,
        len: u64,
    ) -> ([u64; MOST_PIECES], u8, ReadsSource) {
        let (mut ends, mut pieces, mut reads) = ([len; MOST_PIECES], 1, ReadsSource::AtPost);
        match self {
            Self::Apart => {
                if network.torn && len > 1 {
                    (ends[0], pieces) = (len / 2, 2);
                }
                if network.late_source {
                    reads = ReadsSource::Apart;
                }
            }
            Self::Random(seed) => {
                let mut random = Random::new(seed ^ Random::new(number ^ (u64::from(pe) << 40)).next());
                if network.torn && len > 1 {
                    pieces = 1 + (random.below(3) as u8).min((len - 1).min(2) as u8);
                    let cut = 1 + random.below(len - 1);
                    ends[0] = if pieces > 1 { cut } else { len };
                    if pieces > 2 {
                        ends[1] = 1 + random.below(len - 1);
                        ends[..2].sort_unstable();
                        if ends[0] == ends[1] {
                            (ends[1], pieces) = (len, 2);
                        }
                    }
                }
                if network.late_source {
                    reads = match random.below(4) {
                        0 => ReadsSource::AtPost,
                        1 => ReadsSource::Apart,
                        _ => ReadsSource::AtLanding,
                    };
                }
            }
        }
        (ends, pieces, reads)
    }
}

/// Random numbers, the same from the same seed on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next of 64 bits (splitmix64).
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// One of `0..n`; 0 if there is none.
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_bytes_and_every_kind_of_plan_occurs() {
        let mut seen = std::collections::BTreeSet::new();
        for len in [1, 2, 3, 8, 64, 1000] {
            for number in 0..200 {
                let (ends, pieces, reads) = Plan::Random(7).of(Network::default(), 1, number, len);
                let ends = &ends[..usize::from(pieces)];
                assert!(ends.first().is_some_and(|&end| end > 0), "{len} {number}: {ends:?}");
                assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{len} {number}: {ends:?}");
                assert_eq!(ends.last(), Some(&len));
                seen.insert((pieces, reads as u8));
            }
        }
        assert_eq!(seen.len(), 9);
    }
}
