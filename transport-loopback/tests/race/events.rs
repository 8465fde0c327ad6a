//! Event lists of scripts: a small network of its own, that draws every next thing by lot.

use transport_core::{AtomicOp, SignalOp};
use transport_loopback::sim::{Event, OpId, OpKind, Place};

use crate::script::{BUFFER, Bytes, Do, Steps};

/// Draws numbers; the same for the same seed.
pub(crate) struct Lot(u64);

impl Lot {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn draw(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

struct Op {
    id: OpId,
    kind: OpKind,
    fence: u64,
    landed: bool,
}

#[derive(Default)]
struct Pe {
    at: usize,
    posted: u64,
    fence: u64,
    memory: Vec<u8>,
    epoch: u32,
    /// It has posted its atomic, which has not answered.
    half_way: bool,
    /// It has entered barrier `epoch`, and not left.
    entered: bool,
}

struct Job<'a> {
    scripts: &'a [Steps],
    pes: Vec<Pe>,
    ops: Vec<Op>,
    /// Who changed which word of whom, the last first.
    changed: Vec<((usize, u64), OpId)>,
    answers: Vec<(OpId, u64)>,
    events: Vec<Event>,
}

fn range(bytes: Bytes) -> std::ops::Range<u64> {
    bytes.0..bytes.1
}

/// One schedule of the scripts, and whether it came to their ends.
pub(crate) fn schedule(scripts: &[Steps], seed: u64) -> (Vec<Event>, bool) {
    let mut lot = Lot::new(seed);
    let new = |_: &Steps| Pe { memory: vec![0; BUFFER as usize], ..Pe::default() };
    let pes = scripts.iter().map(new).collect();
    let mut job = Job { scripts, pes, ops: vec![], changed: vec![], answers: vec![], events: vec![] };
    loop {
        let polls: Vec<usize> = (0..scripts.len()).filter(|&pe| job.can_go_on(pe)).collect();
        let lands: Vec<usize> = (0..job.ops.len()).filter(|&op| job.can_land(op)).collect();
        if polls.is_empty() && lands.is_empty() {
            let ended = job.pes.iter().zip(scripts).all(|(pe, script)| pe.at == script.0.len());
            return (job.events, ended);
        }
        // Some schedules have a slow network, some a fast one.
        let poll = match (polls.is_empty(), lands.is_empty()) {
            (true, _) => false,
            (_, true) => true,
            _ => lot.draw(8) < 1 + (seed % 7) as usize,
        };
        if poll {
            job.go_on(polls[lot.draw(polls.len())]);
        } else {
            job.land(lands[lot.draw(lands.len())]);
        }
    }
}

impl Job<'_> {
    fn word(&self, pe: usize, word: u64) -> u64 {
        u64::from_le_bytes(self.pes[pe].memory[word as usize..][..8].try_into().unwrap())
    }

    fn seen(&self, pe: usize, word: u64) -> Vec<OpId> {
        self.changed.iter().rev().filter(|(at, _)| *at == (pe, word)).map(|(_, id)| *id).collect()
    }

    fn all_complete(&self, pe: usize) -> bool {
        self.ops.iter().all(|op| op.id.pe != pe || op.landed)
    }

    fn can_go_on(&self, pe: usize) -> bool {
        let me = &self.pes[pe];
        let Some((step, _)) = self.scripts[pe].0.get(me.at) else { return false };
        match step {
            Do::Wait { word, cmp, value } => cmp.holds(self.word(pe, *word), *value),
            Do::Quiet => self.all_complete(pe),
            Do::Barrier if me.entered => {
                let has_entered = |pe: &Pe| pe.epoch > me.epoch || pe.epoch == me.epoch && pe.entered;
                self.pes.iter().all(has_entered)
            }
            Do::Barrier => self.all_complete(pe),
            Do::Atomic { .. } if me.half_way => self.answers.iter().any(|(id, _)| id.pe == pe),
            _ => true,
        }
    }

    fn post(&mut self, pe: usize, kind: OpKind, place: Place) -> OpId {
        let me = &mut self.pes[pe];
        let (id, fence) = (OpId { pe, number: me.posted }, me.fence);
        me.posted += 1;
        self.events.push(Event::Posted { id, kind: kind.clone(), fence, place });
        self.ops.push(Op { id, kind, fence, landed: false });
        id
    }

    fn go_on(&mut self, pe: usize) {
        let (step, place) = self.scripts[pe].0[self.pes[pe].at];
        let mut over = true;
        match step {
            Do::Put { to, src, dst } => {
                self.post(pe, OpKind::Put { to, local: range(src), remote: range(dst) }, place);
            }
            Do::PutMarked { to, src, dst } => {
                for (local, word) in (src.0..src.1).step_by(8).zip((dst.0..).step_by(8)) {
                    for bytes in [0xFFFF_FFFF, !0xFFFF_FFFF] {
                        self.post(pe, OpKind::PutMarked { to, local, word, bytes }, place);
                    }
                }
            }
            Do::PutBytes { to, dst } => {
                self.post(pe, OpKind::PutBytes { to, remote: range(dst) }, place);
            }
            Do::Get { from, src, dst } => {
                self.post(pe, OpKind::Get { from, local: range(dst), remote: range(src) }, place);
            }
            Do::Signal { to, data, word, op } => {
                let put = |(src, dst)| OpKind::Put { to, local: range(src), remote: range(dst) };
                let after = data.map(|data| self.post(pe, put(data), place));
                self.post(pe, OpKind::Signal { to, word, op, after }, place);
            }
            Do::Atomic { to, word, op } => {
                if self.pes[pe].half_way {
                    let at = self.answers.iter().position(|(id, _)| id.pe == pe).unwrap();
                    let (id, value) = self.answers.remove(at);
                    self.events.push(Event::AtomicAnswered { id, value });
                } else {
                    self.post(pe, OpKind::Atomic { to, word, op }, place);
                    over = false;
                }
            }
            Do::Wait { word, cmp, .. } => {
                let (value, seen) = (self.word(pe, word), self.seen(pe, word));
                self.events.push(Event::SignalSeen { pe, word, cmp, value, seen });
            }
            Do::LoadThen { word, value, read } => {
                self.events.push(Event::Loaded { pe, word, seen: self.seen(pe, word), place });
                if self.word(pe, word) == value {
                    self.events.push(Event::Read { pe, range: range(read), place });
                }
            }
            Do::Fence => self.pes[pe].fence += 1,
            Do::Quiet => self.events.push(Event::Quiet { pe, before: self.pes[pe].posted }),
            Do::Barrier => {
                let (epoch, before) = (self.pes[pe].epoch, self.pes[pe].posted);
                over = self.pes[pe].entered;
                self.pes[pe].entered = !over;
                if over {
                    self.pes[pe].epoch += 1;
                    self.events.push(Event::BarrierLeft { pe, epoch });
                } else {
                    self.events.push(Event::Quiet { pe, before });
                    self.events.push(Event::BarrierEntered { pe, epoch });
                }
            }
            Do::Read(bytes) => self.events.push(Event::Read { pe, range: range(bytes), place }),
            Do::Write(bytes, value) => {
                self.pes[pe].memory[bytes.0 as usize..bytes.1 as usize].fill(value);
                self.events.push(Event::Written { pe, range: range(bytes), place });
            }
        }
        self.pes[pe].half_way = !over && matches!(step, Do::Atomic { .. });
        self.pes[pe].at += usize::from(over);
        if self.pes[pe].at == self.scripts[pe].0.len() {
            self.events.push(Event::Ended { pe });
        }
    }

    fn can_land(&self, op: usize) -> bool {
        let op = &self.ops[op];
        let target = |kind: &OpKind| match kind {
            OpKind::Put { to, .. } | OpKind::PutBytes { to, .. } => Some(*to),
            OpKind::Signal { to, .. } | OpKind::Atomic { to, .. } | OpKind::PutMarked { to, .. } => Some(*to),
            _ => None,
        };
        let first = |other: &Op| {
            let same = other.id.pe == op.id.pe && target(&other.kind) == target(&op.kind);
            let fenced = same && target(&op.kind).is_some() && other.fence < op.fence;
            fenced || matches!(op.kind, OpKind::Signal { after, .. } if after == Some(other.id))
        };
        !op.landed && !self.ops.iter().any(|other| !other.landed && first(other))
    }

    fn land(&mut self, op: usize) {
        let (id, kind) = (self.ops[op].id, self.ops[op].kind.clone());
        self.ops[op].landed = true;
        let range = match kind {
            OpKind::Put { to, local, remote } => {
                self.events.push(Event::Fetched { id, range: local.clone() });
                let data = self.pes[id.pe].memory[local.start as usize..local.end as usize].to_vec();
                self.pes[to].memory[remote.start as usize..remote.end as usize].copy_from_slice(&data);
                remote
            }
            OpKind::PutBytes { to, remote } => {
                self.pes[to].memory[remote.start as usize..remote.end as usize].fill(9);
                remote
            }
            OpKind::Get { from, local, remote } => {
                self.events.push(Event::Fetched { id, range: remote.clone() });
                let data = self.pes[from].memory[remote.start as usize..remote.end as usize].to_vec();
                self.pes[id.pe].memory[local.start as usize..local.end as usize].copy_from_slice(&data);
                local
            }
            OpKind::Signal { to, word, op, .. } => {
                let before = self.word(to, word);
                let value = match op {
                    SignalOp::Set(value) => value,
                    SignalOp::Add(value) => before.wrapping_add(value),
                };
                self.change(id, to, word, value)
            }
            OpKind::PutMarked { to, local, word, bytes } => {
                self.events.push(Event::Fetched { id, range: local..local + 8 });
                let value = self.word(to, word).wrapping_add(self.word(id.pe, local) & bytes);
                self.change(id, to, word, value)
            }
            OpKind::Atomic { to, word, op } => {
                let before = self.word(to, word);
                self.answers.push((id, before));
                match op {
                    AtomicOp::Fetch => word..word + 8,
                    AtomicOp::Add(value) => self.change(id, to, word, before.wrapping_add(value)),
                    AtomicOp::Swap(value) => self.change(id, to, word, value),
                    other => panic!("no script has {other:?}"),
                }
            }
            other => panic!("no script has {other:?}"),
        };
        self.events.push(Event::Landed { id, range });
        self.events.push(Event::Completed { id });
    }

    fn change(&mut self, id: OpId, to: usize, word: u64, value: u64) -> std::ops::Range<u64> {
        self.pes[to].memory[word as usize..][..8].copy_from_slice(&value.to_le_bytes());
        self.changed.push(((to, word), id));
        word..word + 8
    }
}
