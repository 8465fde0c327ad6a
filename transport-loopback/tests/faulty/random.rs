//! Faults of all kinds together, by chance.

use std::time::Duration;

use transport_core::faulty::FaultPolicy;

use crate::runs::{Case, assert_all_well, for_each};

const SIZES: [usize; 5] = [1, 2, 3, 5, 8];

fn size(seed: u64) -> usize {
    // Half of them with 2 PEs or 3, since those are quick.
    match seed % 10 {
        0..5 => 2 + seed as usize % 2,
        other => SIZES[other as usize - 5],
    }
}

#[test]
fn delays_and_duplicates_harm_nobody() {
    let case = |seed: u64| {
        let probability = [0.1, 0.5, 0.9, 1.0][seed as usize % 4];
        let linger = Duration::from_micros([50, 300, 1000][seed as usize % 3]);
        let late = FaultPolicy::new(seed).delay(probability).duplicate(probability).linger(linger);
        let policies = [late.clone(), if seed.is_multiple_of(7) { late } else { FaultPolicy::new(seed) }];
        Case { number: seed, n_pes: size(seed), deadline: Duration::from_secs(15), policies }
    };
    for_each("delays_and_duplicates_harm_nobody", (0..300).map(case), |_, ends| assert_all_well(ends));
}

#[test]
fn everything_at_once() {
    let case = |seed: u64| {
        let rare = 0.0005 * (seed % 9) as f64;
        let inner = FaultPolicy::new(seed).delay(0.4).duplicate(0.2).stall(rare, Duration::from_millis(2));
        let outer = FaultPolicy::new(!seed).die(rare).fail(rare).delay(0.2);
        Case { number: seed, n_pes: size(seed), deadline: Duration::from_secs(15), policies: [inner, outer] }
    };
    for_each("everything_at_once", (0..300).map(case), |_, ends| {
        let harmless = |end: &crate::runs::End| {
            use transport_core::faulty::Fault::{Died, Failed};
            !end.injected.iter().any(|injected| matches!(injected.fault, Died | Failed { .. }))
        };
        if ends.iter().all(harmless) {
            assert_all_well(ends);
        }
    });
}
