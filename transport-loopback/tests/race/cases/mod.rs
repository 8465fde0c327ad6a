//! Programs with and without races, after the kinds that RMARaceBench (RWTH Aachen) sorts them by.

mod order;
mod origin;
mod patterns;
mod target;
mod words;

use transport_loopback::sim::RaceKind;

use crate::script::{Bytes, Steps};

/// What is true of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    /// No schedule has a race.
    Free,
    /// Every schedule shows a race of this kind.
    Racy(RaceKind),
    /// It has a race, which some schedules show: in the others, what was seen happens to order the two.
    SometimesSeen(RaceKind),
}

/// A program.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) truth: Truth,
    pub(crate) pes: Vec<Steps>,
}

fn free<const N: usize>(name: &'static str, pes: [Steps; N]) -> Case {
    Case { name, truth: Truth::Free, pes: pes.into() }
}

fn racy<const N: usize>(name: &'static str, kind: RaceKind, pes: [Steps; N]) -> Case {
    Case { name, truth: Truth::Racy(kind), pes: pes.into() }
}

/// Four pieces of the buffer, and three words.
const A: Bytes = (0, 64);
const B: Bytes = (64, 128);
const C: Bytes = (128, 192);
const D: Bytes = (192, 256);
const V: u64 = 256;
const W: u64 = 264;
const X: u64 = 272;

/// The bytes of a word.
fn word(at: u64) -> Bytes {
    (at, at + 8)
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    [origin::cases(), target::cases(), order::cases(), words::cases(), patterns::cases()].concat()
}
