//! A PE and the buffers of its own operations.

use transport_core::SignalOp::{Add, Set};
use transport_loopback::sim::RaceKind::{MissingFence, MissingQuiet};

use super::{A, B, C, Case, V, W, X, free, racy, word};
use crate::script::pe;

/// What a word that was written holds.
const SEVENS: u64 = 0x0707_0707_0707_0707;

pub(super) fn cases() -> Vec<Case> {
    let idle = || pe().barrier();
    vec![
        racy("source written after its put", MissingQuiet, [pe().put(1, A, B).write(A).barrier(), idle()]),
        free("source written after quiet", [pe().put(1, A, B).quiet().write(A).barrier(), idle()]),
        free("source read after its put", [pe().put(1, A, B).read(A).barrier(), idle()]),
        racy(
            "source written after a fence",
            MissingQuiet,
            [pe().put(1, A, B).fence().write(A).barrier(), idle()],
        ),
        racy(
            "source of the second put written after quiet of the first",
            MissingQuiet,
            [pe().put(1, A, B).quiet().put(1, A, C).write(A).barrier(), idle()],
        ),
        free("two puts of one source", [pe().put(1, A, B).put(1, A, C).barrier(), idle()]),
        free("bytes handed over need no quiet", [pe().put_bytes(1, B).write(A).barrier(), idle()]),
        racy("destination read after its get", MissingQuiet, [pe().get(1, A, B).read(B).barrier(), idle()]),
        free("destination read after quiet", [pe().get(1, A, B).quiet().read(B).barrier(), idle()]),
        free(
            "source of a put beside a get's destination",
            [pe().get(1, A, B).put(1, A, C).barrier(), idle()],
        ),
        racy(
            "destination written after its get",
            MissingQuiet,
            [pe().get(1, A, B).write(B).barrier(), idle()],
        ),
        racy(
            "put from a get's destination",
            MissingQuiet,
            [pe().get(1, A, B).put(1, B, C).barrier(), idle()],
        ),
        racy(
            "put from a get's destination after a fence",
            MissingQuiet,
            [pe().get(1, A, B).fence().put(1, B, C).barrier(), idle()],
        ),
        free(
            "put from a get's destination after quiet",
            [pe().get(1, A, B).quiet().put(1, B, C).barrier(), idle()],
        ),
        racy("get into a put's source", MissingQuiet, [pe().put(1, A, B).get(1, C, A).barrier(), idle()]),
        racy("two gets into one place", MissingQuiet, [pe().get(1, A, C).get(1, B, C).barrier(), idle()]),
        racy(
            "source of a put with signal written",
            MissingQuiet,
            [pe().put_signal(1, A, B, W, Set(1)).write(A).barrier(), idle()],
        ),
        free(
            "source written after the target's answer",
            [
                pe().put_signal(1, A, B, W, Set(1)).wait(V, 1).write(A).barrier(),
                pe().wait(W, 1).read(B).signal(0, V, Add(1)).barrier(),
            ],
        ),
        racy(
            "source of a put of marked bytes written after it",
            MissingQuiet,
            [pe().put_marked(1, word(V), word(W)).write(word(V)).barrier(), idle()],
        ),
        free(
            "source of a put of marked bytes written after quiet",
            [pe().put_marked(1, word(V), word(W)).quiet().write(word(V)).barrier(), idle()],
        ),
        free(
            "source of a put of marked bytes written after the target's answer",
            [
                pe().write(word(V)).put_marked(1, word(V), word(W)).wait(X, 1).write(word(V)).barrier(),
                pe().wait(W, SEVENS).signal(0, X, Add(1)).barrier(),
            ],
        ),
        racy("put to self read at once", MissingQuiet, [pe().put(0, A, B).read(B).barrier(), idle()]),
        free("put to self read after quiet", [pe().put(0, A, B).quiet().read(B).barrier(), idle()]),
        free("put to self onto itself", [pe().write(A).put(0, A, A).write(A).barrier(), idle()]),
        racy(
            "put to self, then on from there",
            MissingQuiet,
            [pe().put(0, A, B).put(1, B, C).barrier(), idle()],
        ),
        racy("two puts to self", MissingFence, [pe().put(0, A, C).put(0, B, C).barrier(), idle()]),
    ]
}
