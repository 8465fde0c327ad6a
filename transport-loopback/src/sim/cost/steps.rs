//! What the world does in virtual time: as the network without costs, but when it is time.

use bytes::Bytes;

use super::flight::{Flight, Happens, is_answered};
use crate::sim::action::Action;
use crate::sim::event::OpId;
use crate::sim::message::Kind;
use crate::sim::step::Lost;
use crate::sim::world::World;

/// Something that a message still has to do can be done. Which, time says.
const NEXT: Action = Action::Net { slot: 0, piece: 0 };

impl World {
    /// Sends a message; its slot, unless it goes by time.
    pub(crate) fn launch(
        &mut self,
        from: usize,
        to: usize,
        op: Option<u64>,
        kind: Kind,
        len: u64,
    ) -> Option<u32> {
        if let Some(timed) = &mut self.timed {
            self.enabled.push(NEXT);
            if timed.completes_at_post() {
                self.launch_at_post(from, to, op, kind, len);
            } else {
                timed.send(from, to, op, kind, len);
            }
            return None;
        }
        let slot = self.send(from, to, op, kind, len);
        self.depart(slot, false);
        Some(slot)
    }

    fn launch_at_post(&mut self, from: usize, to: usize, op: Option<u64>, kind: Kind, len: u64) {
        let id = op.map(|number| OpId { pe: from, number });
        let is_complete = !is_answered(&kind);
        // The source may change from now on.
        let (kind, read) = match kind {
            Kind::Put { local, remote } => {
                let mut data = vec![0; len as usize];
                self.pes[from].memory.read(local, &mut data);
                (Kind::Bytes { data: Bytes::from(data), remote }, Some(local..local + len))
            }
            other => (other, None),
        };
        if let Some(timed) = &mut self.timed {
            timed.send(from, to, op, kind, len);
        }
        if let Some(range) = read {
            self.tell_fetched(id, range);
        }
        if is_complete {
            self.completed(id);
        }
    }

    /// `pe` takes a flag, a signal or an answer.
    pub(crate) fn received(&mut self, pe: usize) {
        if let Some(timed) = &mut self.timed {
            timed.receive(pe);
        }
    }

    /// `pe` puts to itself.
    pub(crate) fn copied(&mut self, pe: usize, bytes: u64) {
        if let Some(timed) = &mut self.timed {
            timed.copy(pe, bytes);
        }
    }

    /// Does what comes next by time.
    pub(crate) fn timed_step(&mut self) -> Option<Lost> {
        let timed = self.timed.as_mut()?;
        let landed = match timed.next_event()? {
            Happens::Depart(pe) => {
                timed.depart(pe);
                None
            }
            Happens::Arrive(slot) => timed.arrive(slot).then(|| timed.take(slot)).flatten(),
            Happens::Land(slot) => timed.take(slot),
            Happens::Complete(slot) => {
                let id = timed.take(slot).and_then(|flight| id(&flight));
                self.completed(id);
                return None;
            }
        };
        let Some(flight) = landed else {
            self.enabled.push(NEXT);
            return None;
        };
        self.arrived(flight)
    }

    fn arrived(&mut self, flight: Flight) -> Option<Lost> {
        let (id, is_request) = (id(&flight), is_answered(&flight.kind) && !flight.answers);
        let at_post = self.timed.as_ref().is_some_and(|timed| timed.completes_at_post());
        let was_complete = at_post && !is_answered(&flight.kind);
        let (from, to, op, len, answers) = (flight.from, flight.to, flight.op, flight.len, flight.answers);
        // Data is read and written when it lands; an atomic changes its word where it is, and then only answers.
        let lands = match flight.kind {
            Kind::Get { .. } => answers,
            Kind::Atomic { .. } => !answers,
            _ => true,
        };
        if !lands {
            if is_request && let Some(timed) = &mut self.timed {
                timed.answer(flight);
                self.enabled.push(NEXT);
            } else {
                self.completed(id);
            }
            return None;
        }
        let mut message = flight.message();
        self.land(&mut message, 0);
        let lost = self.news(&message);
        let Some(timed) = &mut self.timed else { return lost };
        let after = Flight { from, to, op, kind: message.kind, len, answers };
        if was_complete {
            // Its sender does not wait for it.
            return lost;
        }
        if is_request && !at_post {
            timed.answer(after);
            self.enabled.push(NEXT);
        } else if id.is_some() && !answers && timed.acknowledge(after) {
            self.enabled.push(NEXT);
        } else {
            self.completed(id);
        }
        lost
    }
}

fn id(flight: &Flight) -> Option<OpId> {
    flight.op.map(|number| OpId { pe: flight.from as usize, number })
}
