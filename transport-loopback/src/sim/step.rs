//! What the network does next with a message.

use std::ops::Range;
use std::sync::Arc;

use transport_core::AtomicOp;

use super::event::{Event, OpId};
use super::message::{Kind, Message};
use super::post::{as_atomic, change};
use super::world::World;

/// News of an end, which the PE's endpoint is to be told.
pub(crate) struct Lost {
    /// Who hears it.
    pub(crate) at: usize,
    /// Who is gone.
    pub(crate) pe: usize,
    /// Why.
    pub(crate) reason: Arc<str>,
}

impl World {
    /// Does the next step of a piece of the message in `slot`.
    pub(crate) fn step(&mut self, slot: u32, piece: u8) -> Option<Lost> {
        if self.timed.is_some() {
            return self.timed_step();
        }
        // Out of its place meanwhile, so that all of the world can be changed.
        let mut message = self.messages.get_mut(slot as usize)?.take()?;
        let mut done = Done::default();
        if message.only_reads(piece) {
            self.fetch(&mut message, piece);
            done.again = true;
            if message.unread > 0 {
                message.unread -= 1;
                // The order of a get is that of its reads; the answer comes when it comes.
                done.leaves = message.unread == 0;
                done.next_piece = self.network.ordered;
            }
        } else {
            self.land(&mut message, piece);
            message.left -= 1;
            done.landed = message.left == 0;
            let is_get = matches!(message.kind, Kind::Get { .. });
            done.leaves = done.landed && !is_get;
            done.next_piece = self.network.ordered && !is_get;
        }
        let (way, n_pieces, then) = (message.way(self.network.ordered), message.n_pieces, message.then);
        let completes = done.landed.then(|| message.id()).flatten();
        let lost = self.news(&message);
        self.messages[slot as usize] = Some(message);

        if done.again {
            self.enabled.push(super::action::Action::Net { slot, piece });
        }
        if done.next_piece && piece + 1 < n_pieces {
            self.enabled.push(super::action::Action::Net { slot, piece: piece + 1 });
        }
        self.completed(completes);
        if done.leaves
            && let Some(way) = way
        {
            for next in self.ways.leave(way) {
                self.enable(next);
            }
        }
        if done.landed {
            self.retire(slot);
            if let Some(then) = then {
                self.enable(then);
            }
        }
        lost
    }

    /// An operation is complete.
    pub(super) fn completed(&mut self, id: Option<OpId>) {
        if let Some(id) = id {
            self.pes[id.pe].complete.complete(id.number);
            self.tell(|| Event::Completed { id });
            self.wake_complete(id.pe, id.number);
        }
    }

    /// Writes a piece of the destination, or what else the message is to change.
    pub(super) fn land(&mut self, message: &mut Message, piece: u8) {
        let id = message.id();
        let (pe, range) = message.destination(piece);
        match &message.kind {
            Kind::Put { .. } | Kind::Get { .. } | Kind::Bytes { .. } => {
                self.write_piece(message, piece, pe, &range);
                self.landed(id, pe, range, true);
            }
            Kind::Signal { word, op } => {
                change(self.pes[pe].memory.word(*word), as_atomic(*op));
                self.landed(id, pe, range, true);
            }
            &Kind::Marked { word, bytes, .. } => {
                let part = self.marked_word(message) & bytes;
                change(self.pes[pe].memory.word(word), AtomicOp::Add(part));
                self.landed(id, pe, range, true);
            }
            &Kind::Atomic { word, op } => {
                let before = change(self.pes[pe].memory.word(word), op);
                self.landed(id, pe, range, op != AtomicOp::Fetch);
                if let Some(id) = id {
                    let awaits = |wait: &super::waits::Wait| {
                        wait.what == super::waits::Waiting::Atomic { number: id.number }
                    };
                    if self.pes[id.pe].waits.iter().any(awaits) {
                        self.pes[id.pe].answers.push((id.number, before));
                    }
                }
            }
            &Kind::Flag { round, epoch } => {
                if let Some(flag) = self.pes[pe].barrier.flags.get_mut(round as usize) {
                    *flag = epoch;
                }
                self.tell.note(|| {
                    format!("flag {round} of PE {} for barrier {epoch} reaches PE {pe}", message.from)
                });
                self.wake_flag(pe, round);
            }
            Kind::Lost { .. } => {}
        }
    }

    fn write_piece(&mut self, message: &mut Message, piece: u8, pe: usize, range: &Range<u64>) {
        if let Some(data) = Self::bytes_of(message, piece) {
            return self.pes[pe].memory.write(range.start, &data);
        }
        let at = usize::from(piece);
        if message.pieces.get(at).is_some_and(|piece| piece.read) {
            return self.pes[pe].memory.write(range.start, &message.pieces[at].data);
        }
        let (from, source) = message.source(piece);
        let len = source.end - source.start;
        self.pes[pe].memory.copy_from(range.start, &self.pes[from].memory, source.start, len);
        self.tell_fetched(message.id(), source);
    }

    /// The word that a part of a put of marked bytes reads: now, unless it has.
    fn marked_word(&mut self, message: &mut Message) -> u64 {
        if !message.pieces[0].read {
            self.fetch(message, 0);
        }
        let mut word = [0; 8];
        let (read, data) = (message.pieces[0].data.iter(), word.iter_mut());
        data.zip(read).for_each(|(byte, &read)| *byte = read);
        u64::from_ne_bytes(word)
    }

    /// Bytes of `pe` have been written, or a word of it was read or changed.
    pub(super) fn landed(&mut self, id: Option<OpId>, pe: usize, range: Range<u64>, changed: bool) {
        if let Some(id) = id {
            if changed {
                self.tell.changed(pe, &range, id);
            }
            let told = range.clone();
            self.tell(|| Event::Landed { id, range: told });
        }
        if changed {
            self.wake_word(pe, &range);
        }
    }

    pub(super) fn news(&mut self, message: &Message) -> Option<Lost> {
        let Kind::Lost { reason } = &message.kind else { return None };
        let (at, pe) = (message.to as usize, message.from as usize);
        self.tell.note(|| format!("PE {at} hears that PE {pe} is lost: {reason}"));
        Some(Lost { at, pe, reason: Arc::clone(reason) })
    }
}

/// What a step has brought.
#[derive(Default)]
struct Done {
    /// The piece has a further step.
    again: bool,
    /// The piece after it can go.
    next_piece: bool,
    /// Those behind it on its way need not wait for it any more.
    leaves: bool,
    /// All of it has landed.
    landed: bool,
}
