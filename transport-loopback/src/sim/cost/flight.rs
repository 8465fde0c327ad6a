//! What is under way in virtual time, in few bytes: millions of puts may be posted before the first lands.

use bytes::Bytes;

use crate::sim::message::{Kind, Message};
use crate::sim::network::ReadsSource;

/// Messages that wait for their NIC: one, or a run of puts.
pub(super) struct Sent {
    first: One,
    /// What each has more than the one before it.
    step: Step,
    /// The run has this many more.
    more: u64,
}

/// One message.
struct One {
    /// When its PE was done with it, in picoseconds.
    ready: u64,
    to: u32,
    /// Its number among the operations of its PE, or [`NO_OPERATION`].
    op: u64,
    what: What,
}

const NO_OPERATION: u64 = u64::MAX;

/// Puts are many.
enum What {
    Put {
        local: u64,
        remote: u64,
        len: u64,
    },
    /// Bytes, and where they go: the same to many.
    Bytes(Box<(Bytes, u64)>),
    Other(Box<(Kind, u64)>),
}

/// From one put of a run to the next; numbers of operations go up by one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Step {
    ready: u64,
    to: u32,
    local: u64,
    remote: u64,
}

/// A message on its way.
pub(super) struct Flight {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) op: Option<u64>,
    pub(super) kind: Kind,
    pub(super) len: u64,
    /// It is the answer, which goes from `to` to `from`.
    pub(super) answers: bool,
}

impl Sent {
    pub(super) fn new(ready: u64, to: u32, op: Option<u64>, kind: Kind, len: u64) -> Self {
        let what = match kind {
            Kind::Put { local, remote } => What::Put { local, remote, len },
            Kind::Bytes { data, remote } => What::Bytes(Box::new((data, remote))),
            other => What::Other(Box::new((other, len))),
        };
        Self {
            first: One { ready, to, op: op.unwrap_or(NO_OPERATION), what },
            step: Step::default(),
            more: 0,
        }
    }

    /// When the first can leave.
    pub(super) fn ready(&self) -> u64 {
        self.first.ready
    }

    /// Makes a single put the next of this run, if it is: thousands of puts to one PE after the other take the room of one.
    pub(super) fn extend(&mut self, put: Self) -> Result<(), Self> {
        let Some(step) = self.first.step_to(&put.first, self.more + 1) else { return Err(put) };
        if self.more > 0 && step != self.step {
            return Err(put);
        }
        (self.step, self.more) = (step, self.more + 1);
        Ok(())
    }

    /// The first leaves; the rest of the run, if there is one.
    pub(super) fn depart(self, from: u32) -> (Flight, Option<Self>) {
        let One { ready, to, op, what } = self.first;
        let (step, more) = (self.step, self.more);
        let then = |what| {
            let (ready, to) = (ready.wrapping_add(step.ready), to.wrapping_add(step.to));
            Self { first: One { ready, to, op: op.wrapping_add(1), what }, step, more: more - 1 }
        };
        let (kind, len, rest) = match what {
            What::Put { local, remote, len } => {
                let local_next = local.wrapping_add(step.local);
                let next = What::Put { local: local_next, remote: remote.wrapping_add(step.remote), len };
                (Kind::Put { local, remote }, len, (more > 0).then(|| then(next)))
            }
            What::Bytes(bytes) => {
                let (data, remote) = *bytes;
                let next = |data| What::Bytes(Box::new((data, remote.wrapping_add(step.remote))));
                let rest = (more > 0).then(|| then(next(data.clone())));
                let len = data.len() as u64;
                (Kind::Bytes { data, remote }, len, rest)
            }
            What::Other(other) => (other.0, other.1, None),
        };
        let op = (op != NO_OPERATION).then_some(op);
        (Flight { from, to, op, kind, len, answers: false }, rest)
    }
}

impl One {
    /// The step by which `later` is the put that comes `count` after this one.
    fn step_to(&self, later: &Self, count: u64) -> Option<Step> {
        let (remote, local, same) = match (&self.what, &later.what) {
            (
                What::Put { local, remote, len },
                What::Put { local: then, remote: remote_then, len: len_then },
            ) => ([remote, remote_then], [local, then], len == len_then),
            (What::Bytes(bytes), What::Bytes(then)) => ([&bytes.1, &then.1], [&0, &0], bytes.0 == then.0),
            _ => return None,
        };
        let even =
            |from: u64, to: u64| to.checked_sub(from).filter(|way| way % count == 0).map(|way| way / count);
        let step = Step {
            ready: even(self.ready, later.ready)?,
            to: even(u64::from(self.to), u64::from(later.to))? as u32,
            local: even(*local[0], *local[1])?,
            remote: even(*remote[0], *remote[1])?,
        };
        (same && self.op.checked_add(count) == Some(later.op)).then_some(step)
    }
}

/// Whether the target's NIC answers, with data or a word.
pub(super) fn is_answered(kind: &Kind) -> bool {
    matches!(kind, Kind::Get { .. } | Kind::Atomic { .. })
}

impl Flight {
    /// Who sends it and who gets it: of an answer, the other way round.
    pub(super) fn ends(&self) -> (usize, usize) {
        let (from, to) = (self.from as usize, self.to as usize);
        if self.answers { (to, from) } else { (from, to) }
    }

    /// Data that goes along.
    pub(super) fn bytes(&self) -> u64 {
        match self.kind {
            Kind::Get { .. } if !self.answers => 0,
            _ => self.len,
        }
    }

    /// As the network lands it.
    pub(super) fn message(self) -> Message {
        let mut message = Message::new(self.from, self.to, 0, self.op, self.kind);
        message.reads = ReadsSource::AtLanding;
        if self.len > 0 {
            message.cut(&[self.len]);
        }
        message
    }
}

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// In picoseconds.
    pub(super) time: u64,
    /// What came to be known first goes first.
    pub(super) order: u64,
    pub(super) what: Happens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happens {
    /// The next message of this PE leaves.
    Depart(u32),
    /// The first byte of the message in this slot is there.
    Arrive(u32),
    /// Its last byte is.
    Land(u32),
    /// Its sender hears of that.
    Complete(u32),
}
