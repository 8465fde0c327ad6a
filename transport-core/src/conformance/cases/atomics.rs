//! Atomics: every operation, and that nothing is lost when all work on one word.

use crate::conformance::job::Job;
use crate::conformance::turn::yield_now;
use crate::error::Result;
use crate::transport::{AtomicOp, SignalOp, Transport};

/// Operation, and what it makes of the word before it.
fn every(before: u64) -> [(AtomicOp, u64); 10] {
    let missed = AtomicOp::CompareSwap { expected: before ^ 1, new: 5 };
    [
        (AtomicOp::Fetch, before),
        (AtomicOp::Swap(0x0123_4567_89AB_CDEF), 0x0123_4567_89AB_CDEF),
        (AtomicOp::CompareSwap { expected: before, new: u64::MAX }, u64::MAX),
        (missed, before),
        (AtomicOp::Add(u64::MAX), before.wrapping_add(u64::MAX)),
        (AtomicOp::Add(1 << 32), before.wrapping_add(1 << 32)),
        (AtomicOp::And(0x00FF_00FF_00FF_00FF), before & 0x00FF_00FF_00FF_00FF),
        (AtomicOp::Or(0xF0), before | 0xF0),
        (AtomicOp::Xor(u64::MAX), !before),
        (AtomicOp::Fetch, before),
    ]
}

/// Each operation on a word of each PE, itself too: what it answers, what it leaves, and that the words beside it stay.
pub(in crate::conformance) async fn atomic_every_op<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let words = job.calloc::<u64>(3 * n).await?;
    let mine = words.slice(3 * me + 1..3 * me + 2)?;
    for distance in [0, 1, n / 2, n - 1] {
        let pe = job.to_right(distance);
        for start in [0, u64::MAX, 0x8000_0000_0000_0001] {
            for (op, after) in every(start) {
                job.atomic(mine, AtomicOp::Swap(start), pe).await?;
                let answered = job.atomic(mine, op, pe).await?;
                job.same(|| format!("answer of {op:?} on {start:#x} of PE {pe}"), start, answered);
                let left = job.atomic(mine, AtomicOp::Fetch, pe).await?;
                job.same(|| format!("word after {op:?} on {start:#x} of PE {pe}"), after, left);
            }
        }
        job.atomic(mine, AtomicOp::Swap(me as u64 + 1), pe).await?;
        job.barrier_all().await?;
        let writer = job.to_left(distance);
        let found = job.heap().read_vec(words.slice(3 * writer..3 * writer + 3)?)?;
        job.same(|| format!("word of PE {writer} and its neighbours"), vec![0, writer as u64 + 1, 0], found);
        job.barrier_all().await?;
    }
    job.free(words).await
}

/// All PEs, the owner too, take tickets from one word: each is given once.
pub(in crate::conformance) async fn atomic_totals_are_exact<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let n = job.n_pes();
    let words = job.calloc::<u64>(2 * n).await?;
    let turns = job.rounds(400) as u64;
    for owner in [0, n - 1] {
        let (tickets, sum) =
            (words.slice(2 * owner..=2 * owner)?, words.slice(2 * owner + 1..=2 * owner + 1)?);
        job.heap().fill(words, 0)?;
        job.barrier_all().await?;
        let (mut mine, mut last) = (0_u64, None);
        for _ in 0..turns {
            let ticket = job.atomic(tickets, AtomicOp::Add(1), owner).await?;
            job.holds(|| format!("ticket {ticket} is higher than {last:?}"), last < Some(ticket));
            last = Some(ticket);
            mine = mine.wrapping_add(ticket);
        }
        job.atomic(sum, AtomicOp::Add(mine), owner).await?;
        job.barrier_all().await?;
        let all = turns * n as u64;
        job.same(
            || format!("tickets of PE {owner}"),
            all,
            job.atomic(tickets, AtomicOp::Fetch, owner).await?,
        );
        let found = job.atomic(sum, AtomicOp::Fetch, owner).await?;
        job.same(|| format!("sum of the tickets of PE {owner}"), all * (all - 1) / 2, found);
        if job.my_pe() == owner {
            job.same(|| "tickets, as the owner loads them".to_owned(), all, job.heap().load(tickets)?);
        }
        job.barrier_all().await?;
    }
    job.free(words).await
}

/// A counter made of compare-and-swap.
pub(in crate::conformance) async fn atomic_compare_swap_counts<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let word = job.calloc::<u64>(1).await?;
    let owner = job.n_pes() / 2;
    let turns = job.rounds(100);
    for _ in 0..turns {
        let mut seen = job.atomic(word, AtomicOp::Fetch, owner).await?;
        loop {
            let op = AtomicOp::CompareSwap { expected: seen, new: seen + 3 };
            let before = job.atomic(word, op, owner).await?;
            if before == seen {
                break;
            }
            seen = before;
            yield_now().await;
        }
    }
    job.barrier_all().await?;
    let total = (3 * turns * job.n_pes()) as u64;
    job.same(|| "the counter".to_owned(), total, job.atomic(word, AtomicOp::Fetch, owner).await?);
    job.free(word).await
}

/// Each PE sets, flips and clears a bit of its own in a word that all share.
pub(in crate::conformance) async fn atomic_bits_of_every_pe<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let n = job.n_pes();
    let words = job.calloc::<u64>(n.div_ceil(64)).await?;
    let me = job.my_pe();
    let (word, bit) = (words.slice(me / 64..=me / 64)?, 1_u64 << (me % 64));
    for round in 0..job.rounds(100) {
        let steps = [
            (AtomicOp::Or(bit), 0),
            (AtomicOp::Xor(bit), bit),
            (AtomicOp::Xor(bit), 0),
            (AtomicOp::And(!bit), bit),
        ];
        for (op, expected) in steps {
            let before = job.atomic(word, op, 0).await?;
            job.same(|| format!("round {round}: its own bit before {op:?}"), expected, before & bit);
        }
    }
    job.atomic(word, AtomicOp::Or(bit), 0).await?;
    job.barrier_all().await?;
    if me == 0 {
        let all: u32 = job.heap().read_vec(words)?.iter().map(|word| word.count_ones()).sum();
        job.same(|| "bits in the end".to_owned(), n, all as usize);
    }
    job.free(words).await
}

/// Signals that add, and atomics, of all PEs on one word.
pub(in crate::conformance) async fn atomic_against_signals<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let n = job.n_pes();
    let (data, word) = (job.calloc::<u8>(8 * n).await?, job.calloc::<u64>(1).await?);
    let turns = job.rounds(200) as u64;
    let mine = data.part(job.my_pe(), n)?;
    for turn in 0..turns {
        let part = mine.slice(..turn as usize % 9)?;
        job.put_signal_nbi(part, part, word, SignalOp::Add(1), 0)?;
        job.atomic(word, AtomicOp::Add(1 << 32), 0).await?;
    }
    job.barrier_all().await?;
    let total = turns * n as u64;
    let found = job.atomic(word, AtomicOp::Fetch, 0).await?;
    job.same(
        || "signals, and atomics above them".to_owned(),
        (total, total),
        (found & 0xFFFF_FFFF, found >> 32),
    );
    job.free(data).await?;
    job.free(word).await
}
