//! Processors that the PEs of a node share: who is ready takes one, in the order in which they became ready.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::model::{CostModel, ps};

/// Of all nodes. Times are in picoseconds.
pub(super) struct Processors {
    per_node: usize,
    /// What it takes to go over to another PE.
    switch: u64,
    nodes: Vec<Node>,
    /// Where each PE is.
    pes: Vec<Place>,
    /// When PEs are done with what they were at: time, turn, PE. One that has gone on meanwhile has another turn.
    ends: BinaryHeap<Reverse<(u64, u64, u32)>>,
    turns: u64,
}

struct Node {
    /// Processors without work, the one that is so for longest first.
    idle: VecDeque<u32>,
    /// The last PE of each processor.
    last: Vec<Option<u32>>,
    /// PEs without a processor.
    ready: VecDeque<u32>,
}

#[derive(Clone, Default)]
struct Place {
    has: Option<u32>,
    turn: u64,
}

/// What becomes of a PE that is ready.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// It goes on.
    Now,
    /// It goes on at this time.
    At(u64),
    /// It has to wait for a processor.
    Waits,
}

impl Processors {
    /// None if every PE has its own.
    pub(super) fn new(model: &CostModel, n_pes: usize) -> Option<Self> {
        if model.cores == 0 {
            return None;
        }
        let per_node = if model.pes_per_node == 0 { n_pes } else { model.pes_per_node.min(n_pes) }.max(1);
        let cores = model.cores.min(per_node);
        let node =
            |_| Node { idle: (0..cores as u32).collect(), last: vec![None; cores], ready: VecDeque::new() };
        Some(Self {
            per_node,
            switch: ps(model.switch_ns),
            nodes: (0..n_pes.div_ceil(per_node)).map(node).collect(),
            pes: vec![Place::default(); n_pes],
            ends: BinaryHeap::new(),
            turns: 0,
        })
    }

    /// Nobody is on a processor, nor was.
    pub(super) fn clear(&mut self) {
        for node in &mut self.nodes {
            node.last.fill(None);
            node.idle = (0..node.last.len() as u32).collect();
        }
        self.pes.fill(Place::default());
        self.ends.clear();
    }

    /// `pe` is ready.
    pub(super) fn take(&mut self, pe: u32, now: u64) -> Start {
        if self.pes[pe as usize].has.is_some() {
            return Start::Now;
        }
        let node = &mut self.nodes[pe as usize / self.per_node];
        let of = |last: Option<u32>| node.idle.iter().position(|&idle| node.last[idle as usize] == last);
        // The one that it had, or else one that nobody had.
        let at = of(Some(pe)).or_else(|| of(None)).unwrap_or_default();
        match node.idle.remove(at) {
            Some(processor) => self.give(processor, pe, now),
            None => {
                node.ready.push_back(pe);
                Start::Waits
            }
        }
    }

    fn give(&mut self, processor: u32, pe: u32, now: u64) -> Start {
        let last = self.nodes[pe as usize / self.per_node].last[processor as usize].replace(pe);
        self.pes[pe as usize].has = Some(processor);
        if self.switch == 0 || last.is_none_or(|last| last == pe) {
            return Start::Now;
        }
        Start::At(now.saturating_add(self.switch))
    }

    /// `pe` goes on, and is at work until `time`. It keeps its processor if by then it can go on again.
    pub(super) fn works_until(&mut self, pe: u32, time: u64) {
        self.turns += 1;
        self.pes[pe as usize].turn = self.turns;
        self.ends.push(Reverse((time, self.turns, pe)));
    }

    /// When a PE is done next.
    pub(super) fn next_end(&self) -> Option<u64> {
        self.ends.peek().map(|&Reverse((time, ..))| time)
    }

    /// That PE gives up its processor; who gets it, and when that one goes on.
    pub(super) fn end(&mut self) -> Option<(u64, u32)> {
        let Reverse((now, turn, pe)) = self.ends.pop()?;
        let place = &mut self.pes[pe as usize];
        let processor = place.has.filter(|_| place.turn == turn)?;
        place.has = None;
        let node = &mut self.nodes[pe as usize / self.per_node];
        let Some(next) = node.ready.pop_front() else {
            node.idle.push_back(processor);
            return None;
        };
        match self.give(processor, next, now) {
            Start::At(time) => Some((time, next)),
            Start::Now | Start::Waits => Some((now, next)),
        }
    }
}
