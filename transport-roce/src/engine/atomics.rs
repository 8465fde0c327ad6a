//! Single requests that a wait posts without waiting: atomics, and looks at how far others are.

use std::sync::atomic::Ordering;

use transport_core::transport::Word;

use super::Engine;
use super::posting::{End, Posting, Requests};
use super::results::Answer;

impl Engine {
    /// Adds to a word. False if it cannot be posted now.
    pub(crate) fn post_fetch_add(&self, word: Word, add: u64, answer: &mut Answer<'_>) -> bool {
        let at = answer.offset();
        self.post_atomic(word, answer, |posting| posting.fetch_add(word.offset(), add, at, End::Signaled))
    }

    /// Sets a word if it is as expected. False if it cannot be posted now.
    pub(crate) fn post_compare_swap(&self, word: Word, change: (u64, u64), answer: &mut Answer<'_>) -> bool {
        let at = answer.offset();
        self.post_atomic(word, answer, |posting| {
            posting.compare_swap(word.offset(), change, at, End::Signaled)
        })
    }

    fn post_atomic(
        &self,
        word: Word,
        answer: &mut Answer<'_>,
        make: impl FnOnce(&mut Posting<'_>) -> transport_core::Result<()>,
    ) -> bool {
        let (link, mut chain) = (self.first_link(word.pe()), Requests::new());
        if !self.is_fence_kept(link) {
            return false;
        }
        let Some(mut posting) = Posting::try_begin(self, link, &mut chain, "atomic", 1, true) else {
            return false;
        };
        match make(&mut posting).and_then(|()| posting.end()) {
            Ok(number) => {
                answer.written_by(link.index, number);
                true
            }
            // Noted as the peer's failure, which ends the wait.
            Err(_) => false,
        }
    }

    /// Asks the NIC of `pe` which barrier it has entered; the answer is there when the number is done. `None` if it cannot be
    /// asked.
    pub(crate) fn ask_entered(&self, pe: usize) -> Option<u64> {
        let (entered, copy) = (self.layout.entered(), self.layout.entered_copy(pe));
        let (link, mut chain) = (self.first_link(pe), Requests::new());
        let mut posting = Posting::try_begin(self, link, &mut chain, "barrier_all", 1, false)?;
        posting.read(entered, copy, 4, End::Signaled).and_then(|()| posting.end()).ok()
    }

    /// What it answered.
    pub(crate) fn entered_of(&self, pe: usize) -> u32 {
        self.region().word32(self.layout.entered_copy(pe)).load(Ordering::Acquire)
    }
}
