//! Pieces of registered memory that `put_bytes_nbi` sends from.

use super::layout::STAGES;

/// The pieces, used in turn.
#[derive(Debug)]
pub(super) struct Stages {
    next: usize,
    /// What was sent from each: link, and the number after the request.
    used: [Option<(usize, u64)>; STAGES],
}

impl Default for Stages {
    fn default() -> Self {
        Self { next: 0, used: [None; STAGES] }
    }
}

impl Stages {
    /// A piece that is free; without one, that whose turn it is, and what was last sent from it. So a peer that does not answer
    /// keeps the pieces that were sent to it, and no others.
    pub(super) fn next(&mut self, is_done: impl Fn(usize, u64) -> bool) -> (usize, Option<(usize, u64)>) {
        for place in (self.next..STAGES).chain(0..self.next) {
            if self.used[place].is_none_or(|(link, number)| is_done(link, number)) {
                self.next = place;
                return (place, None);
            }
        }
        (self.next, self.used[self.next])
    }

    /// That piece is used by the request below `number` of `link`; the next has its turn.
    pub(super) fn use_next(&mut self, link: usize, number: u64) {
        self.used[self.next] = Some((link, number));
        self.next = (self.next + 1) % STAGES;
    }
}
