//! The conformance suite over delays, duplicates and short stalls: the contract allows them, so all of it holds.

use std::time::Duration;

use transport_core::conformance::{Options, heap_bytes, on_threads};
use transport_core::faulty::{FaultPolicy, Faulty};
use transport_loopback::Threads;

fn passes(n_pes: usize, percent: usize, policy: &FaultPolicy) {
    let deadline = Duration::from_secs(20);
    let pes = Threads::new(n_pes).heap_size(heap_bytes(n_pes)).timeout(deadline).start().unwrap();
    let options = Options::default().rounds_percent(percent);
    for report in on_threads(Faulty::all(pes, policy), &options) {
        assert!(report.passed(), "{policy:?}\n{report}");
    }
}

#[test]
fn the_suite_passes_with_no_fault() {
    passes(2, 10, &FaultPolicy::new(1));
}

#[test]
fn the_suite_passes_with_delays_on_small_jobs() {
    for (seed, n_pes) in [(1, 1), (2, 2), (3, 3)] {
        passes(n_pes, 15, &FaultPolicy::new(seed).delay(0.5).duplicate(0.3));
    }
    passes(2, 10, &FaultPolicy::new(4).delay(1.0));
}

#[test]
fn the_suite_passes_with_delays_on_large_jobs() {
    for (seed, n_pes) in [(5, 5), (8, 8)] {
        passes(n_pes, 4, &FaultPolicy::new(seed).delay(0.4).duplicate(0.2));
    }
}

#[test]
fn the_suite_passes_with_short_stalls() {
    passes(3, 5, &FaultPolicy::new(9).delay(0.2).stall(0.002, Duration::from_millis(3)));
}
