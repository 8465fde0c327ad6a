//! Small jobs, added up by hand: overhead 10, latency 100, gap 5, 1 a byte, receive 3, acknowledge 50, copy 0.5 a byte.

use transport_core::{AtomicOp, Cmp, Result, SignalOp, Transport};

use super::{barrier, gather, model, start};
use crate::sim::cost::{CostModel, Link};
use crate::sim::{Sim, SimPe, yield_now};

/// What the clock of each PE says after its part, which PE 0 and the others play with a word and 16 bytes.
pub(super) fn clocks<F, Fut>(n_pes: usize, model: &CostModel, part: F) -> Vec<u64>
where
    F: Fn(SimPe, transport_core::SymSlice<u64>) -> Fut + Copy + Send + Sync,
    Fut: Future<Output = Result<()>> + Send,
{
    let clocks = std::sync::Mutex::new(vec![0; n_pes]);
    let body = |pe: SimPe| {
        let clocks = &clocks;
        async move {
            let words = pe.calloc::<u64>(3).await?;
            pe.begin().await;
            part(pe.clone(), words).await?;
            clocks.lock().unwrap()[pe.my_pe()] = pe.now_ns().unwrap();
            pe.finalize().await
        }
    };
    Sim::new(n_pes).predict(model, body).unwrap();
    clocks.into_inner().unwrap()
}

#[test]
fn one_put() {
    let at = clocks(2, &model(), |pe, words| async move {
        if pe.my_pe() == 0 {
            pe.put_nbi(words.slice(..1)?, words.slice(1..2)?, 1)?;
            assert_eq!(pe.now_ns(), Some(10));
            pe.quiet().await?;
        }
        Ok(())
    });
    assert_eq!(at, [10 + 100 + 8 + 50, 0]);
}

#[test]
fn ping_pong() {
    let at = clocks(2, &model(), |pe, words| async move {
        let (flag, one) = (words.slice(..1)?, words.slice(1..2)?);
        pe.heap().write(one, &[1])?;
        if pe.my_pe() == 0 {
            pe.put_nbi(flag, one, 1)?;
        }
        pe.signal_wait_until(flag, Cmp::Eq, 1).await?;
        if pe.my_pe() == 1 {
            pe.put_nbi(flag, one, 0)?;
        }
        Ok(())
    });
    assert_eq!(at, [2 * (10 + 100 + 8 + 3), 10 + 100 + 8 + 3 + 10]);
}

#[test]
fn a_get_an_atomic_and_a_signal() {
    let at = clocks(3, &model(), |pe, words| async move {
        let (word, data) = (words.slice(..1)?, words.slice(1..)?);
        match pe.my_pe() {
            0 => {
                pe.get_nbi(data, data, 1)?;
                pe.quiet().await?;
            }
            1 => drop(pe.atomic(word, AtomicOp::Add(1), 2).await?),
            // The signal leaves when the NIC is done with the 16 bytes and a gap, and lands a gap after them.
            _ => {
                pe.put_signal_nbi(data, data, word, SignalOp::Set(1), 0)?;
                pe.quiet().await?;
            }
        }
        Ok(())
    });
    assert_eq!(at, [10 + 100 + 100 + 16, 10 + 100 + 100 + 3, 10 + 16 + 5 + 100 + 50]);
}

#[test]
fn two_that_come_at_once_go_one_after_the_other() {
    let at = clocks(3, &model(), |pe, words| async move {
        let my_pe = pe.my_pe();
        if my_pe > 0 {
            pe.put_nbi(words.slice(my_pe..=my_pe)?, words.slice(..1)?, 0)?;
            pe.quiet().await?;
        }
        Ok(())
    });
    assert_eq!(at, [0, 10 + 100 + 8 + 50, 10 + 100 + 8 + 5 + 8 + 50]);
}

#[test]
fn who_looks_again_and_again_sees_it_when_it_lands() {
    let at = clocks(2, &model(), |pe, words| async move {
        let flag = words.slice(..1)?;
        if pe.my_pe() == 0 {
            return pe.put_signal_nbi(words.slice(1..1)?, words.slice(1..1)?, flag, SignalOp::Set(1), 1);
        }
        while pe.heap().load(flag)? == 0 {
            yield_now().await;
        }
        Ok(())
    });
    assert_eq!(at, [10, 110]);
}

#[test]
fn two_who_look_do_not_keep_the_clock_still() {
    let at = clocks(3, &model(), |pe, words| async move {
        let (flag, none) = (words.slice(..1)?, words.slice(1..1)?);
        if pe.my_pe() == 0 {
            return (1..3).try_for_each(|to| pe.put_signal_nbi(none, none, flag, SignalOp::Set(1), to));
        }
        while pe.heap().load(flag)? == 0 {
            yield_now().await;
        }
        Ok(())
    });
    assert_eq!(at, [20, 110, 120]);
}

#[test]
fn barriers() {
    for (n_pes, rounds) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3)] {
        let expected = (rounds * (10 + 100 + 3), n_pes as u64 * rounds, 0);
        assert_eq!(start(&barrier(n_pes, &model())), expected, "{n_pes} PEs");
    }
}

#[test]
fn gathers() {
    let (one_round, copy) = (10 + 100 + 3, 4);
    let two = one_round + copy + (10 + 100 + 8 + 50) + one_round;
    assert_eq!(start(&gather(2, 8, &model())), (two, 2 + 2 * 2, 2 * 8));
    // The second put leaves 3 after it is ready, when the NIC is done with the first.
    let three = 2 * one_round + copy + (10 + 8 + 5 + 100 + 8 + 50) + 2 * one_round;
    assert_eq!(start(&gather(3, 8, &model())), (three, 3 * 2 + 2 * 6, 6 * 8));
}

#[test]
fn links_of_their_own() {
    let near = Link { latency_ns: 20, per_byte_ps: 0 };
    let at = clocks(4, &model().nodes(2, near), |pe, words| async move {
        let to = if pe.my_pe() < 2 { 1 - pe.my_pe() } else { pe.my_pe() - 2 };
        pe.put_nbi(words.slice(..1)?, words.slice(1..2)?, to)?;
        pe.quiet().await
    });
    assert_eq!(at, [10 + 20 + 50, 10 + 20 + 50, 10 + 100 + 8 + 50, 10 + 100 + 8 + 50]);
}
