//! What waits for a NIC, in few bytes: a PE may post thousands of puts, each with its signal, before the first leaves.

use std::collections::VecDeque;

use super::flight::Flight;
use crate::sim::message::Kind;

/// The messages of a PE that wait for its NIC, in order.
#[derive(Default)]
pub(super) struct Outbox(VecDeque<Turns>);

/// A run of messages, or two that take turns: a put and its signal, the next put and its signal.
struct Turns {
    /// The first of it is the next to leave.
    run: Run,
    other: Option<Run>,
}

/// Messages of one kind, each as far from the one before it in all that is counted.
struct Run {
    first: Sent,
    step: Step,
    count: u64,
}

/// One message.
pub(super) struct Sent {
    /// When its PE was done with it, in picoseconds.
    ready: u64,
    to: u32,
    /// Its number among the operations of its PE, or [`NO_OPERATION`].
    op: u64,
    kind: Kind,
    len: u64,
}

const NO_OPERATION: u64 = u64::MAX;

/// From one message of a run to the next. A step back is one forward around the end.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Step {
    ready: u64,
    to: u32,
    op: u64,
    local: u64,
    remote: u64,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the first message can leave.
    pub(super) fn ready(&self) -> Option<u64> {
        self.0.front().map(|turns| turns.run.first.ready)
    }

    /// The last message.
    pub(super) fn push(&mut self, sent: Sent) {
        let left = match self.0.back_mut() {
            Some(last) => last.extend(sent).err(),
            None => Some(sent),
        };
        self.0.extend(left.map(|sent| Turns { run: Run::new(sent), other: None }));
    }

    /// The first message leaves.
    pub(super) fn pop(&mut self, from: u32) -> Option<Flight> {
        let turns = self.0.front_mut()?;
        let (sent, is_last) = turns.run.leave();
        if is_last {
            match turns.other.take() {
                Some(other) => turns.run = other,
                None => drop(self.0.pop_front()),
            }
        } else if let Some(other) = &mut turns.other {
            std::mem::swap(&mut turns.run, other);
        }
        Some(sent.flight(from))
    }
}

impl Turns {
    /// Makes it the last of these, if it is as that has to be.
    fn extend(&mut self, sent: Sent) -> Result<(), Sent> {
        match &mut self.other {
            Some(other) if self.run.count > other.count => other.extend(sent),
            Some(_) => self.run.extend(sent),
            None => {
                let sent = match self.run.extend(sent) {
                    Ok(()) => return Ok(()),
                    Err(sent) if self.run.count > 1 => return Err(sent),
                    Err(sent) => sent,
                };
                self.other = Some(Run::new(sent));
                Ok(())
            }
        }
    }
}

impl Run {
    fn new(sent: Sent) -> Self {
        Self { first: sent, step: Step::default(), count: 1 }
    }

    fn extend(&mut self, sent: Sent) -> Result<(), Sent> {
        if self.first.len != sent.len || !is_alike(&self.first.kind, &sent.kind) {
            return Err(sent);
        }
        let step = self.first.step_to(&sent);
        if self.count == 1 {
            self.step = step;
        } else if step != self.step.times(self.count) {
            return Err(sent);
        }
        self.count += 1;
        Ok(())
    }

    /// The first leaves; whether it is the last.
    fn leave(&mut self) -> (Sent, bool) {
        let next = self.first.after(self.step);
        self.count -= 1;
        (std::mem::replace(&mut self.first, next), self.count == 0)
    }
}

impl Step {
    fn times(self, count: u64) -> Self {
        Self {
            ready: self.ready.wrapping_mul(count),
            to: self.to.wrapping_mul(count as u32),
            op: self.op.wrapping_mul(count),
            local: self.local.wrapping_mul(count),
            remote: self.remote.wrapping_mul(count),
        }
    }
}

impl Sent {
    pub(super) fn new(ready: u64, to: u32, op: Option<u64>, kind: Kind, len: u64) -> Self {
        Self { ready, to, op: op.unwrap_or(NO_OPERATION), kind, len }
    }

    fn step_to(&self, later: &Self) -> Step {
        let ((local, remote), (local_then, remote_then)) = (places(&self.kind), places(&later.kind));
        Step {
            ready: later.ready.wrapping_sub(self.ready),
            to: later.to.wrapping_sub(self.to),
            op: later.op.wrapping_sub(self.op),
            local: local_then.wrapping_sub(local),
            remote: remote_then.wrapping_sub(remote),
        }
    }

    /// The message that is one step further.
    fn after(&self, step: Step) -> Self {
        Self {
            ready: self.ready.wrapping_add(step.ready),
            to: self.to.wrapping_add(step.to),
            op: self.op.wrapping_add(step.op),
            kind: moved(&self.kind, step),
            len: self.len,
        }
    }

    fn flight(self, from: u32) -> Flight {
        let Self { to, op, kind, len, .. } = self;
        Flight { from, to, op: (op != NO_OPERATION).then_some(op), kind, len, answers: false }
    }
}

/// What of a message is a place: at the PE that sends it, and at the other.
fn places(kind: &Kind) -> (u64, u64) {
    match *kind {
        Kind::Put { local, remote } | Kind::Get { local, remote } => (local, remote),
        Kind::Marked { local, word, .. } => (local, word),
        Kind::Bytes { remote, .. } => (0, remote),
        Kind::Signal { word, .. } | Kind::Atomic { word, .. } => (0, word),
        Kind::Flag { .. } | Kind::Lost { .. } => (0, 0),
    }
}

/// The same at other places.
fn moved(kind: &Kind, step: Step) -> Kind {
    let mut kind = kind.clone();
    match &mut kind {
        Kind::Put { local, remote }
        | Kind::Get { local, remote }
        | Kind::Marked { local, word: remote, .. } => {
            *local = local.wrapping_add(step.local);
            *remote = remote.wrapping_add(step.remote);
        }
        Kind::Bytes { remote: place, .. }
        | Kind::Signal { word: place, .. }
        | Kind::Atomic { word: place, .. } => *place = place.wrapping_add(step.remote),
        Kind::Flag { .. } | Kind::Lost { .. } => {}
    }
    kind
}

/// Whether all but the places is the same.
fn is_alike(one: &Kind, other: &Kind) -> bool {
    match (one, other) {
        (Kind::Put { .. }, Kind::Put { .. }) | (Kind::Get { .. }, Kind::Get { .. }) => true,
        (Kind::Bytes { data, .. }, Kind::Bytes { data: then, .. }) => data == then,
        (Kind::Signal { op, .. }, Kind::Signal { op: then, .. }) => op == then,
        (Kind::Marked { bytes, .. }, Kind::Marked { bytes: then, .. }) => bytes == then,
        (Kind::Atomic { op, .. }, Kind::Atomic { op: then, .. }) => op == then,
        (Kind::Flag { round, epoch }, Kind::Flag { round: other, epoch: then }) => {
            (round, epoch) == (other, then)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use transport_core::SignalOp;

    use super::*;

    fn put(ready: u64, to: u32, op: u64, remote: u64) -> Sent {
        Sent::new(ready, to, Some(op), Kind::Put { local: 640, remote }, 64)
    }

    fn signal(ready: u64, to: u32, op: u64, value: u64) -> Sent {
        Sent::new(ready, to, Some(op), Kind::Signal { word: 8, op: SignalOp::Set(value) }, 0)
    }

    fn seen(flight: &Flight) -> String {
        let Flight { from, to, op, kind, len, answers } = flight;
        format!("{from} to {to}, {op:?}, {kind:?}, {len}, {answers}")
    }

    #[test]
    fn a_put_and_a_signal_to_everybody_take_the_room_of_a_few_messages() {
        const N: u64 = 4096;
        let mut outbox = Outbox::default();
        outbox.push(Sent::new(0, 8, None, Kind::Flag { round: 0, epoch: 1 }, 0));
        let to = |i: u64| ((7 + i) % N) as u32;
        for i in 0..N {
            outbox.push(put(2 * i, to(i), 2 * i, 128));
            outbox.push(signal(2 * i + 1, to(i), 2 * i + 1, 5));
        }
        assert!(outbox.0.len() <= 4, "{}", outbox.0.len());
        assert!(matches!(outbox.pop(7), Some(Flight { op: None, .. })));
        for i in 0..N {
            for sent in [put(2 * i, to(i), 2 * i, 128), signal(2 * i + 1, to(i), 2 * i + 1, 5)] {
                assert_eq!(outbox.ready(), Some(sent.ready));
                assert_eq!(outbox.pop(7).map(|flight| seen(&flight)), Some(seen(&sent.flight(7))));
            }
        }
        assert!(outbox.is_empty() && outbox.ready().is_none() && outbox.pop(7).is_none());
    }

    #[test]
    fn gets_from_the_last_to_the_first_are_a_run() {
        let mut outbox = Outbox::default();
        for i in 0..100 {
            let kind = Kind::Get { local: 6400 - 64 * i, remote: 0 };
            outbox.push(Sent::new(i, 99 - i as u32, Some(i), kind, 64));
        }
        assert_eq!(outbox.0.len(), 1);
    }

    /// One message of a few alike ones.
    fn message() -> impl Strategy<Value = (u64, u32, Option<u64>, Kind, u64)> {
        let kind = (0..7_u8, 0..3_u64, 0..2_u64).prop_map(|(kind, place, value)| match kind {
            0 | 1 => Kind::Put { local: 8 * place, remote: 8 * value },
            2 => Kind::Get { local: 8 * value, remote: 8 * place },
            3 | 4 => Kind::Signal { word: 8 * place, op: SignalOp::Set(value) },
            5 => Kind::Bytes { data: vec![value as u8; 8].into(), remote: 8 * place },
            _ => Kind::Flag { round: value as u32, epoch: 3 },
        });
        (0..3_u64, 0..3_u32, prop::option::of(0..4_u64), kind, 0..2_u64)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn messages_leave_as_they_came(
            some in prop::collection::vec(message(), 1..4),
            turns in prop::collection::vec((0..4_usize, 0..5_u64, 0..3_usize), 0..60),
        ) {
            let (mut outbox, mut list) = (Outbox::default(), VecDeque::new());
            for (turn, (which, step, pops)) in turns.into_iter().enumerate() {
                let (ready, to, op, kind, len) = some[which % some.len()].clone();
                // Mostly as far from the one before as that was.
                let further = if step == 0 { 1 } else { turn as u64 };
                let step = Step { ready: 7 * further, to: further as u32, op: 0, local: 8 * further, remote: 0 };
                let sent = || Sent::new(ready, to, op, kind.clone(), len).after(step);
                outbox.push(sent());
                list.push_back(sent());
                for _ in 0..pops / 2 * 2 {
                    prop_assert_eq!(outbox.ready(), list.front().map(|sent| sent.ready));
                    let flights = (outbox.pop(1), list.pop_front().map(|sent| sent.flight(1)));
                    prop_assert_eq!(flights.0.as_ref().map(seen), flights.1.as_ref().map(seen));
                }
            }
            while !list.is_empty() {
                prop_assert_eq!(outbox.ready(), list.front().map(|sent| sent.ready));
                let flights = (outbox.pop(1), list.pop_front().map(|sent| sent.flight(1)));
                prop_assert_eq!(flights.0.as_ref().map(seen), flights.1.as_ref().map(seen));
            }
            prop_assert!(outbox.is_empty());
        }
    }
}
