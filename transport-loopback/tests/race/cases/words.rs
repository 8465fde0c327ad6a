//! Signals, atomics and plain accesses at one word.

use transport_core::AtomicOp::{Add as FetchAdd, Fetch, Swap};
use transport_core::SignalOp::{Add, Set};
use transport_loopback::sim::RaceKind::{MissingBarrier, MissingFence};

use super::{A, B, C, Case, Truth, V, W, free, racy, word};
use crate::script::pe;

pub(super) fn cases() -> Vec<Case> {
    let count = || pe().atomic(1, W, FetchAdd(1));
    vec![
        free(
            "all count at one word",
            [count().barrier(), count().atomic(1, W, Fetch).barrier(), count().barrier()],
        ),
        racy(
            "a put over a counter",
            MissingBarrier,
            [count().barrier(), pe().barrier(), pe().put(1, word(V), word(W)).barrier()],
        ),
        racy(
            "a counter read by a plain read",
            MissingBarrier,
            [count().barrier(), pe().read(word(W)).barrier()],
        ),
        racy(
            "a counter written by a plain write",
            MissingBarrier,
            [count().barrier(), pe().reset(W).barrier()],
        ),
        racy(
            "a counter got by a get",
            MissingBarrier,
            [count().barrier(), pe().barrier(), pe().get(1, word(W), word(V)).barrier()],
        ),
        free(
            "a counter fetched and got",
            [
                pe().atomic(1, W, Fetch).barrier(),
                pe().read(word(W)).barrier(),
                pe().get(1, word(W), word(V)).barrier(),
            ],
        ),
        racy(
            "a word fetched while it is written",
            MissingBarrier,
            [pe().atomic(1, W, Fetch).barrier(), pe().reset(W).barrier()],
        ),
        racy(
            "an atomic after a put to its word",
            MissingFence,
            [pe().put(1, word(V), word(W)).atomic(1, W, Swap(3)).barrier(), pe().barrier()],
        ),
        free("a counter read after a barrier", [count().barrier(), pe().barrier().read(word(W)).reset(W)]),
        free(
            "a put, a fence, an atomic to be waited for",
            [
                pe().put(1, A, B).fence().atomic(1, W, FetchAdd(1)).barrier(),
                pe().wait(W, 1).read(B).barrier(),
            ],
        ),
        free(
            "an atomic that has answered tells its own PE",
            [
                pe().put(1, A, B).fence().atomic(1, W, FetchAdd(1)).put(1, C, B).write(A).barrier(),
                pe().barrier(),
            ],
        ),
        free(
            "signals that set one word do not race",
            [
                pe().signal(1, W, Set(1)).barrier(),
                pe().wait(W, 1).barrier(),
                pe().signal(1, W, Set(2)).barrier(),
            ],
        ),
        free(
            "two PEs add, the sum is waited for",
            [
                pe().put_signal(1, A, B, W, Add(1)).barrier(),
                pe().wait(W, 2).read(B).read(C).barrier(),
                pe().put_signal(1, A, C, W, Add(1)).barrier(),
            ],
        ),
        racy(
            "two PEs set, one is seen",
            MissingBarrier,
            [
                pe().put_signal(1, A, B, W, Set(1)).barrier(),
                pe().wait(W, 1).read(B).read(C).barrier(),
                pe().put_signal(1, A, C, W, Set(1)).barrier(),
            ],
        ),
        Case {
            truth: Truth::SometimesSeen(MissingBarrier),
            ..free(
                "two PEs add, one is waited for",
                [
                    pe().put_signal(1, A, B, W, Add(1)).barrier(),
                    pe().wait(W, 1).read(B).read(C).barrier(),
                    pe().put_signal(1, A, C, W, Add(1)).barrier(),
                ],
            )
        },
        free(
            "a load that has seen the signal",
            [pe().put_signal(1, A, B, W, Set(1)).barrier(), pe().load_then_read(W, 1, B).barrier()],
        ),
        Case {
            truth: Truth::SometimesSeen(MissingBarrier),
            ..free(
                "a load that has seen nothing",
                [pe().put_signal(1, A, B, W, Set(1)).barrier(), pe().load_then_read(W, 0, B).barrier()],
            )
        },
        racy(
            "a flag by a plain put",
            MissingBarrier,
            [
                pe().put(1, A, B).fence().put(1, word(V), word(W)).barrier(),
                pe().load_then_read(W, 7, B).barrier(),
            ],
        ),
        free(
            "a signal reset between two rounds",
            [
                pe().signal(1, W, Set(1)).wait(V, 1).signal(1, W, Set(1)).barrier(),
                pe().wait(W, 1).reset(W).signal(0, V, Set(1)).wait(W, 1).barrier(),
            ],
        ),
        Case {
            truth: Truth::SometimesSeen(MissingBarrier),
            ..free(
                "a signal reset while the next may come",
                [
                    pe().signal(1, W, Set(1)).fence().signal(1, W, Set(2)).barrier(),
                    pe().wait(W, 1).reset(W).barrier(),
                ],
            )
        },
        racy(
            "a signal into a put's bytes",
            MissingFence,
            [pe().put(1, (0, 32), (250, 282)).signal(1, W, Set(1)).barrier(), pe().barrier()],
        ),
        free(
            "a signal beside a put's bytes",
            [
                pe().put(1, (0, 8), (256, 264)).put(1, (0, 8), (272, 280)).signal(1, W, Set(1)).barrier(),
                pe().wait(W, 1).barrier(),
            ],
        ),
    ]
}
