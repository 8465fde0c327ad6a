//! Operations of one PE, and what others do where they land or read.

use transport_core::SignalOp::Set;
use transport_loopback::sim::RaceKind::{MissingBarrier, WrongOrder};

use super::{A, B, C, Case, W, free, racy};
use crate::script::pe;

pub(super) fn cases() -> Vec<Case> {
    vec![
        racy("target read without a barrier", MissingBarrier, [pe().put(1, A, B).quiet(), pe().read(B)]),
        free("target read after a barrier", [pe().put(1, A, B).barrier(), pe().barrier().read(B)]),
        racy(
            "target read before the barrier",
            MissingBarrier,
            [pe().put(1, A, B).barrier(), pe().read(B).barrier()],
        ),
        racy(
            "target written meanwhile",
            MissingBarrier,
            [pe().put(1, A, B).barrier(), pe().write(B).barrier()],
        ),
        racy(
            "put after the barrier",
            MissingBarrier,
            [pe().barrier().put(1, A, B).quiet(), pe().barrier().read(B)],
        ),
        free(
            "target written, barrier, put",
            [pe().barrier().put(1, A, B).barrier(), pe().write(B).barrier().barrier().read(B)],
        ),
        racy(
            "two PEs put to one place",
            MissingBarrier,
            [pe().put(1, A, C).barrier(), pe().barrier(), pe().put(1, B, C).barrier()],
        ),
        racy(
            "two PEs put the same bytes to one place",
            MissingBarrier,
            [pe().put_bytes(1, C).barrier(), pe().barrier(), pe().put_bytes(1, C).barrier()],
        ),
        free(
            "two PEs put side by side",
            [
                pe().put_bytes(1, (0, 33)).barrier(),
                pe().barrier().read(A),
                pe().put_bytes(1, (33, 64)).barrier(),
            ],
        ),
        racy(
            "two PEs overlap by one byte",
            MissingBarrier,
            [pe().put_bytes(1, (0, 33)).barrier(), pe().barrier(), pe().put_bytes(1, (32, 64)).barrier()],
        ),
        free(
            "two PEs put to one place with a barrier between",
            [
                pe().put(1, A, C).barrier().barrier(),
                pe().barrier().barrier(),
                pe().barrier().put(1, B, C).barrier(),
            ],
        ),
        racy(
            "target read beside the last byte of a put",
            MissingBarrier,
            [pe().put(1, A, B).barrier(), pe().read((120, 200)).barrier()],
        ),
        free(
            "target read right after a put's end",
            [pe().put(1, A, B).barrier(), pe().read((128, 200)).barrier()],
        ),
        free(
            "two PEs get from one place",
            [pe().get(1, A, B).barrier(), pe().read(A).barrier(), pe().get(1, A, C).barrier()],
        ),
        racy(
            "a get's source written meanwhile",
            MissingBarrier,
            [pe().get(1, A, B).barrier(), pe().write(A).barrier()],
        ),
        racy(
            "a put and a get of two PEs at one place",
            MissingBarrier,
            [pe().get(1, A, B).barrier(), pe().barrier(), pe().put(1, C, A).barrier()],
        ),
        racy(
            "a get's source written after a signal before quiet",
            WrongOrder,
            [pe().get(1, A, B).signal(1, W, Set(1)).barrier(), pe().wait(W, 1).write(A).barrier()],
        ),
        racy(
            "a get's source written after a signal after a fence",
            WrongOrder,
            [pe().get(1, A, B).fence().signal(1, W, Set(1)).barrier(), pe().wait(W, 1).write(A).barrier()],
        ),
        free(
            "a get's source written after quiet and signal",
            [pe().get(1, A, B).quiet().signal(1, W, Set(1)).barrier(), pe().wait(W, 1).write(A).barrier()],
        ),
        racy(
            "a put's source is where another put lands",
            MissingBarrier,
            [pe().put(1, A, B).barrier(), pe().put(2, B, C).barrier(), pe().barrier()],
        ),
        racy(
            "a get's destination is where a put lands",
            MissingBarrier,
            [pe().put(1, A, B).barrier(), pe().get(0, C, B).barrier()],
        ),
        racy(
            "quiet of the target instead of the origin",
            MissingBarrier,
            [pe().put(1, A, B).barrier(), pe().quiet().read(B).barrier()],
        ),
        free(
            "all cleared, then put",
            [
                pe().write((0, 256)).barrier().put(1, A, B).barrier().read(B),
                pe().write((0, 256)).barrier().barrier().read(B),
            ],
        ),
        racy(
            "one clears late",
            MissingBarrier,
            [pe().write((0, 256)).put(1, A, B).barrier().read(B), pe().write((0, 256)).barrier().read(B)],
        ),
    ]
}
