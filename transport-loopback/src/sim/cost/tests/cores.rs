//! PEs that share processors, added up by hand: overhead 10, latency 100, receive 3, a switch 1000.

use proptest::prelude::*;
use transport_core::{Cmp, SignalOp, Transport};

use super::by_hand::clocks;
use super::properties::{any_model, model_of};
use super::{barrier, gather, model, start};
use crate::sim::cost::{CostModel, Link};
use crate::sim::yield_now;

const SWITCH: u64 = 1000;

#[test]
fn a_barrier_of_two_on_one_processor() {
    let at = clocks(2, &model().cores(1, SWITCH), |pe, _| async move { pe.barrier_all().await });
    // When PE 1 has its turn the flag of PE 0 is there. Its own then is on the way while nobody works.
    let sent = 10 + SWITCH + 10;
    assert_eq!(at, [sent + 100 + SWITCH + 3, sent + 3]);
}

#[test]
fn work_goes_one_after_the_other() {
    let at = clocks(5, &model().cores(2, SWITCH), |pe, words| async move {
        pe.put_nbi(words, words, (pe.my_pe() + 1) % 5)?;
        Ok(())
    });
    let (second, third) = (10 + SWITCH + 10, 10 + SWITCH + 10 + SWITCH + 10);
    assert_eq!(at, [10, 10, second, second, third]);
}

#[test]
fn who_waits_gives_it_up_and_who_was_ready_first_has_it_first() {
    let at = clocks(3, &model().cores(1, SWITCH), |pe, words| async move {
        let (flag, none) = (words.slice(..1)?, words.slice(..0)?);
        match pe.my_pe() {
            0 => pe.signal_wait_until(flag, Cmp::Eq, 1).await.map(drop),
            1 => pe.put_signal_nbi(none, none, flag, SignalOp::Set(1), 0),
            _ => pe.put_nbi(words.slice(1..2)?, flag, 0),
        }
    });
    // PE 0 looks in vain, which costs nothing; the signal lands while PE 2 has its turn.
    let (one, two) = (SWITCH + 10, SWITCH + 10 + SWITCH + 10);
    assert_eq!(at, [two + SWITCH + 3, one, two]);
}

#[test]
fn who_can_go_on_when_its_work_ends_keeps_it() {
    let at = clocks(4, &model().cores(2, SWITCH), |pe, words| async move {
        let (flag, none) = (words.slice(..1)?, words.slice(..0)?);
        let posts = if pe.my_pe() == 0 { 11 } else { 1 };
        for _ in 0..posts {
            pe.put_signal_nbi(none, none, flag, SignalOp::Set(1), pe.my_pe() ^ 1)?;
        }
        if pe.my_pe() == 0 {
            pe.signal_wait_until(flag, Cmp::Eq, 1).await?;
        }
        Ok(())
    });
    // The signal of PE 1 is there when PE 0 has posted its eleven. PE 3, which is ready since the beginning, comes after it.
    let first = 11 * 10 + 3;
    assert_eq!(at, [first, 10, 10 + SWITCH + 10, first + SWITCH + 10]);
}

#[test]
fn who_only_looks_lets_others_have_a_turn() {
    let at = clocks(2, &model().cores(1, SWITCH), |pe, words| async move {
        let (flag, none) = (words.slice(..1)?, words.slice(..0)?);
        if pe.my_pe() == 1 {
            return pe.put_signal_nbi(none, none, flag, SignalOp::Set(1), 0);
        }
        while pe.heap().load(flag)? == 0 {
            yield_now().await;
        }
        Ok(())
    });
    // PE 0 looks again when the message leaves, and has the processor since then.
    assert_eq!(at, [SWITCH + 10 + SWITCH, SWITCH + 10]);
}

#[test]
fn each_node_has_its_own() {
    let near = Link { latency_ns: 100, per_byte_ps: 1000 };
    let model = model().nodes(2, near).cores(1, SWITCH);
    let at = clocks(3, &model, |pe, words| async move { pe.put_nbi(words, words, (pe.my_pe() + 1) % 3) });
    assert_eq!(at, [10, SWITCH + 10 + 10, 10]);
}

/// If these change, every prediction with cores does: that should be on purpose.
#[test]
fn the_same_figures_every_time() {
    let model = CostModel::shared_memory().cores(2, 1500);
    let found = gather(16, 64, &model);
    for _ in 0..3 {
        assert_eq!(gather(16, 64, &model), found);
    }
    let turns = |model: &CostModel| start(&barrier(16, &model.clone().cores(2, 1_000_000))).0 / 1_000_000;
    assert_eq!(turns(&model), TURNS_16);
}

/// Switches on the way of a barrier of 16 PEs on 2 processors, when each takes far longer than all else.
const TURNS_16: u64 = 23;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_a_processor_for_each_it_is_as_without(
        costs in any_model(),
        at_post in any::<bool>(),
        n_pes in 1..14_usize,
        more in 0..3_usize,
        switch in 0..5000_u64,
        bytes in 1..300_usize,
    ) {
        let alone = CostModel { complete_at_post: at_post, ..model_of(costs) };
        let shared = alone.clone().cores(n_pes + more, switch);
        prop_assert_eq!(barrier(n_pes, &alone), barrier(n_pes, &shared));
        prop_assert_eq!(gather(n_pes, bytes, &alone), gather(n_pes, bytes, &shared));
    }

    /// Of fewer that is not so: as in any schedule by a list, one more may let another go first, and make all of it longer.
    #[test]
    fn a_processor_for_each_is_never_slower_than_fewer(
        costs in any_model(),
        at_post in any::<bool>(),
        n_pes in 2..14_usize,
        cores in 1..14_usize,
        switch in 0..5000_u64,
    ) {
        let alone = CostModel { complete_at_post: at_post, ..model_of(costs) };
        let shared = alone.clone().cores(cores, switch);
        prop_assert!(barrier(n_pes, &alone).time_ns <= barrier(n_pes, &shared).time_ns);
    }

    #[test]
    fn the_same_again(costs in any_model(), n_pes in 1..14_usize, cores in 1..5_usize, switch in 0..5000_u64) {
        let model = model_of(costs).cores(cores, switch);
        prop_assert_eq!(gather(n_pes, 24, &model), gather(n_pes, 24, &model));
    }
}
