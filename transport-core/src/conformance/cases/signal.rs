//! `put_signal_nbi`: the signal is seen only after its data.

use crate::conformance::job::Job;
use crate::conformance::pattern::pattern;
use crate::conformance::random::mix;
use crate::error::Result;
use crate::transport::{Cmp, SignalOp, Transport};

const SLOTS: usize = 16;
const LONGEST: usize = 6000;

/// Many rounds of messages of many sizes in flight, each with a word of its own; taken in any order.
pub(in crate::conformance) async fn put_signal_after_its_data<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(SLOTS * LONGEST).await?, job.alloc::<u8>(SLOTS * LONGEST).await?);
    let signals = job.calloc::<u64>(SLOTS).await?;
    let (mut shared, mut own) = (job.shared_random(), job.own_random());
    for round in 0..job.rounds(150) {
        let (target, writer) = (job.to_right(round % n), job.to_left(round % n));
        let lens: [usize; SLOTS] =
            std::array::from_fn(
                |_| if shared.once_in(4) { shared.below(LONGEST) } else { shared.below(130) },
            );
        let value = 1 + round as u64;
        for (slot, &len) in lens.iter().enumerate() {
            let part = src.part(slot, SLOTS)?.slice(..len)?;
            job.heap().write(part, &pattern(len, mix(&[me, round, slot])))?;
            let to = dst.part(slot, SLOTS)?.slice(..len)?;
            job.put_signal_nbi(to, part, signals.slice(slot..=slot)?, SignalOp::Set(value), target)?;
        }
        let mut order: [usize; SLOTS] = std::array::from_fn(|slot| slot);
        own.shuffle(&mut order);
        for slot in order {
            job.signal_wait_until(signals.slice(slot..=slot)?, Cmp::Eq, value).await?;
            let found = job.heap().read_vec(dst.part(slot, SLOTS)?.slice(..lens[slot])?)?;
            let what =
                || format!("round {round}: {} bytes of PE {writer}, whose signal was seen", lens[slot]);
            job.same_bytes(what, &pattern(lens[slot], mix(&[writer, round, slot])), &found);
        }
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(signals).await
}

/// Everybody adds to one word of everybody: when it has them all, all data is there.
pub(in crate::conformance) async fn put_signal_adds<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const MESSAGES: usize = 4;
    const EACH: usize = 100;
    let (me, n) = (job.my_pe(), job.n_pes());
    let src = job.alloc::<u8>(MESSAGES * EACH).await?;
    let (dst, signal) = (job.alloc::<u8>(n * MESSAGES * EACH).await?, job.calloc::<u64>(1).await?);
    for round in 0..job.rounds(30) {
        job.heap().write(src, &pattern(MESSAGES * EACH, mix(&[me, round])))?;
        for message in 0..MESSAGES {
            for distance in 0..n {
                let to = dst.part(me, n)?.part(message, MESSAGES)?;
                let amount = SignalOp::Add(1 + message as u64);
                job.put_signal_nbi(to, src.part(message, MESSAGES)?, signal, amount, job.to_right(distance))?;
            }
        }
        let each_round = n * MESSAGES * (MESSAGES + 1) / 2;
        let total = (each_round * (round + 1)) as u64;
        let found = job.signal_wait_until(signal, Cmp::Ge, total).await?;
        job.same(|| format!("round {round}: the sum of all signals"), total, found);
        for writer in 0..n {
            let found = job.heap().read_vec(dst.part(writer, n)?)?;
            let what = || format!("round {round}: data of PE {writer} after the sum of all signals");
            job.same_bytes(what, &pattern(MESSAGES * EACH, mix(&[writer, round])), &found);
        }
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(signal).await
}

/// Without data, and with an equal range to itself, there is still a signal; it wraps.
pub(in crate::conformance) async fn put_signal_without_data<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (data, signals) = (job.calloc::<u8>(64).await?, job.calloc::<u64>(3).await?);
    let (none, target) = (data.slice(..0)?, job.to_right(1));
    let [first, second, third] = [signals.part(0, 3)?, signals.part(1, 3)?, signals.part(2, 3)?];
    job.put_signal_nbi(none, none, first, SignalOp::Set(u64::MAX), target)?;
    job.fence()?;
    job.put_signal_nbi(none, none, first, SignalOp::Add(8), target)?;
    job.put_signal_nbi(data, data, second, SignalOp::Set(5), job.my_pe())?;
    let found = job.signal_wait_until(first, Cmp::Eq, 7).await?;
    job.same(|| "a word set to the largest value plus 8".to_owned(), 7, found);
    job.same(|| "equal range to itself".to_owned(), 5, job.signal_wait_until(second, Cmp::Eq, 5).await?);
    // Signals alone are completed by quiet and barrier as puts are.
    job.put_signal_nbi(none, none, third, SignalOp::Set(9), target)?;
    job.barrier_all().await?;
    job.same(|| "a signal without data after a barrier".to_owned(), 9, job.heap().load(third)?);
    job.free(data).await?;
    job.free(signals).await
}

/// A fence orders puts before a signal that brings other data.
pub(in crate::conformance) async fn put_signal_after_fence<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    const LEN: usize = 9000;
    let (me, n) = (job.my_pe(), job.n_pes());
    let (src, dst) = (job.alloc::<u8>(2 * LEN).await?, job.alloc::<u8>(2 * LEN).await?);
    let signal = job.calloc::<u64>(1).await?;
    for round in 0..job.rounds(100) {
        let (target, writer) = (job.to_right(round % n), job.to_left(round % n));
        job.heap().write(src, &pattern(2 * LEN, mix(&[me, round])))?;
        job.put_nbi(dst.part(0, 2)?, src.part(0, 2)?, target)?;
        job.fence()?;
        let set = SignalOp::Set(1 + round as u64);
        job.put_signal_nbi(dst.slice(LEN..LEN + 9)?, src.slice(LEN..LEN + 9)?, signal, set, target)?;
        job.signal_wait_until(signal, Cmp::Ge, 1 + round as u64).await?;
        let found = job.heap().read_vec(dst.slice(..LEN + 9)?)?;
        let what = || format!("round {round}: both puts of PE {writer}, whose signal was seen");
        job.same_bytes(what, &pattern(2 * LEN, mix(&[writer, round]))[..LEN + 9], &found);
        job.barrier_all().await?;
    }
    job.free(src).await?;
    job.free(dst).await?;
    job.free(signal).await
}

/// A message that goes round the ring, each PE adding its own: what the first has written reaches the last, by way of
/// signals alone.
pub(in crate::conformance) async fn put_signal_round_the_ring<X: Transport>(job: &Job<'_, X>) -> Result<()> {
    let (me, n) = (job.my_pe(), job.n_pes());
    let (data, signal) = (job.calloc::<u64>(n + 1).await?, job.calloc::<u64>(1).await?);
    let right = job.to_right(1);
    for round in 0..job.rounds(60) as u64 {
        let value = round + 1;
        if me > 0 {
            job.signal_wait_until(signal, Cmp::Eq, value).await?;
        }
        job.heap().write(data.slice(me..=me)?, &[value * 1000 + me as u64])?;
        // The last sends it all to the first, as to any; to itself in a job of one, which is the equal range.
        job.put_signal_nbi(data, data, signal, SignalOp::Set(value), right)?;
        // Its source is written in the next round.
        job.quiet().await?;
        if me == 0 {
            job.signal_wait_until(signal, Cmp::Eq, value).await?;
            let expected: Vec<u64> = (0..n as u64).map(|pe| value * 1000 + pe).chain([0]).collect();
            job.same(
                || format!("round {round}: the message after all PEs"),
                expected,
                job.heap().read_vec(data)?,
            );
        }
    }
    job.barrier_all().await?;
    job.free(data).await?;
    job.free(signal).await
}
