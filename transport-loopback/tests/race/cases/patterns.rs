//! Whole exchanges as programs have them, right and wrong.

use transport_core::SignalOp::Add;
use transport_loopback::sim::RaceKind::{MissingBarrier, WrongOrder};

use super::{A, B, C, Case, D, Truth, V, W, X, free, racy};
use crate::script::{Bytes, Steps, pe};

const PARTS: [Bytes; 3] = [(300, 316), (316, 332), (332, 348)];

/// Puts its part of an AllGather to both others.
fn parts(steps: Steps, me: usize) -> Steps {
    (0..3).filter(|&to| to != me).fold(steps, |steps, to| steps.put(to, PARTS[me], PARTS[me]))
}

/// A round of it: with a barrier before and after, if they are wanted, and a look at all parts.
fn gather(steps: Steps, me: usize, entry: bool, exit: bool) -> Steps {
    let steps = if entry { steps.barrier() } else { steps };
    let steps = parts(steps, me);
    let steps = if exit { steps.barrier() } else { steps };
    steps.read((300, 348))
}

fn three(steps: impl Fn(usize) -> Steps) -> [Steps; 3] {
    [steps(0), steps(1), steps(2)]
}

/// Rounds of an exchange of halos with both neighbours in a ring of 3: `acknowledged` or not.
fn halo(me: usize, acknowledged: bool) -> Steps {
    let (left, right) = ((me + 2) % 3, (me + 1) % 3);
    let mut steps = pe();
    for round in 1..=3 {
        steps = steps.put_signal(left, A, B, V, Add(1)).put_signal(right, A, C, W, Add(1));
        steps = steps.wait(V, round).wait(W, round).read(B).read(C);
        if acknowledged {
            steps = steps.signal(left, X, Add(1)).signal(right, X, Add(1)).wait(X, 2 * round);
        }
    }
    steps.barrier()
}

/// Rounds with one peer, through so many buffers in turn, each written anew by its owner.
fn buffered(me: usize, buffers: &[(Bytes, Bytes)], fence: bool) -> Steps {
    let mut steps = pe();
    for round in 0..4 {
        let (src, dst) = buffers[round % buffers.len()];
        steps = if fence { steps.fence() } else { steps };
        steps = steps.write(src).put_signal(1 - me, src, dst, W, Add(1));
        steps = steps.wait(W, round as u64 + 1).read(dst);
    }
    steps.barrier()
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        free("halo exchange", three(|me| halo(me, true))),
        racy("halo exchange without an answer", MissingBarrier, three(|me| halo(me, false))),
        free("two buffers in turn", [0, 1].map(|me| buffered(me, &[(A, B), (C, D)], true))),
        Case {
            truth: Truth::SometimesSeen(WrongOrder),
            // The signal of a round may overtake that of the round before.
            ..free("two buffers in turn, no fence", [0, 1].map(|me| buffered(me, &[(A, B), (C, D)], false)))
        },
        racy("one buffer for all rounds", MissingBarrier, [0, 1].map(|me| buffered(me, &[(A, B)], true))),
        free(
            "a token around the ring",
            three(|me| {
                let next = (me + 1) % 3;
                match me {
                    0 => pe().write(B).put_signal(next, B, B, W, Add(1)).wait(W, 1).read(B).barrier(),
                    _ => pe().wait(W, 1).read(B).put_signal(next, B, B, W, Add(1)).barrier(),
                }
            }),
        ),
        racy(
            "a ring that passes on what has not come",
            MissingBarrier,
            three(|me| {
                pe().put_signal((me + 1) % 3, B, C, W, Add(1)).put((me + 1) % 3, C, D).wait(W, 1).barrier()
            }),
        ),
        free("AllGather", three(|me| gather(pe().write(PARTS[me]), me, true, true).barrier())),
        racy(
            "AllGather without its first barrier",
            MissingBarrier,
            three(|me| {
                let steps = pe().write((300, 348)).barrier().write(PARTS[me]).read((300, 348));
                gather(steps, me, false, true).barrier()
            }),
        ),
        racy(
            "AllGather without its last barrier",
            MissingBarrier,
            three(|me| gather(pe().write(PARTS[me]), me, true, false).barrier()),
        ),
        free(
            "AllGather three times",
            three(|me| {
                (0..3).fold(pe(), |steps, _| gather(steps.write(PARTS[me]), me, true, true)).barrier()
            }),
        ),
        racy(
            "AllGather, then a part written while another PE gets it",
            MissingBarrier,
            three(|me| {
                let (steps, next) = (gather(pe(), me, true, true), (me + 1) % 3);
                steps.get(next, PARTS[next], (0, 16)).write(PARTS[me]).barrier()
            }),
        ),
    ]
}
