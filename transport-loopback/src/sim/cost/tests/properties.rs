//! What holds of every model and size.

use proptest::prelude::*;
use transport_core::transport::Dissemination;

use super::{barrier, gather, model, start};
use crate::sim::cost::{CostModel, Link};

#[test]
fn messages_are_counted_exactly() {
    for n_pes in 1..=64 {
        let (n, rounds) = (n_pes as u64, u64::from(Dissemination::rounds(n_pes)));
        let (_, flags, bytes) = start(&barrier(n_pes, &model()));
        assert_eq!((flags, bytes), (n * rounds, 0), "barrier of {n_pes}");
        let (_, messages, bytes) = start(&gather(n_pes, 16, &model()));
        assert_eq!(
            (messages, bytes),
            (n * (n - 1) + 2 * n * rounds, n * (n - 1) * 16),
            "AllGather of {n_pes}"
        );
    }
}

/// If these change, every prediction does: that should be on purpose.
#[test]
fn the_same_figures_every_time() {
    for _ in 0..2 {
        let found = gather(16, 64, &CostModel::roce());
        assert_eq!(start(&found), (GATHER_16_NS, 240 + 128, 240 * 64));
        assert_eq!(found.pe_ns, [GATHER_16_NS + 4 * 800; 16]);
        assert_eq!(gather(16, 64, &CostModel::roce()), found);
    }
}

/// Two barriers of 4 rounds, a copy, 15 overheads, and the way of the last put there and back.
const GATHER_16_NS: u64 = 2 * 4 * 800 + 1500 + 700 + 700 + 12;

pub(super) fn any_model() -> impl Strategy<Value = [u64; 7]> {
    prop::array::uniform7(0..2000_u64)
}

pub(super) fn model_of(
    [latency_ns, per_byte_ps, overhead, receive, gap, acknowledge, copy]: [u64; 7],
) -> CostModel {
    CostModel {
        link: Link { latency_ns, per_byte_ps },
        overhead_ns: overhead,
        receive_overhead_ns: receive,
        gap_ns: gap,
        acknowledge_ns: acknowledge,
        copy_per_byte_ps: copy,
        ..CostModel::free()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_costs_more_takes_no_less(
        costs in any_model(),
        which in 0..7_usize,
        more in 1..1000_u64,
        n_pes in 1..14_usize,
        bytes in 1..300_usize,
    ) {
        let mut dearer = costs;
        dearer[which] += more;
        let (cheap, dear) = (model_of(costs), model_of(dearer));
        prop_assert!(barrier(n_pes, &cheap).time_ns <= barrier(n_pes, &dear).time_ns);
        let (a, b) = (gather(n_pes, bytes, &cheap), gather(n_pes, bytes, &dear));
        prop_assert!(a.time_ns <= b.time_ns, "{} > {}", a.time_ns, b.time_ns);
        prop_assert_eq!(a.messages, b.messages);
    }

    /// All times ten times as long.
    #[test]
    fn time_scales(costs in any_model(), n_pes in 1..10_usize) {
        // Whole nanoseconds, so that nothing is rounded.
        let costs = [costs[0], costs[1] * 1000, costs[2], costs[3], costs[4], costs[5], costs[6] * 1000];
        let one = gather(n_pes, 24, &model_of(costs)).time_ns;
        prop_assert_eq!(gather(n_pes, 24, &model_of(costs.map(|cost| cost * 10))).time_ns, one * 10);
    }
}
