//! Fences, quiets and signals in the right order and in the wrong one.

use transport_core::SignalOp::{Add, Set};
use transport_loopback::sim::RaceKind::{MissingBarrier, MissingFence, MissingQuiet, WrongOrder};

use super::{A, B, C, Case, V, W, free, racy};
use crate::script::pe;

pub(super) fn cases() -> Vec<Case> {
    let reader = || pe().wait(W, 1).read(B).barrier();
    vec![
        racy(
            "two puts to one place",
            MissingFence,
            [pe().put(1, A, C).put(1, B, C).barrier(), pe().barrier()],
        ),
        free(
            "two puts to one place with a fence",
            [pe().put(1, A, C).fence().put(1, B, C).barrier(), pe().barrier()],
        ),
        free(
            "two puts to one place with quiet",
            [pe().put(1, A, C).quiet().put(1, B, C).barrier(), pe().barrier()],
        ),
        racy(
            "the fence before both puts",
            MissingFence,
            [pe().fence().put(1, A, C).put(1, B, C).barrier(), pe().barrier()],
        ),
        racy("a get after a put", MissingQuiet, [pe().put(1, A, B).get(1, B, C).barrier(), pe().barrier()]),
        racy(
            "a get after a put and a fence",
            MissingQuiet,
            [pe().put(1, A, B).fence().get(1, B, C).barrier(), pe().barrier()],
        ),
        free(
            "a get after a put and quiet",
            [pe().put(1, A, B).quiet().get(1, B, C).barrier(), pe().barrier()],
        ),
        racy(
            "a put over a get's source after a fence",
            MissingQuiet,
            [pe().get(1, B, A).fence().put(1, C, B).barrier(), pe().barrier()],
        ),
        racy(
            "a signal that overtakes its put",
            WrongOrder,
            [pe().put(1, A, B).signal(1, W, Set(1)).barrier(), reader()],
        ),
        racy(
            "quiet before the put",
            WrongOrder,
            [pe().quiet().put(1, A, B).signal(1, W, Set(1)).barrier(), reader()],
        ),
        racy(
            "the fence after the signal",
            WrongOrder,
            [pe().put(1, A, B).signal(1, W, Set(1)).fence().barrier(), reader()],
        ),
        free(
            "a fence, then the signal",
            [pe().put(1, A, B).fence().signal(1, W, Set(1)).barrier(), reader()],
        ),
        free("quiet, then the signal", [pe().put(1, A, B).quiet().signal(1, W, Set(1)).barrier(), reader()]),
        free("put with signal", [pe().put_signal(1, A, B, W, Set(1)).barrier(), reader()]),
        racy(
            "the put after the signal",
            MissingBarrier,
            [pe().signal(1, W, Set(1)).fence().put(1, A, B).barrier(), reader()],
        ),
        racy(
            "a wait for the wrong word",
            WrongOrder,
            [pe().put_signal(1, A, B, V, Set(1)).signal(1, W, Set(1)).barrier(), reader()],
        ),
        racy(
            "put with signal: another put's data",
            WrongOrder,
            [pe().put(1, A, B).put_signal(1, A, C, W, Set(1)).barrier(), reader()],
        ),
        racy(
            "a fence is for one target",
            WrongOrder,
            [
                pe().put(1, A, B).fence().signal(2, W, Set(1)).barrier(),
                pe().wait(W, 1).read(B).barrier(),
                pe().wait(W, 1).signal(1, W, Set(1)).barrier(),
            ],
        ),
        free(
            "quiet is for all targets",
            [
                pe().put(1, A, B).quiet().signal(2, W, Set(1)).barrier(),
                pe().wait(W, 1).read(B).barrier(),
                pe().wait(W, 1).signal(1, W, Set(1)).barrier(),
            ],
        ),
        free(
            "a third PE gets what it was told of",
            [
                pe().put_signal(1, A, B, W, Set(1)).barrier(),
                pe().wait(W, 1).signal(2, W, Set(1)).barrier(),
                pe().wait(W, 1).get(1, B, C).quiet().read(C).barrier(),
            ],
        ),
        racy(
            "a third PE was told nothing",
            MissingBarrier,
            [
                pe().put_signal(1, A, B, W, Set(1)).barrier(),
                pe().wait(W, 1).read(B).barrier(),
                pe().get(1, B, C).barrier(),
            ],
        ),
        free(
            "two signals that add, both waited for",
            [
                pe().put_signal(1, A, B, W, Add(1)).put_signal(1, A, C, W, Add(1)).barrier(),
                pe().wait(W, 2).read(B).read(C).barrier(),
            ],
        ),
        racy(
            "two signals that set, without a fence",
            WrongOrder,
            [
                pe().put_signal(1, A, B, W, Set(1)).put_signal(1, A, C, W, Set(2)).barrier(),
                pe().wait(W, 1).read(B).read(C).barrier(),
            ],
        ),
        free(
            "two signals that set, with a fence",
            [
                pe().put_signal(1, A, B, W, Set(1)).fence().put_signal(1, A, C, W, Set(2)).barrier(),
                pe().wait(W, 2).read(B).read(C).barrier(),
            ],
        ),
    ]
}
