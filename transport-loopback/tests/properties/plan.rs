//! Makes a random list of steps into a program whose outcome is determined, and says what that outcome is.
//!
//! Between two barriers a unit of memory has one PE that may write it, or any number that may read it, unless `fence` or
//! `quiet` of the one PE orders its own accesses. A step that would race is left out.

use proptest::prelude::*;

/// Units of memory of each PE.
pub(crate) const UNITS: usize = 96;
/// Words of each PE, for signals and atomics.
pub(crate) const WORDS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Writes its own memory.
    Local,
    /// Reads its own memory, and compares.
    Look,
    Put,
    PutBytes,
    Get,
    /// Adds to a word by a signal that brings data.
    PutSignal,
    Atomic,
    Fence,
    Quiet,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) kind: Kind,
    pub(crate) pe: usize,
    pub(crate) other: usize,
    /// Units: where in the memory of `pe`, where in that of `other`, how many.
    pub(crate) mine: usize,
    pub(crate) theirs: usize,
    pub(crate) len: usize,
    pub(crate) value: u8,
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    use Kind::*;
    let kind = prop_oneof![
        2 => Just(Local), 2 => Just(Look), 6 => Just(Put), 3 => Just(PutBytes), 3 => Just(Get),
        2 => Just(PutSignal), 1 => Just(Atomic), 2 => Just(Fence), 2 => Just(Quiet),
    ];
    let place = (0..UNITS, 0..UNITS, 0..9_usize);
    (kind, 0..6_usize, 0..6_usize, place, 1..=u8::MAX).prop_map(
        |(kind, pe, other, (mine, theirs, len), value)| Step {
            kind,
            pe,
            other,
            mine,
            theirs,
            len: len.min(UNITS - mine).min(UNITS - theirs),
            value,
        },
    )
}

/// A program: phases that end by a barrier. The steps of one PE are done in order.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) phases: Vec<Vec<Planned>>,
    /// What is in each PE's memory and words in the end.
    pub(crate) memory: Vec<[u8; UNITS]>,
    pub(crate) words: Vec<[u64; WORDS]>,
}

/// A step, and for a [`Kind::Look`] what it sees.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    pub(crate) sees: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Access {
    pe: usize,
    /// How many fences (a quiet is one too) and quiets the PE had called before it.
    fences: usize,
    quiets: usize,
    /// A put, which a fence orders; gets are not.
    put: bool,
    /// Complete when the call returned.
    local: bool,
}

/// What happened to a unit in this phase.
#[derive(Clone, Copy, Default)]
struct Unit {
    written: Option<Access>,
    /// The last read, if all were by one PE.
    read: Option<Access>,
    read_by_several: bool,
}

impl Unit {
    fn may_read(&self, now: Access) -> bool {
        self.written.is_none_or(|write| write.pe == now.pe && (write.local || write.quiets < now.quiets))
    }

    fn may_write(&self, now: Access) -> bool {
        let after = |then: Access| then.pe == now.pe && (then.local || then.quiets < now.quiets);
        let in_order = |then: Access| then.put && now.put && then.pe == now.pe && then.fences < now.fences;
        self.written.is_none_or(|write| after(write) || in_order(write))
            && !self.read_by_several
            && self.read.is_none_or(after)
    }

    fn read(&mut self, now: Access) {
        self.read_by_several |= self.read.is_some_and(|read| read.pe != now.pe);
        self.read = Some(now);
    }
}

impl Plan {
    pub(crate) fn new(n_pes: usize, phases: &[Vec<Step>]) -> Self {
        let mut plan =
            Self { phases: Vec::new(), memory: vec![[0; UNITS]; n_pes], words: vec![[0; WORDS]; n_pes] };
        for phase in phases {
            let mut units = vec![[Unit::default(); UNITS]; n_pes];
            let mut counts = vec![(0, 0); n_pes];
            let mut planned = Vec::new();
            for step in phase {
                let step = Step { pe: step.pe % n_pes, other: step.other % n_pes, ..*step };
                if let Some(sees) = plan.admit(step, &mut units, &mut counts) {
                    planned.push(Planned { step, sees });
                }
            }
            plan.phases.push(planned);
        }
        plan
    }

    /// Does the step in the model if its outcome is determined.
    fn admit(
        &mut self,
        step: Step,
        units: &mut [[Unit; UNITS]],
        counts: &mut [(usize, usize)],
    ) -> Option<Vec<u8>> {
        let Step { kind, pe, other, mine, theirs, len, value } = step;
        let (fences, quiets) = counts[pe];
        let now = |put, local| Access { pe, fences, quiets, put, local };
        let (mine, theirs) = (mine..mine + len, theirs..theirs + len);
        // Whose units are read and written, and how.
        let (read, written) = match kind {
            Kind::Fence => return Some(std::mem::replace(&mut counts[pe].0, fences + 1)).map(|_| Vec::new()),
            Kind::Quiet => {
                counts[pe] = (fences + 1, quiets + 1);
                return Some(Vec::new());
            }
            Kind::Atomic => {
                self.words[other][theirs.start % WORDS] += u64::from(value);
                return Some(Vec::new());
            }
            Kind::Local => (None, Some((pe, mine, now(false, true)))),
            Kind::Look => (Some((pe, mine, now(false, true))), None),
            Kind::PutBytes => (None, Some((other, theirs, now(true, false)))),
            Kind::Put | Kind::PutSignal => {
                (Some((pe, mine, now(false, false))), Some((other, theirs, now(true, false))))
            }
            Kind::Get => (Some((other, theirs, now(false, false))), Some((pe, mine, now(false, false)))),
        };
        let moves = matches!(kind, Kind::Put | Kind::PutSignal | Kind::Get);
        if moves && pe == other && step.mine.abs_diff(step.theirs) < len {
            return None;
        }
        let can_read =
            read.iter().all(|(pe, range, now)| units[*pe][range.clone()].iter().all(|u| u.may_read(*now)));
        let can_write = written
            .iter()
            .all(|(pe, range, now)| units[*pe][range.clone()].iter().all(|u| u.may_write(*now)));
        if !can_read || !can_write {
            return None;
        }
        let mut data = vec![value; len];
        if let Some((pe, range, now)) = read {
            data.copy_from_slice(&self.memory[pe][range.clone()]);
            units[pe][range].iter_mut().for_each(|unit| unit.read(now));
        }
        if let Some((pe, range, now)) = written {
            self.memory[pe][range.clone()].copy_from_slice(&data);
            units[pe][range].iter_mut().for_each(|unit| unit.written = Some(now));
        }
        if kind == Kind::PutSignal {
            self.words[other][usize::from(value) % WORDS] += u64::from(value);
        }
        Some(data)
    }
}
