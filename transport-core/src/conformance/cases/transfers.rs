//! What the cases about puts and gets share: which sizes, where, between whom.

use crate::conformance::job::Job;
use crate::conformance::random::Random;
use crate::error::Result;
use crate::heap::SymSlice;
use crate::transport::Transport;

/// Round sizes at which backends change their way (a cache line, a page), their neighbours, nothing, and a large one.
pub(super) const SIZES: [usize; 9] = [0, 1, 63, 64, 65, 4095, 4096, 4097, LARGE];
pub(super) const LARGE: usize = 1 << 20;

/// Bytes on either side of a target that nobody may touch.
pub(super) const GUARD: usize = 128;
/// What is in bytes that nobody has written.
pub(super) const BLANK: u8 = 0xB5;
/// More than any offset of [`offsets`].
pub(super) const SLACK: usize = 64;

/// Where in their buffers source and destination begin: together and apart within a word and a cache line.
pub(super) fn offsets(len: usize) -> &'static [(usize, usize)] {
    match len {
        LARGE => &[(1, 6)],
        _ => &[(0, 0), (1, 0), (0, 3), (5, 5), (33, 60)],
    }
}

/// How far away the other PE is: every distance in a small job, the telling ones in a large one or for large sizes.
pub(super) fn distances(n_pes: usize, len: usize) -> Vec<usize> {
    let mut distances: Vec<_> = match n_pes {
        0..=8 if len < LARGE => (0..n_pes).collect(),
        _ => vec![0, 1 % n_pes, n_pes - 1],
    };
    distances.dedup();
    distances
}

/// `len` blank bytes between guards, with the `part` that starts `offset` bytes later than need be replaced.
pub(super) fn guarded(total: usize, offset: usize, part: &[u8]) -> Vec<u8> {
    let mut bytes = vec![BLANK; total];
    bytes[GUARD + offset..GUARD + offset + part.len()].copy_from_slice(part);
    bytes
}

/// Completes this PE's operations, in both ways in turn, and waits for everybody.
pub(super) async fn complete<X: Transport>(job: &Job<'_, X>, turn: usize) -> Result<()> {
    if turn.is_multiple_of(2) {
        job.quiet().await?;
    }
    job.barrier_all().await
}

/// Cuts `len` elements into pieces of random lengths, among them empty ones, in random order: start and end of each.
pub(super) fn pieces(random: &mut Random, len: usize, longest: usize) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < len {
        let end = (at + random.below(longest + 1)).min(len);
        pieces.push((at, end));
        at = end;
    }
    random.shuffle(&mut pieces);
    pieces
}

/// The part of a slice that a piece names.
pub(super) fn piece_of(slice: SymSlice<u8>, (start, end): (usize, usize)) -> Result<SymSlice<u8>> {
    slice.slice(start..end)
}
