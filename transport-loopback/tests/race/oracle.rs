//! The search against one that is slow and simple: a graph of all accesses, and who can be reached from whom.

use proptest::prelude::*;
use transport_core::{AtomicOp, SignalOp};
use transport_loopback::sim::{Event, Listener, OpId, OpKind, RaceDetector};

use crate::events::schedule;
use crate::script::{Bytes, Steps, pe};

/// What an access does to what.
struct Touch {
    node: usize,
    event: usize,
    op: Option<OpId>,
    memory: usize,
    range: std::ops::Range<u64>,
    writes: bool,
    of_word: bool,
}

struct OpNodes {
    id: OpId,
    kind: OpKind,
    fence: u64,
    /// Where it reads and where it writes; of a signal or an atomic the same.
    nodes: [usize; 2],
}

/// How a word came to its value: the nodes of those that changed it, the last first, with those that only stored.
#[derive(Clone, Default)]
struct Chain(Vec<((usize, u64), Vec<usize>)>);

#[derive(Default)]
struct Graph {
    /// Nodes that are right before each.
    before: Vec<Vec<usize>>,
    last: Vec<usize>,
    ops: Vec<OpNodes>,
    touches: Vec<Touch>,
    chain: Chain,
    found: Vec<(OpId, Vec<usize>)>,
    entered: Vec<(u32, usize)>,
}

impl Graph {
    fn node(&mut self, before: Vec<usize>) -> usize {
        self.before.push(before);
        self.before.len() - 1
    }

    /// The next node of a PE.
    fn step(&mut self, pe: usize, mut before: Vec<usize>) -> usize {
        before.push(self.last[pe]);
        self.last[pe] = self.node(before);
        self.last[pe]
    }

    fn chain(&mut self, memory: usize, word: u64) -> &mut Vec<usize> {
        let chain = &mut self.chain.0;
        let at = chain.iter().position(|(key, _)| *key == (memory, word)).unwrap_or_else(|| {
            chain.push(((memory, word), Vec::new()));
            chain.len() - 1
        });
        &mut chain[at].1
    }

    fn overwrite(&mut self, memory: usize, range: &std::ops::Range<u64>) {
        self.chain.0.retain(|((pe, word), _)| *pe != memory || *word >= range.end || word + 8 <= range.start);
    }

    fn complete(&self, pe: usize, before: u64) -> Vec<usize> {
        let done = self.ops.iter().filter(|op| op.id.pe == pe && op.id.number < before);
        done.flat_map(|op| op.nodes).collect()
    }

    fn posted(&mut self, event: usize, id: OpId, kind: &OpKind, fence: u64) {
        let post = self.step(id.pe, vec![]);
        let (to, fenced) = match kind {
            OpKind::Get { from, .. } => (*from, false),
            OpKind::Put { to, .. } | OpKind::PutBytes { to, .. } => (*to, true),
            OpKind::Signal { to, .. } | OpKind::Atomic { to, .. } | OpKind::PutMarked { to, .. } => {
                (*to, true)
            }
            other => panic!("{other:?}"),
        };
        let reads = self.node(vec![post]);
        let mut before = vec![post, reads];
        for op in &self.ops {
            let same = match &op.kind {
                OpKind::Put { to: other, .. } | OpKind::PutBytes { to: other, .. } => *other == to,
                OpKind::Signal { to: other, .. }
                | OpKind::Atomic { to: other, .. }
                | OpKind::PutMarked { to: other, .. } => *other == to,
                _ => false,
            };
            let data = matches!(kind, OpKind::Signal { after, .. } if *after == Some(op.id));
            if op.id.pe == id.pe && fenced && same && op.fence < fence || data {
                before.push(op.nodes[1]);
            }
        }
        let lands = self.node(before);
        let mut touch = |node, memory, range: &std::ops::Range<u64>, writes, of_word| {
            let (op, range) = (Some(id), range.clone());
            self.touches.push(Touch { node, event, op, memory, range, writes, of_word });
        };
        match kind {
            OpKind::Put { local, remote, .. } if to == id.pe && local == remote => {}
            OpKind::Put { local, remote, .. } => {
                touch(reads, id.pe, local, false, false);
                touch(lands, to, remote, true, false);
            }
            OpKind::PutBytes { remote, .. } => touch(lands, to, remote, true, false),
            OpKind::Get { local, remote, .. } => {
                touch(reads, to, remote, false, false);
                touch(lands, id.pe, local, true, false);
            }
            OpKind::Signal { word, .. } => touch(lands, to, &(*word..word + 8), true, true),
            OpKind::PutMarked { local, word, .. } => {
                touch(reads, id.pe, &(*local..local + 8), false, false);
                touch(lands, to, &(*word..word + 8), true, true);
            }
            OpKind::Atomic { word, op, .. } => {
                touch(lands, to, &(*word..word + 8), *op != AtomicOp::Fetch, true);
            }
            other => panic!("{other:?}"),
        }
        // What of the word comes between its post and its landing races with it: so it counts from the post, as in the search.
        match kind {
            OpKind::Put { to, local, remote } if *to == id.pe && local == remote => {}
            OpKind::Put { remote, .. } | OpKind::PutBytes { remote, .. } => self.overwrite(to, remote),
            OpKind::Get { local, .. } => self.overwrite(id.pe, local),
            _ => {}
        }
        let nodes = if fenced { [reads, lands] } else { [lands, reads] };
        self.ops.push(OpNodes { id, kind: kind.clone(), fence, nodes });
    }

    fn landed(&mut self, id: OpId) {
        let op = self.ops.iter().find(|op| op.id == id).unwrap();
        let (lands, kind) = (op.nodes[1], op.kind.clone());
        match kind {
            OpKind::Put { .. } | OpKind::PutBytes { .. } | OpKind::Get { .. } => {}
            OpKind::Signal { to, word, op, .. } => {
                let chain = self.chain(to, word);
                if matches!(op, SignalOp::Set(_)) {
                    chain.clear();
                }
                chain.push(lands);
            }
            OpKind::PutMarked { to, word, .. } => self.chain(to, word).push(lands),
            OpKind::Atomic { to, word, op } => {
                let chain = self.chain(to, word);
                let mut found = chain.clone();
                if op != AtomicOp::Fetch {
                    chain.push(lands);
                }
                found.push(lands);
                self.found.push((id, found));
            }
            other => panic!("{other:?}"),
        }
    }

    fn local(
        &mut self,
        event: usize,
        memory: usize,
        range: std::ops::Range<u64>,
        writes: bool,
        of_word: bool,
    ) {
        let before = if of_word { self.chain(memory, range.start).clone() } else { vec![] };
        let node = self.step(memory, before);
        self.touches.push(Touch { node, event, op: None, memory, range, writes, of_word });
    }

    fn event(&mut self, at: usize, event: &Event) {
        match event {
            Event::Posted { id, kind, fence, .. } => self.posted(at, *id, kind, *fence),
            Event::Landed { id, .. } => self.landed(*id),
            Event::Quiet { pe, before } => drop(self.step(*pe, self.complete(*pe, *before))),
            Event::BarrierEntered { pe, epoch } => {
                let node = self.step(*pe, vec![]);
                self.entered.push((*epoch, node));
            }
            Event::BarrierLeft { pe, epoch } => {
                let all = self.entered.iter().filter(|(other, _)| other == epoch).map(|(_, node)| *node);
                let all = all.collect();
                self.step(*pe, all);
            }
            Event::SignalSeen { pe, word, .. } | Event::Loaded { pe, word, .. } => {
                self.local(at, *pe, *word..word + 8, false, true);
            }
            Event::AtomicAnswered { id, .. } => {
                let found = self.found.iter().find(|(other, _)| other == id).unwrap().1.clone();
                self.step(id.pe, found);
            }
            Event::Read { pe, range, .. } => self.local(at, *pe, range.clone(), false, false),
            Event::Written { pe, range, .. } => {
                self.local(at, *pe, range.clone(), true, false);
                self.overwrite(*pe, range);
            }
            _ => {}
        }
    }

    /// The events that race with an earlier one.
    fn racing(&self) -> Vec<usize> {
        let mut past: Vec<Vec<bool>> = Vec::new();
        for before in &self.before {
            let mut mine = vec![false; self.before.len()];
            for &node in before {
                mine[node] = true;
                mine.iter_mut().zip(&past[node]).for_each(|(mine, theirs)| *mine |= *theirs);
            }
            past.push(mine);
        }
        let mut racing = Vec::new();
        for (i, b) in self.touches.iter().enumerate() {
            let race = self.touches[..i].iter().any(|a| {
                a.memory == b.memory
                    && a.range.start < b.range.end
                    && b.range.start < a.range.end
                    && (a.writes || b.writes)
                    && !(a.of_word && b.of_word)
                    && (a.op.is_none() || a.op != b.op)
                    && !past[b.node][a.node]
            });
            if race && racing.last() != Some(&b.event) {
                racing.push(b.event);
            }
        }
        racing
    }
}

fn by_graph(n_pes: usize, events: &[Event]) -> Vec<usize> {
    let mut graph = Graph::default();
    graph.last = (0..n_pes).map(|_| graph.node(vec![])).collect();
    events.iter().enumerate().for_each(|(at, event)| graph.event(at, event));
    graph.racing()
}

fn by_detector(n_pes: usize, events: &[Event]) -> Vec<usize> {
    let mut detector = RaceDetector::new();
    detector.begin(n_pes);
    (0..events.len()).filter(|&at| detector.event(&events[at]).is_err()).collect()
}

/// One step; ranges and words lie so that they meet often.
fn step(n_pes: usize) -> impl Strategy<Value = (u8, usize, u64, u64, u64, u64)> {
    (0_u8..20, 0..n_pes, 0_u64..6, 0_u64..6, 1_u64..4, 0_u64..3)
}

fn add(steps: Steps, (what, to, a, b, len, word): (u8, usize, u64, u64, u64, u64)) -> Steps {
    let bytes = |at: u64| -> Bytes { (at * 4, (at + len) * 4) };
    // Now and then among the bytes, mostly apart.
    let at = if word == 0 { 8 } else { 64 + 8 * word };
    match what {
        0 | 1 => steps.put(to, bytes(a), bytes(b + 10)),
        2 => steps.get(to, bytes(a + 10), bytes(b)),
        3 => steps.put_bytes(to, bytes(a + 10)),
        4..=6 => steps.put_signal(to, bytes(a), bytes(b + 10), at, SignalOp::Add(1)),
        7 => steps.signal(to, at, SignalOp::Set(1)),
        8 => steps.atomic(to, at, AtomicOp::Add(1)),
        9 => steps.atomic(to, at, AtomicOp::Fetch),
        10..=12 => steps.wait(at, 1),
        13 => steps.load_then_read(at, 1, bytes(a + 10)),
        14 => steps.fence(),
        15 => steps.quiet(),
        16 => steps.barrier(),
        17 | 18 => steps.read(bytes(a + 10)),
        _ => steps.write(bytes(a)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the program and the schedule, the same events race, no more and no fewer.
    #[test]
    fn the_search_agrees_with_a_graph(
        scripts in (2_usize..4).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(step(n), 1..14), n)),
        seed in any::<u64>(),
    ) {
        let scripts: Vec<Steps> = scripts.into_iter().map(|steps| steps.into_iter().fold(pe(), add)).collect();
        let (events, _) = schedule(&scripts, seed);
        prop_assert_eq!(by_detector(scripts.len(), &events), by_graph(scripts.len(), &events), "{}", events.iter().enumerate().fold(String::new(), |all, (at, event)| format!("{all}\n{at} {event:?}")));
    }
}

/// The comparison is worth something: it sees programs with races and programs without, in numbers.
#[test]
fn both_answers_are_common() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(prop::collection::vec(step(2), 1..8), 2);
    let mut racy = 0;
    for seed in 0..500 {
        let steps = strategy.new_tree(&mut runner).unwrap().current();
        let scripts: Vec<Steps> = steps.into_iter().map(|steps| steps.into_iter().fold(pe(), add)).collect();
        racy += usize::from(!by_graph(2, &schedule(&scripts, seed).0).is_empty());
    }
    assert!((50..450).contains(&racy), "{racy} of 500");
}
