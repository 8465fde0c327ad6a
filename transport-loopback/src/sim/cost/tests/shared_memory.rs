//! Puts that are complete at their post, added up by hand: overhead 10, latency 100, 1 a byte, receive 3.

use std::sync::{Arc, Mutex};

use transport_core::{AtomicOp, Cmp, SignalOp, Transport};

use super::by_hand::clocks;
use super::{barrier, gather, model, start};
use crate::sim::cost::{CostModel, Link};
use crate::sim::{Event, Listener, Sim};

/// Gap and acknowledgement are there, but of no matter.
fn at_post() -> CostModel {
    CostModel { complete_at_post: true, ..model() }
}

#[test]
fn a_put_and_a_get_are_the_work_of_who_calls() {
    let at = clocks(3, &at_post(), |pe, words| async move {
        let (one, two) = (words.slice(..1)?, words.slice(1..)?);
        match pe.my_pe() {
            0 => {
                pe.put_nbi(two, two, 2)?;
                pe.put_bytes_nbi(words.slice(..1)?.bytes(), bytes::Bytes::from_static(&[7; 8]), 2)?;
            }
            1 => pe.get_nbi(two, two, 2)?,
            _ => return Ok(()),
        }
        assert_eq!(pe.now_ns(), Some(if pe.my_pe() == 0 { 10 + 16 + 10 + 8 } else { 10 + 16 }));
        pe.quiet().await?;
        if pe.my_pe() == 1 {
            // Its answer is there with the call; it is only taken.
            pe.atomic(one, AtomicOp::Add(1), 0).await?;
        }
        Ok(())
    });
    assert_eq!(at, [10 + 16 + 10 + 8, 10 + 16 + 10 + 3, 0]);
}

#[test]
fn the_target_sees_a_put_after_the_latency_alone() {
    let at = clocks(4, &at_post(), |pe, words| async move {
        let (flag, data) = (words.slice(..1)?, words.slice(1..)?);
        match pe.my_pe() {
            0 => pe.signal_wait_until(flag, Cmp::Eq, 3).await.map(drop),
            // All at once, to one place: nobody waits for a NIC.
            _ => pe.put_signal_nbi(data, data, flag, SignalOp::Add(1), 0),
        }
    });
    let post = 10 + 16 + 10;
    assert_eq!(at, [post + 100 + 3, post, post, post]);
}

#[test]
fn the_source_may_change_when_a_put_is_complete() {
    clocks(2, &at_post(), |pe, words| async move {
        let (flag, data) = (words.slice(..1)?, words.slice(1..)?);
        if pe.my_pe() == 0 {
            pe.heap().write(data, &[1, 2])?;
            pe.put_nbi(data, data, 1)?;
            pe.quiet().await?;
            pe.heap().write(data, &[3, 4])?;
            return pe.put_signal_nbi(flag.slice(..0)?, flag.slice(..0)?, flag, SignalOp::Set(1), 1);
        }
        pe.signal_wait_until(flag, Cmp::Eq, 1).await?;
        assert_eq!(pe.heap().read_vec(data)?, [1, 2]);
        Ok(())
    });
}

#[test]
fn a_get_sees_what_its_pe_has_put() {
    let at = clocks(2, &at_post(), |pe, words| async move {
        let (one, two) = (words.slice(..1)?, words.slice(1..2)?);
        if pe.my_pe() == 0 {
            pe.heap().write(one, &[9])?;
            pe.put_nbi(one, one, 1)?;
            pe.quiet().await?;
            pe.get_nbi(two, one, 1)?;
            pe.quiet().await?;
            assert_eq!(pe.heap().read_vec(two)?, [9]);
        }
        Ok(())
    });
    // It waits until the put is seen.
    assert_eq!(at, [10 + 8 + 100, 0]);
}

#[test]
fn barriers_and_gathers() {
    let one_round = 10 + 100 + 3;
    for (n_pes, rounds) in [(2, 1), (5, 3), (8, 3)] {
        assert_eq!(start(&barrier(n_pes, &at_post())), (rounds * one_round, n_pes as u64 * rounds, 0));
    }
    // A barrier, a copy to itself, two puts one after the other, a barrier.
    let three = 2 * one_round + 4 + 2 * (10 + 8) + 2 * one_round;
    assert_eq!(start(&gather(3, 8, &at_post())), (three, 3 * 2 + 2 * 6, 6 * 8));
}

/// A put is told as any other, and complete before it lands.
#[test]
fn listeners_hear_of_it() {
    struct Names(Vec<&'static str>);
    impl Listener for Names {
        fn begin(&mut self, _: usize) {}

        fn event(&mut self, event: &Event) -> Result<(), String> {
            self.0.push(match event {
                Event::Posted { .. } => "posted",
                Event::Fetched { .. } => "fetched",
                Event::Completed { .. } => "completed",
                Event::Landed { .. } => "landed",
                _ => return Ok(()),
            });
            Ok(())
        }
    }
    let names = Arc::new(Mutex::new(Names(Vec::new())));
    let body = |pe: crate::sim::SimPe| async move {
        let word = pe.calloc::<u64>(1).await?;
        pe.begin().await;
        if pe.my_pe() == 0 {
            pe.put_nbi(word, word, 1)?;
        }
        pe.finalize().await
    };
    Sim::new(2).shared_listener(names.clone()).predict(&at_post(), body).unwrap();
    let names = names.lock().unwrap();
    assert_eq!(names.0[names.0.len() - 4..], ["posted", "fetched", "completed", "landed"]);
}

#[test]
fn two_nodes_of_shared_memory() {
    let near = Link { latency_ns: 20, per_byte_ps: 0 };
    let at = clocks(4, &at_post().nodes(2, near), |pe, words| async move {
        let to = if pe.my_pe() < 2 { 1 - pe.my_pe() } else { pe.my_pe() - 2 };
        pe.put_nbi(words.slice(..1)?, words.slice(1..2)?, to)?;
        pe.quiet().await
    });
    assert_eq!(at, [10, 10, 10 + 8, 10 + 8]);
}
