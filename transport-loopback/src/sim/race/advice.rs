//! What would order the two sides of a race.

use super::access::AccessKind;
use super::report::{Race, RaceKind, Who};

/// In sentences.
pub(super) fn of(race: &Race) -> String {
    let mut text = match race.kind {
        RaceKind::MissingQuiet => missing_quiet(race),
        RaceKind::MissingFence => missing_fence(race),
        RaceKind::MissingBarrier => missing_barrier(race),
        RaceKind::WrongOrder => wrong_order(race),
    };
    if let Some(plain) = plain_write_of_a_word(race) {
        text.push_str(&plain);
    }
    text
}

fn missing_quiet(race: &Race) -> String {
    let pe = race.second.pe;
    let why = match race.first.kind {
        AccessKind::PutSource => "a put may read its source until quiet returns",
        AccessKind::GetTarget => "a get has arrived when quiet returns, not before",
        AccessKind::GetSource => "a get may read until quiet returns, and a fence does not order it",
        _ => "an operation is complete when quiet returns, not before, also one to its own PE",
    };
    let fence = match race.hint.fence_since && race.first.kind != AccessKind::GetSource {
        true => " The fence since then orders landings on one PE, not this.",
        false => "",
    };
    format!("The quiet of PE {pe} between the two is missing: {why}.{fence}")
}

fn missing_fence(race: &Race) -> String {
    let (pe, to) = (race.first.pe, race.first.memory);
    format!(
        "What PE {pe} posts to PE {to} may land in any order: a fence of PE {pe} between the two, or a quiet, would \
         order them."
    )
}

fn missing_barrier(race: &Race) -> String {
    let (first, second) = (&race.first, &race.second);
    let (a, b) = (first.pe, second.pe);
    if first.op.is_some() && race.hint.quiet_since {
        return format!(
            "PE {a} has completed it by quiet, but that tells PE {b} nothing: a barrier_all on both between the two, or a \
             signal of PE {a} after its quiet with signal_wait_until on PE {b}, would."
        );
    }
    match first.kind {
        AccessKind::PutTarget => format!(
            "PE {a} has not made the data visible to PE {b}: a barrier_all on both, or put_signal_nbi with \
             signal_wait_until on PE {b}, would. If the put is of a later round, PE {a} must hear from PE {b} before it."
        ),
        AccessKind::GetSource | AccessKind::PutSource | AccessKind::GetTarget => format!(
            "PE {b} has not heard that PE {a} is done with it: a barrier_all on both between the two, or a quiet of PE {a} \
             and then a signal to PE {b}, would tell."
        ),
        AccessKind::Signal | AccessKind::Atomic | AccessKind::Fetch => format!(
            "PE {b} has not waited for it: a signal_wait_until on that word, or a barrier_all on both between the two, \
             would order them."
        ),
        _ => format!(
            "PE {b} has not heard that PE {a} is done there: a barrier_all on both between the two, or a signal of PE {a} \
             that PE {b} waits for first, would tell."
        ),
    }
}

fn wrong_order(race: &Race) -> String {
    let (first, a, b) = (&race.first, race.first.pe, race.second.pe);
    let remedy = match first.kind.is_fenced() && first.memory == b {
        true => format!(
            "put_signal_nbi, or a fence between it and the signal (or atomic) that PE {b} saw, or a quiet, would order them."
        ),
        false => format!(
            "a quiet of PE {a} between it and the signal (or atomic) that PE {b} saw would order them."
        ),
    };
    format!(
        "PE {b} has heard from PE {a} since then, but that did not wait for {}, which may be overtaken: {remedy}",
        Who(first)
    )
}

/// If one side is a signal, an atomic or a wait, and the other a plain access.
fn plain_write_of_a_word(race: &Race) -> Option<String> {
    let (first, second) = (&race.first, &race.second);
    let plain = match (first.kind.is_of_word(), second.kind.is_of_word()) {
        (true, false) => second,
        (false, true) => first,
        _ => return None,
    };
    let other = match plain.kind {
        AccessKind::Read => "SymHeap::load or an atomic reads it whole",
        AccessKind::Write => "an atomic to itself writes it whole",
        AccessKind::GetSource => "an atomic Fetch reads it whole",
        _ => "a signal or an atomic changes it whole",
    };
    Some(format!(" A word of signals or atomics is no place for a plain access: {other}."))
}
