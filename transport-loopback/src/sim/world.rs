//! The simulated job: the PEs' memory, what is under way between them, and what they wait for.
//!
//! Nothing in it depends on time, addresses, or the order of a hash map.

use std::time::Duration;

use bytes::Bytes;
use transport_core::memory::Region;

use super::action::{Action, Name};
use super::cost::Timed;
use super::message::{Kind, Message};
use super::network::{Network, Plan, ReadsSource};
use super::pairs::Ways;
use super::tell::Tell;
use super::waits::Wait;
use super::window::Window;

/// All of a job but the futures of its PEs.
pub(crate) struct World {
    pub(crate) network: Network,
    pub(crate) plan: Plan,
    pub(crate) pes: Vec<Pe>,
    /// Messages under way, by slot.
    pub(crate) messages: Vec<Option<Message>>,
    free: Vec<u32>,
    pub(crate) ways: Ways,
    /// What can happen since the scheduler was last told.
    pub(crate) enabled: Vec<Action>,
    pub(crate) tell: Tell,
    /// The clocks, if time passes.
    pub(crate) timed: Option<Box<Timed>>,
    /// How late it is: moved only by waits that time out.
    pub(crate) now: Duration,
    /// All PEs have come to `begin`, or none has to.
    pub(crate) begun: bool,
    pub(crate) begin_called: bool,
    /// The schedule has ended; what is dropped now is no event.
    pub(crate) closed: bool,
    next_wait: u64,
    /// Buffers for the next pieces.
    spare: Vec<Vec<u8>>,
}

/// One PE, as the network sees it.
pub(crate) struct Pe {
    pub(crate) memory: Region,
    /// Operations posted.
    pub(crate) posted: u64,
    /// Messages sent: operations, flags, news.
    pub(crate) sent: u64,
    pub(crate) fences: u64,
    pub(crate) complete: Window,
    /// Answers of atomics that are awaited.
    pub(crate) answers: Vec<(u64, u64)>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) barrier: Barrier,
    pub(crate) ended: bool,
    /// It has told the others that it is gone.
    pub(crate) gone: bool,
}

/// A PE's side of the barriers.
pub(crate) struct Barrier {
    /// Flag of each round.
    pub(crate) flags: Vec<u32>,
    /// The barrier that was entered last; its quiet may be under way.
    pub(crate) entered: u32,
    /// Its quiet covers the operations before this one.
    pub(crate) before: u64,
    /// The quiet of the barrier under way is done.
    pub(crate) is_quiet: bool,
    /// The barrier that was finished last.
    pub(crate) finished: u32,
    /// What the last look at it found missing.
    pub(crate) needs: BarrierNeed,
}

/// What a PE in a barrier needs to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierNeed {
    /// Its operations before this one are complete.
    Quiet { before: u64 },
    /// This flag reaches this number.
    Flag { round: u32, epoch: u32 },
}

/// How a job is set up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) network: Network,
    pub(crate) plan: Plan,
    pub(crate) first_epoch: u32,
    pub(crate) rounds: u32,
    /// PEs will come to `begin`, and no choice is made before.
    pub(crate) with_begin: bool,
}

impl World {
    pub(crate) fn new(memory: impl Iterator<Item = Region>, start: Start, tell: Tell) -> Self {
        let Start { network, plan, first_epoch, rounds, with_begin } = start;
        let pe = |memory| Pe {
            memory,
            posted: 0,
            sent: 0,
            fences: 0,
            complete: Window::default(),
            answers: Vec::new(),
            waits: Vec::new(),
            barrier: Barrier {
                flags: vec![first_epoch; rounds as usize],
                entered: first_epoch,
                before: 0,
                is_quiet: false,
                finished: first_epoch,
                needs: BarrierNeed::Quiet { before: 0 },
            },
            ended: false,
            gone: false,
        };
        Self {
            network,
            plan,
            pes: memory.map(pe).collect(),
            messages: Vec::new(),
            free: Vec::new(),
            ways: Ways::default(),
            enabled: Vec::new(),
            tell,
            timed: None,
            now: Duration::ZERO,
            begun: !with_begin,
            begin_called: false,
            closed: false,
            next_wait: 0,
            spare: Vec::new(),
        }
    }

    /// A number for the next wait.
    pub(crate) fn next_wait(&mut self) -> u64 {
        self.next_wait += 1;
        self.next_wait
    }

    /// The name of an action that can happen now.
    pub(crate) fn name(&self, action: Action) -> Name {
        match action {
            Action::Poll(pe) => Name::Poll(pe),
            Action::Net { slot, piece } => match self.message(slot) {
                Some(message) => message.name(piece),
                None => Name::Net { pe: u32::MAX, number: 0, piece },
            },
        }
    }

    pub(crate) fn message(&self, slot: u32) -> Option<&Message> {
        self.messages.get(slot as usize)?.as_ref()
    }

    pub(crate) fn message_mut(&mut self, slot: u32) -> Option<&mut Message> {
        self.messages.get_mut(slot as usize)?.as_mut()
    }

    /// Sends a message of `from`: it has a slot from now on, and can go when its way is free.
    pub(super) fn send(&mut self, from: usize, to: usize, op: Option<u64>, kind: Kind, len: u64) -> u32 {
        let number = self.pes[from].sent;
        self.pes[from].sent += 1;
        let mut message = Message::new(from as u32, to as u32, number, op, kind);
        if len > 0 {
            // What changes a word does so in one step.
            let torn = self.network.torn && !matches!(message.kind, Kind::Marked { .. });
            let network = Network { torn, ..self.network };
            let (ends, pieces, reads) = self.plan.of(network, from as u32, number, len);
            message.cut(&ends[..usize::from(pieces)]);
            message.reads = match message.kind {
                Kind::Get { .. } => ReadsSource::Apart,
                Kind::Bytes { .. } => ReadsSource::AtLanding,
                _ => reads,
            };
            if message.reads == ReadsSource::AtPost {
                for piece in 0..message.n_pieces {
                    self.fetch(&mut message, piece);
                }
            }
        }
        let slot = self.free.pop().unwrap_or(self.messages.len() as u32);
        if slot as usize == self.messages.len() {
            self.messages.push(Some(message));
        } else {
            self.messages[slot as usize] = Some(message);
        }
        slot
    }

    /// Puts message `slot` on its way. `waits_for_data`: it is let go by the message before it.
    pub(super) fn depart(&mut self, slot: u32, waits_for_data: bool) {
        let ordered = self.network.ordered;
        let Some(message) = self.message_mut(slot) else { return };
        message.waits_for_data = waits_for_data;
        let (from, number) = (message.from, message.number);
        let may_go = match (&message.kind, message.way(ordered)) {
            (Kind::Flag { .. }, Some(way)) => self.ways.enter(way, number, slot, false),
            (_, Some(way)) if ordered => self.ways.enter(way, number, slot, false),
            (_, Some(way)) => {
                let fences = self.pes[from as usize].fences;
                self.ways.enter(way, fences, slot, waits_for_data)
            }
            (_, None) => true,
        };
        if may_go && !waits_for_data {
            self.enable(slot);
        }
    }

    /// The message can land now.
    pub(super) fn enable(&mut self, slot: u32) {
        let ordered = self.network.ordered;
        let Some(message) = self.message(slot) else { return };
        // Over a queue pair the pieces of one message come in order too.
        let pieces = if ordered { 1 } else { message.n_pieces };
        self.enabled.extend((0..pieces).map(|piece| Action::Net { slot, piece }));
    }

    /// Ends a message.
    pub(super) fn retire(&mut self, slot: u32) {
        if let Some(message) = self.messages.get_mut(slot as usize).and_then(Option::take) {
            self.free.push(slot);
            self.spare.extend(
                message.pieces.into_iter().map(|piece| piece.data).filter(|data| data.capacity() > 0),
            );
        }
    }

    /// Reads a piece of the source.
    pub(super) fn fetch(&mut self, message: &mut Message, piece: u8) {
        let (pe, range) = message.source(piece);
        let id = message.id();
        let Some(piece) = message.pieces.get_mut(usize::from(piece)) else { return };
        piece.read = true;
        piece.data = self.spare.pop().unwrap_or_default();
        piece.data.resize((range.end - range.start) as usize, 0);
        self.pes[pe].memory.read(range.start, &mut piece.data);
        self.tell_fetched(id, range);
    }

    /// The bytes of a `put_bytes_nbi`.
    pub(super) fn bytes_of(message: &Message, piece: u8) -> Option<Bytes> {
        let piece = message.pieces.get(usize::from(piece))?;
        match &message.kind {
            Kind::Bytes { data, .. } => Some(data.slice(piece.start as usize..piece.end as usize)),
            _ => None,
        }
    }
}
