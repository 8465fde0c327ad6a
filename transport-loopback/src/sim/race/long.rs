//! Long runs are not kept: what is of no more use is forgotten.

use std::ops::Range;
use std::panic::Location;

use transport_core::SignalOp::{Add, Set};
use transport_core::{AtomicOp, Cmp};

use super::history::History;
use crate::sim::event::{Event, OpId, OpKind, Place};

const ROUNDS: u64 = 5_000;

struct Run(History);

fn here() -> Place {
    Location::caller()
}

impl Run {
    fn tell(&mut self, event: &Event) {
        let races = self.0.event(event);
        assert!(races.is_empty(), "{}", races[0]);
    }

    fn post(&mut self, pe: usize, number: u64, kind: OpKind) -> OpId {
        let id = OpId { pe, number };
        self.tell(&Event::Posted { id, kind, fence: 0, place: here() });
        id
    }

    fn land(&mut self, id: OpId, range: Range<u64>) {
        self.tell(&Event::Landed { id, range });
    }

    fn barrier(&mut self, n_pes: usize, epoch: u32, before: u64) {
        for pe in 0..n_pes {
            self.tell(&Event::Quiet { pe, before });
            self.tell(&Event::BarrierEntered { pe, epoch });
        }
        (0..n_pes).for_each(|pe| self.tell(&Event::BarrierLeft { pe, epoch }));
    }

    fn written(&mut self, pe: usize, range: Range<u64>) {
        self.tell(&Event::Written { pe, range, place: here() });
    }
}

/// Runs it, and answers the most of each that was kept.
fn most_kept(n_pes: usize, round: impl Fn(&mut Run, u64)) -> [usize; 4] {
    let mut run = Run(History::new(n_pes));
    let mut most = [0; 4];
    for number in 0..ROUNDS {
        round(&mut run, number);
        if number % 97 == 0 || number + 1 == ROUNDS {
            most.iter_mut().zip(run.0.kept()).for_each(|(most, now)| *most = now.max(*most));
        }
    }
    most
}

#[test]
fn signals_to_and_fro_without_a_quiet() {
    let most = most_kept(2, |run, round| {
        for pe in 0..2 {
            let put = OpKind::Put { to: 1 - pe, local: 0..64, remote: 64..128 };
            let data = run.post(pe, 2 * round, put);
            let op = Add(1);
            let signal = OpKind::Signal { to: 1 - pe, word: 128, op, after: Some(data) };
            let signal = run.post(pe, 2 * round + 1, signal);
            run.land(data, 64..128);
            run.land(signal, 128..136);
            let (value, cmp, seen) = (round + 1, Cmp::Ge, vec![signal]);
            run.tell(&Event::SignalSeen { pe: 1 - pe, word: 128, cmp, value, seen });
            run.tell(&Event::Read { pe: 1 - pe, range: 64..128, place: here() });
        }
    });
    let [segments, deepest, ranges, under_way] = most;
    assert!(segments <= 6 && deepest <= 4 && ranges <= 8 && under_way == 0, "{most:?}");
}

#[test]
fn rounds_at_ever_new_bytes_with_a_barrier() {
    let most = most_kept(4, |run, round| {
        for pe in 0..4 {
            let at = 64 * round;
            run.written(pe, at..at + 16);
            let put = OpKind::Put { to: (pe + 1) % 4, local: at..at + 5, remote: at + 20..at + 25 };
            let put = run.post(pe, round, put);
            run.land(put, at + 20..at + 25);
        }
        run.barrier(4, round as u32, round + 1);
    });
    let [segments, deepest, ranges, _] = most;
    assert!(segments <= 2 * 1024 && deepest <= 2 && ranges == 0, "{most:?}");
}

#[test]
fn a_race_after_much_was_forgotten_is_found() {
    let mut run = Run(History::new(2));
    for round in 0..3000 {
        run.written(0, 64 * round..64 * round + 8);
        run.barrier(2, round as u32, 0);
    }
    assert!(run.0.kept()[0] < 2000, "nothing was forgotten");
    run.written(0, 100..108);
    let get = |number, remote| {
        let kind = OpKind::Get { from: 0, local: 0..8, remote };
        Event::Posted { id: OpId { pe: 1, number }, kind, fence: 0, place: here() }
    };
    assert_eq!(run.0.event(&get(0, 107..115)).len(), 1);
    run.tell(&Event::Quiet { pe: 1, before: 1 });
    assert!(run.0.event(&get(1, 64 * 2999..64 * 2999 + 8)).is_empty());
}

#[test]
fn one_source_to_all_and_a_counter_without_a_quiet() {
    let most = most_kept(4, |run, round| {
        for to in [1, 2] {
            let at = 4096 + 16 * round;
            run.post(0, 3 * round + to as u64 - 1, OpKind::Put { to, local: 0..16, remote: at..at + 16 });
        }
        let count = run.post(0, 3 * round + 2, OpKind::Atomic { to: 3, word: 0, op: AtomicOp::Add(1) });
        run.land(count, 0..8);
        run.tell(&Event::AtomicAnswered { id: count, value: round });
    });
    let [_, deepest, ranges, under_way] = most;
    assert!(deepest <= 2 && ranges <= 1 && under_way == 0, "{most:?}");
}

#[test]
fn two_words_set_again_and_again_that_nobody_looks_at() {
    let most = most_kept(3, |run, round| {
        for pe in 0..2 {
            for (number, word) in [(2 * round, 0), (2 * round + 1, 8)] {
                let signal =
                    run.post(pe, number, OpKind::Signal { to: 2, word, op: Set(round), after: None });
                run.land(signal, word..word + 8);
            }
        }
    });
    let [segments, deepest, _, under_way] = most;
    assert!(segments == 2 && deepest <= 2 * 32 && under_way == 0, "{most:?}");
}
