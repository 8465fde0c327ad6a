//! The clocks and NICs of the PEs.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flight::{Event, Flight, Happens, is_answered};
use super::model::{CostModel, ps};
use super::outbox::{Outbox, Sent};
use crate::sim::message::Kind;

/// The times of a job. All are in picoseconds.
pub(crate) struct Timed {
    model: CostModel,
    begun: bool,
    /// How late it is. A PE's clock may be ahead of it.
    now: Cell<u64>,
    pes: Vec<PeTime>,
    /// Messages that have left, by slot.
    flights: Vec<Option<Flight>>,
    free: Vec<u32>,
    events: BinaryHeap<Reverse<Event>>,
    /// Events so far.
    count: u64,
    pub(super) phases: Vec<PhaseTime>,
}

#[derive(Default)]
struct PeTime {
    clock: u64,
    /// When its NIC can send, and receive.
    sends_at: u64,
    receives_at: u64,
    /// When the last of its puts that were complete at their post is seen.
    seen_at: u64,
    /// What waits for the NIC.
    outbox: Outbox,
    phase: usize,
}

/// What belongs to one name.
pub(super) struct PhaseTime {
    pub(super) name: &'static str,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

impl PhaseTime {
    fn new(name: &'static str, begin: u64) -> Self {
        Self { name, begin, end: begin, messages: 0, bytes: 0 }
    }
}

/// The phase that all begin in.
const FIRST: &str = "start";

impl Timed {
    pub(crate) fn new(model: CostModel, n_pes: usize) -> Self {
        Self {
            model,
            begun: false,
            now: Cell::new(0),
            pes: (0..n_pes).map(|_| PeTime::default()).collect(),
            flights: Vec::new(),
            free: Vec::new(),
            events: BinaryHeap::new(),
            count: 0,
            phases: vec![PhaseTime::new(FIRST, 0)],
        }
    }

    /// The set-up is over, and nothing is under way: time begins.
    pub(crate) fn begin(&mut self) {
        self.begun = true;
        self.now.set(0);
        for pe in &mut self.pes {
            (pe.clock, pe.sends_at, pe.receives_at, pe.seen_at, pe.phase) = (0, 0, 0, 0, 0);
        }
        self.phases = vec![PhaseTime::new(FIRST, 0)];
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// See [`CostModel::complete_at_post`].
    pub(super) fn completes_at_post(&self) -> bool {
        self.model.complete_at_post
    }

    /// When `pe` can do something.
    pub(super) fn clock(&self, pe: usize) -> u64 {
        self.pes[pe].clock.max(self.now.get())
    }

    pub(super) fn now(&self) -> u64 {
        self.now.get()
    }

    /// It is as late as this.
    pub(super) fn come_to(&self, time: u64) {
        self.now.set(time);
    }

    /// `pe` is at work.
    pub(super) fn spend(&mut self, pe: usize, time: u64) -> u64 {
        let clock = self.clock(pe).saturating_add(time);
        self.pes[pe].clock = clock;
        clock
    }

    /// `pe` takes a flag, a signal, an answer.
    pub(super) fn receive(&mut self, pe: usize) {
        self.spend(pe, ps(self.model.receive_overhead_ns));
    }

    /// `pe` puts to itself.
    pub(super) fn copy(&mut self, pe: usize, bytes: u64) {
        self.spend(pe, bytes.saturating_mul(self.model.copy_per_byte_ps));
    }

    /// `pe` goes on to the phase of this name.
    pub(super) fn phase(&mut self, pe: usize, name: &'static str) {
        self.end(pe);
        let clock = self.clock(pe);
        let known = self.phases.iter().position(|phase| phase.name == name);
        let at = known.unwrap_or(self.phases.len());
        if known.is_none() {
            self.phases.push(PhaseTime::new(name, clock));
        }
        self.phases[at].begin = self.phases[at].begin.min(clock);
        self.phases[at].end = self.phases[at].end.max(clock);
        self.pes[pe].phase = at;
    }

    /// `pe` has come to the end of its phase, or of all.
    pub(crate) fn end(&mut self, pe: usize) {
        let clock = self.spend(pe, 0);
        let phase = &mut self.phases[self.pes[pe].phase];
        phase.end = phase.end.max(clock);
    }

    /// When each PE has ended.
    pub(super) fn clocks(&self) -> impl Iterator<Item = u64> {
        self.pes.iter().map(|pe| pe.clock)
    }

    /// Whether a clock has come to the last time that there is: sums of times end there, so what it says is too little.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.clocks().chain([self.now()]).any(|time| time == u64::MAX)
    }

    /// `from` sends a message.
    pub(super) fn send(&mut self, from: usize, to: usize, op: Option<u64>, kind: Kind, len: u64) {
        let mut work = ps(self.model.overhead_ns);
        if self.model.complete_at_post {
            // The PE copies them itself.
            work = work.saturating_add(len.saturating_mul(self.model.link_of(from, to).per_byte_ps));
        }
        let ready = self.spend(from, work);
        let phase = &mut self.phases[self.pes[from].phase];
        phase.messages += if is_answered(&kind) { 2 } else { 1 };
        phase.bytes += len;
        let pe = &mut self.pes[from];
        let sent = Sent::new(ready, to as u32, op, kind, len);
        let idle = pe.outbox.is_empty();
        pe.outbox.push(sent);
        if idle {
            let time = ready.max(pe.sends_at);
            self.at(time, Happens::Depart(from as u32));
        }
    }

    fn at(&mut self, time: u64, what: Happens) {
        self.count += 1;
        self.events.push(Reverse(Event { time, order: self.count, what }));
    }

    /// When something happens next.
    pub(super) fn next_time(&self) -> Option<u64> {
        self.events.peek().map(|Reverse(event)| event.time)
    }

    pub(super) fn next_event(&mut self) -> Option<Happens> {
        let Reverse(event) = self.events.pop()?;
        self.now.set(event.time);
        Some(event.what)
    }

    /// The NIC of `pe` turns to the next message.
    pub(super) fn depart(&mut self, pe: u32) {
        let now = self.now();
        let nic = &mut self.pes[pe as usize];
        // Meanwhile it may have had to answer.
        if nic.sends_at > now {
            let time = nic.sends_at;
            return self.at(time, Happens::Depart(pe));
        }
        let Some(flight) = nic.outbox.pop(pe) else { return };
        self.leave(flight);
        let nic = &self.pes[pe as usize];
        if let Some(ready) = nic.outbox.ready() {
            let time = ready.max(nic.sends_at);
            self.at(time, Happens::Depart(pe));
        }
    }

    /// A message leaves as soon as its NIC is free.
    fn leave(&mut self, flight: Flight) {
        let (from, to) = flight.ends();
        if self.model.complete_at_post {
            return self.leave_from_processor(flight);
        }
        let link = self.model.link_of(from, to);
        let start = self.now().max(self.pes[from].sends_at);
        let busy = flight.bytes().saturating_mul(link.per_byte_ps).saturating_add(ps(self.model.gap_ns));
        self.pes[from].sends_at = start.saturating_add(busy);
        let slot = self.keep(flight);
        self.at(start.saturating_add(ps(link.latency_ns)), Happens::Arrive(slot));
    }

    /// It is there, or the PE has read there, whatever else goes that way.
    fn leave_from_processor(&mut self, mut flight: Flight) {
        let (from, to) = flight.ends();
        let pe = &mut self.pes[from];
        let time = if is_answered(&flight.kind) {
            flight.answers = matches!(flight.kind, Kind::Get { .. });
            // It sees what the PE has put before.
            self.now.get().max(pe.seen_at)
        } else {
            let seen = self.now.get().saturating_add(ps(self.model.link_of(from, to).latency_ns));
            pe.seen_at = pe.seen_at.max(seen);
            seen
        };
        let slot = self.keep(flight);
        self.at(time, Happens::Land(slot));
    }

    /// The first byte is there; whether the last is too.
    pub(super) fn arrive(&mut self, slot: u32) -> bool {
        let Some(flight) = self.flights.get(slot as usize).and_then(Option::as_ref) else { return false };
        let (from, to) = flight.ends();
        let bytes = flight.bytes().saturating_mul(self.model.link_of(from, to).per_byte_ps);
        let lands = self.now().max(self.pes[to].receives_at).saturating_add(bytes);
        self.pes[to].receives_at = lands.saturating_add(ps(self.model.gap_ns));
        if lands == self.now() {
            return true;
        }
        self.at(lands, Happens::Land(slot));
        false
    }

    /// The request has landed; the target's NIC answers.
    pub(super) fn answer(&mut self, flight: Flight) {
        self.leave(Flight { answers: true, ..flight });
    }

    /// The sender hears later that it has landed; false if at once.
    pub(super) fn acknowledge(&mut self, flight: Flight) -> bool {
        let time = self.now().saturating_add(ps(self.model.acknowledge_ns));
        if time == self.now() || self.model.complete_at_post {
            return false;
        }
        let slot = self.keep(flight);
        self.at(time, Happens::Complete(slot));
        true
    }

    fn keep(&mut self, flight: Flight) -> u32 {
        let slot = self.free.pop().unwrap_or(self.flights.len() as u32);
        if slot as usize == self.flights.len() {
            self.flights.push(None);
        }
        self.flights[slot as usize] = Some(flight);
        slot
    }

    pub(super) fn take(&mut self, slot: u32) -> Option<Flight> {
        let flight = self.flights.get_mut(slot as usize)?.take();
        self.free.extend(flight.is_some().then_some(slot));
        flight
    }
}
