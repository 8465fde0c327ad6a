//! What an exhaustive exploration leaves out changes no outcome.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;

use transport_core::{AtomicOp, Cmp, Result, SignalOp, Transport};
use transport_loopback::sim::{Exploration, Network, Sim, SimPe, yield_now};

/// All that came out, over all schedules; what each PE answers counts.
fn outcomes<F, Fut, R>(sim: &Sim, reduction: bool, body: F) -> (BTreeSet<Vec<R>>, u64)
where
    F: Fn(SimPe) -> Fut,
    Fut: Future<Output = Result<R>> + Send,
    R: Ord + Clone + Debug + Send,
{
    // Of the schedule that is run: all its PEs answer before the next begins.
    let (now, all) = (Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    // Kept until the schedule has ended, so that no PE is lost for the others when it has its answer.
    let kept = Mutex::new(Vec::new());
    let sim = sim.clone().reduction(reduction);
    let n_pes = 2;
    let explored = sim.explore(Exploration::Exhaustive { most: 5_000_000 }, |pe| {
        let (me, future) = (pe.my_pe(), body(pe.clone()));
        let (now, all) = (&now, &all);
        if me == 0 {
            now.lock().unwrap().clear();
            kept.lock().unwrap().clear();
        }
        kept.lock().unwrap().push(pe);
        async move {
            let answer = future.await?;
            let mut now = now.lock().unwrap();
            now.push((me, answer));
            if now.len() == n_pes {
                now.sort();
                all.lock().unwrap().insert(now.iter().map(|(_, answer)| answer.clone()).collect());
            }
            Result::Ok(())
        }
    });
    let explored = explored.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(explored.complete, "{explored:?}");
    (all.into_inner().unwrap(), explored.schedules + explored.left)
}

fn same_with_and_without<F, Fut, R>(what: &str, network: Network, several: usize, body: F)
where
    F: Fn(SimPe) -> Fut + Copy,
    Fut: Future<Output = Result<R>> + Send,
    R: Ord + Clone + Debug + Send,
{
    let sim = Sim::new(2).network(network);
    let (with, few) = outcomes(&sim, true, body);
    let (without, many) = outcomes(&sim, false, body);
    assert_eq!(with, without, "{what}: {few} schedules, {many} without reduction");
    assert!(with.len() >= several, "{what}: {with:?}");
    assert!(few < many, "{what}: nothing was left out of {many}");
}

const WHOLE: Network = Network { torn: false, ordered: false, late_source: false };

/// Both put into the same word of the other, and look at once, after quiet, and at the end.
#[test]
fn of_puts_and_looks() {
    same_with_and_without("puts and looks", WHOLE, 4, |pe| async move {
        let (word, src) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
        pe.heap().write(src, &[1 + pe.my_pe() as u64])?;
        pe.begin().await;
        pe.put_nbi(word, src, 1 - pe.my_pe())?;
        let first = pe.heap().load(word)?;
        pe.quiet().await?;
        Ok((first, pe.heap().load(word)?))
    });
}

/// Torn, read late, and looked at while on its way.
#[test]
fn of_torn_and_late_puts() {
    let network = Network { torn: true, ordered: false, late_source: true };
    same_with_and_without("torn and late", network, 4, |pe| async move {
        let buffer = pe.calloc::<u8>(2).await?;
        let src = pe.calloc::<u8>(2).await?;
        pe.heap().write(src, &[1, 2])?;
        pe.begin().await;
        if pe.my_pe() == 0 {
            pe.put_nbi(buffer, src, 1)?;
            yield_now().await;
            pe.heap().write(src, &[8, 9])?;
            Ok(Vec::new())
        } else {
            yield_now().await;
            pe.heap().read_vec(buffer)
        }
    });
}

/// Two atomics on one word, two on another.
#[test]
fn of_atomics() {
    same_with_and_without("atomics", WHOLE, 3, |pe| async move {
        let words = pe.calloc::<u64>(2).await?;
        pe.begin().await;
        let (first, second) = (words.part(0, 2)?, words.part(1, 2)?);
        let a = pe.atomic(first, AtomicOp::Add(1 + pe.my_pe() as u64), 0).await?;
        let b = pe.atomic(second, AtomicOp::Swap(5 + a), 1).await?;
        Ok((a, b))
    });
}

/// Signals that are waited for, with data, and a fence.
#[test]
fn of_signals_and_fences() {
    for ordered in [false, true] {
        let network = Network { ordered, ..WHOLE };
        same_with_and_without("signals", network, 2, |pe| async move {
            let (data, signal) = (pe.calloc::<u64>(3).await?, pe.calloc::<u64>(1).await?);
            let values = pe.calloc::<u64>(3).await?;
            pe.heap().write(values, &[1, 2, 3])?;
            pe.begin().await;
            if pe.my_pe() == 0 {
                let of = |part| -> Result<_> { Ok((data.part(part, 3)?, values.part(part, 3)?)) };
                let (to, from) = of(0)?;
                pe.put_signal_nbi(to, from, signal, SignalOp::Add(1), 1)?;
                let (to, from) = of(1)?;
                pe.put_nbi(to, from, 1)?;
                pe.fence()?;
                let (to, from) = of(2)?;
                pe.put_nbi(to, from, 1)?;
                return Ok(Vec::new());
            }
            pe.signal_wait_until(signal, Cmp::Ge, 1).await?;
            pe.heap().read_vec(data)
        });
    }
}

/// A get against a put, and a barrier after it.
#[test]
fn of_gets_and_barriers() {
    same_with_and_without("gets", WHOLE, 2, |pe| async move {
        let (word, mine) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
        pe.begin().await;
        if pe.my_pe() == 0 {
            pe.get_nbi(mine, word, 1)?;
        } else {
            pe.heap().write(word, &[4])?;
        }
        pe.barrier_all().await?;
        pe.heap().load(mine)
    });
}
