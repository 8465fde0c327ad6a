//! Bytes by which a misplaced, missing or foreign byte is noticed.

use super::random::Random;

/// The bytes repeat after this many: a prime, so that a shift by any size that a backend might split at is seen.
const PERIOD: usize = 4099;

/// `len` bytes that belong to `seed`.
pub(super) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = Vec::with_capacity(len.next_multiple_of(8));
    while bytes.len() < len.min(PERIOD) {
        bytes.extend_from_slice(&random.next().to_le_bytes());
    }
    bytes.truncate(len.min(PERIOD));
    while bytes.len() < len {
        let more = PERIOD.min(len - bytes.len());
        bytes.extend_from_within(..more);
    }
    bytes
}
