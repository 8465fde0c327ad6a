//! The job as far as the search has seen it: who knows what, and what each byte has seen.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::access::{Access, AccessKind, Mark, View};
use super::barriers::Barriers;
use super::clock::{Clock, Lane};
use super::effects::{accesses, change};
use super::report::{Hint, Race};
use super::shadow::Shadow;
use super::words::{Landing, Pending, Words};
use crate::sim::event::{Event, OpId, OpKind, Place};

/// One PE.
#[derive(Debug)]
struct Pe {
    /// What it knows of all, itself too, but for its own steps.
    clock: Arc<Clock>,
    /// Its step: one more whenever another may come to know what it has done so far.
    step: u64,
    /// Its fences so far, as its last operation said.
    fence: u64,
    /// The first operation after the last fence.
    fence_start: u64,
    /// The last operation of each lane, with those since the one before it.
    last: BTreeMap<Lane, Range<u64>>,
    shadow: Shadow,
    ended: bool,
}

/// The job.
#[derive(Debug, Default)]
pub(super) struct History {
    pes: Vec<Pe>,
    words: Words,
    barriers: Barriers,
    /// The segments of all shadows that are too many: then it is time to forget.
    crowd: usize,
    found: Vec<Race>,
}

/// So many segments are kept without a look whether they can be forgotten.
const FEW: usize = 1024;

impl History {
    /// A job begins.
    pub(super) fn new(n_pes: usize) -> Self {
        let pe = |_| Pe {
            clock: Arc::new(Clock::new(n_pes)),
            step: 1,
            fence: 0,
            fence_start: 0,
            last: BTreeMap::new(),
            shadow: Shadow::default(),
            ended: false,
        };
        Self { pes: (0..n_pes).map(pe).collect(), crowd: FEW, ..Self::default() }
    }

    /// The next event; answers the races that it makes.
    pub(super) fn event(&mut self, event: &Event) -> Vec<Race> {
        match event {
            Event::Posted { id, kind, fence, place } => self.posted(*id, kind, *fence, place),
            Event::Landed { id, .. } => self.words.landed(*id),
            Event::Quiet { pe, before } => self.learn(*pe, |clock| clock.learn_done(*pe, *before)),
            Event::BarrierEntered { pe, epoch } => self.entered(*pe, *epoch),
            Event::BarrierLeft { pe, epoch } => {
                let n_pes = self.pes.len();
                if let Some(pe) = self.pes.get_mut(*pe) {
                    self.barriers.left(*epoch, n_pes, Arc::make_mut(&mut pe.clock));
                }
                self.forget_if_crowded();
            }
            Event::SignalSeen { pe, word, .. } => self.word_read(*pe, *word, AccessKind::Wait, None),
            Event::Loaded { pe, word, place, .. } => {
                self.word_read(*pe, *word, AccessKind::Load, Some(place));
            }
            Event::AtomicAnswered { id, .. } => {
                if let Some(atomic) = self.words.answered(*id) {
                    self.learn(id.pe, |clock| {
                        atomic.landing.teach(clock);
                        if let Some(found) = &atomic.found {
                            clock.join(found);
                        }
                    });
                }
            }
            Event::Read { pe, range, place } => self.local(*pe, range, AccessKind::Read, Some(place)),
            Event::Written { pe, range, place } => {
                self.local(*pe, range, AccessKind::Write, Some(place));
                self.words.overwritten(*pe, range);
            }
            Event::Ended { pe } => {
                if let Some(pe) = self.pes.get_mut(*pe) {
                    pe.ended = true;
                }
            }
            // An access of an operation may happen from its post on, whenever this schedule lets it, so it counts from there.
            Event::Fetched { .. } | Event::Completed { .. } => {}
        }
        std::mem::take(&mut self.found)
    }

    fn learn(&mut self, pe: usize, what: impl FnOnce(&mut Clock)) {
        if let Some(pe) = self.pes.get_mut(pe) {
            what(Arc::make_mut(&mut pe.clock));
        }
    }

    fn posted(&mut self, id: OpId, kind: &OpKind, fence: u64, place: Place) {
        let Some(pe) = self.pes.get_mut(id.pe) else { return };
        if fence > pe.fence {
            (pe.fence, pe.fence_start) = (fence, id.number);
        }
        let step = pe.step;
        pe.step += 1;
        let (to, words) = match kind {
            OpKind::Put { to, .. } | OpKind::PutBytes { to, .. } => (*to, Some(false)),
            OpKind::Get { from, .. } => (*from, None),
            OpKind::Signal { to, .. } | OpKind::Atomic { to, .. } | OpKind::PutMarked { to, .. } => {
                (*to, Some(true))
            }
        };
        let lane = words.map(|words| Lane { from: id.pe, to, words });
        let before = lane.and_then(|lane| pe.last.get(&lane)).map(|last| last.end);
        let numbers = before.unwrap_or(0)..id.number + 1;
        if let Some(lane) = lane {
            pe.last.insert(lane, numbers.clone());
        }
        let clock = Arc::clone(&pe.clock);
        let fence_start = pe.fence_start;
        let mut after = None;
        if let (Some(lane), Some((word, change))) = (lane, change(kind)) {
            if let OpKind::Signal { after: data, .. } = kind {
                after = data.filter(|data| data.pe == id.pe);
            }
            let last = pe.last.get(&Lane { words: false, ..lane });
            let data = after.map(|data| match last {
                Some(last) if last.end == data.number + 1 => last.clone(),
                _ => data.number..data.number + 1,
            });
            let clock = Arc::clone(&clock);
            let (word, answers) = ((to, word), matches!(kind, OpKind::Atomic { .. }));
            let landing = Landing { lane, numbers, fence_start, data };
            self.words.posted(id, Pending { word, change, answers, clock, step, landing, found: None });
        }
        let before = before.map(|end| end - 1);
        for (memory, kind, range) in accesses(id.pe, kind).into_iter().flatten() {
            let access = Access { pe: id.pe, op: Some(id), kind, memory, range, place: Some(place) };
            let fenced = kind.is_fenced().then_some((to, fence_start));
            let view = View { clock: &clock, pe: id.pe, fence: fenced, after };
            if kind.writes() && !kind.is_of_word() {
                self.words.overwritten(memory, &access.range);
            }
            self.access(Mark { access, step, lane, before, fence }, &view);
        }
        self.forget_if_crowded();
    }

    fn entered(&mut self, pe: usize, epoch: u32) {
        let number = pe;
        let Some(pe) = self.pes.get_mut(number) else { return };
        let mut clock = Clock::clone(&pe.clock);
        clock.learn_step(number, pe.step);
        pe.step += 1;
        self.barriers.entered(epoch, clock);
    }

    fn word_read(&mut self, pe: usize, word: u64, kind: AccessKind, place: Option<Place>) {
        if let Some(known) = self.words.known(pe, word).map(Arc::clone) {
            self.learn(pe, |clock| clock.join(&known));
        }
        self.local(pe, &(word..word.saturating_add(8)), kind, place);
    }

    fn local(&mut self, number: usize, range: &Range<u64>, kind: AccessKind, place: Option<Place>) {
        let Some(pe) = self.pes.get(number) else { return };
        let (clock, step) = (Arc::clone(&pe.clock), pe.step);
        let access = Access { pe: number, op: None, kind, memory: number, range: range.clone(), place };
        let view = View { clock: &clock, pe: number, fence: None, after: None };
        self.access(Mark { access, step, lane: None, before: None, fence: 0 }, &view);
        self.forget_if_crowded();
    }

    fn access(&mut self, mark: Mark, view: &View<'_>) {
        let (mark, mut races) = (Arc::new(mark), Vec::new());
        let Some(memory) = self.pes.get_mut(mark.access.memory) else { return };
        memory.shadow.add(&mark, view, &mut races);
        // Segments that lie side by side give the same one again.
        let mut told = BTreeSet::new();
        for earlier in races.iter().filter(|&earlier| told.insert(Arc::as_ptr(earlier))) {
            let op = earlier.access.op.map_or(0, |op| op.number);
            let poster = self.pes.get(earlier.access.pe);
            let hint = Hint {
                heard_since: view.clock.step(earlier.access.pe) >= earlier.step,
                quiet_since: poster.is_some_and(|pe| pe.clock.done(earlier.access.pe) > op),
                fence_since: poster.is_some_and(|pe| pe.fence > earlier.fence),
                same_target: earlier
                    .lane
                    .zip(mark.lane)
                    .is_some_and(|(a, b)| (a.from, a.to) == (b.from, b.to)),
            };
            self.found.push(Race::new(earlier.access.clone(), mark.access.clone(), hint));
        }
    }

    /// Keeps long runs small: what all that still run know of cannot race with what they do next.
    fn forget_if_crowded(&mut self) {
        let count = |pes: &[Pe]| pes.iter().map(|pe| pe.shadow.len()).sum::<usize>();
        if count(&self.pes) < self.crowd {
            return;
        }
        let mut all_know = Clock::all_knowing(self.pes.len());
        for (number, pe) in self.pes.iter().enumerate().filter(|(_, pe)| !pe.ended) {
            all_know.meet(&pe.clock, number);
        }
        for pe in &mut self.pes {
            pe.shadow.forget(&all_know);
        }
        self.crowd = FEW.max(2 * count(&self.pes));
    }

    /// What it keeps: segments, the most of one byte, the ranges of all clocks, and signals and atomics under way.
    #[cfg(test)]
    pub(super) fn kept(&self) -> [usize; 4] {
        let deepest = self.pes.iter().map(|pe| pe.shadow.deepest()).max().unwrap_or(0);
        let ranges = self.pes.iter().map(|pe| pe.clock.ranges()).sum();
        [self.pes.iter().map(|pe| pe.shadow.len()).sum(), deepest, ranges, self.words.under_way()]
    }
}
