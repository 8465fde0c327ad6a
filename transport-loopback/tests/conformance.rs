//! The conformance suite on threads of this process, in full on small jobs and in short on large ones.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

use std::time::Duration;

use transport_core::conformance::{Options, heap_bytes, on_threads};
use transport_core::conformance_tests;
use transport_loopback::{Loopback, Threads};

/// As on a host with so many processors: barriers and fences are made in another way where PEs share them.
fn job_on(processors: usize, n: usize, first_epoch: u32) -> Vec<Loopback> {
    // A hang is an error that names the PE, long before anybody stops the test.
    let threads = Threads::new(n).heap_size(heap_bytes(n)).timeout(Duration::from_secs(20));
    threads.processors(processors).first_epoch(first_epoch).start().unwrap()
}

fn job(n: usize, first_epoch: u32) -> Vec<Loopback> {
    job_on(2, n, first_epoch)
}

/// Those cases that wait most.
#[test]
fn processors_few_and_many() {
    for (processors, n_pes) in [(1, 2), (1, 3), (64, 3), (64, 5), (64, 8)] {
        for case in ["barrier", "all_gather", "signal", "cancelled", "abort"] {
            let options = Options::default().matching(case).rounds_percent(20);
            for report in on_threads(job_on(processors, n_pes, u32::MAX - 20), &options) {
                assert!(report.passed(), "{n_pes} PEs, {processors} processors\n{report}");
            }
        }
    }
}

conformance_tests! {
    mod one_to_four_pes;
    pes: [1, 2, 3, 4];
    start: |n| job(n, 0);
}

conformance_tests! {
    mod five_to_eight_pes;
    pes: [5, 7, 8];
    options: Options::default().rounds_percent(30);
    start: |n| job(n, 0);
}

/// The counters of the barriers wrap in the middle of the first case.
#[test]
fn barrier_counters_wrap() {
    for (n, case) in
        [(2, "barrier"), (3, "barrier"), (5, "cancelled"), (4, "back_to_back"), (3, "put_signal")]
    {
        let options = Options::default().matching(case).rounds_percent(30);
        for report in on_threads(job(n, u32::MAX - 40), &options) {
            assert!(report.passed(), "\n{report}");
        }
    }
}

/// The whole list in one job of each size, as a job of processes runs it.
#[test]
fn many_pes() {
    for (n, percent) in [(16, 4), (33, 2), (64, 1)] {
        for report in on_threads(job(n, u32::MAX - 500), &Options::default().rounds_percent(percent)) {
            assert!(report.passed(), "\n{report}");
        }
    }
}
