//! The conformance suite on a verbs device, in short, with the settings that change how requests are made.
//!
//! An emulated machine has no time for all of it on many PEs; the testbed's scenario `conformance` runs it in full on few.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod support;

use std::sync::Arc;

use support::{Job, device};
use transport_core::AnyTransport;
use transport_core::conformance::{Options, Report, heap_bytes, on_threads, run};

/// The whole list, in so many percent of its rounds.
fn all(percent: usize) -> Options {
    Options::default().rounds_percent(percent)
}

/// The cases with these in their names.
fn parts(percent: usize, parts: &[&str]) -> Options {
    parts.iter().fold(all(percent), |options, part| options.matching(*part))
}

/// What queues, credits and counters can go wrong in: many requests, order, waits, each kind of request.
fn most(percent: usize) -> Options {
    let names = ["_many_", "_self", "fence_", "quiet_", "put_signal_", "atomic_", "barrier_", "cancelled_"];
    let more = ["put_bytes_is_kept", "heap_asymmetric", "back_to_back", "several_threads", "abort_"];
    parts(percent, &[&names[..], &more[..]].concat())
}

/// The same, for many PEs.
fn few(percent: usize) -> Options {
    let names =
        ["put_many", "get_many", "put_bytes_is_kept", "fence_orders", "put_signal_after", "atomic_totals"];
    let more = ["barrier_is_quiet", "barrier_names", "cancelled_barrier", "every_call_from", "abort_"];
    parts(percent, &[&names[..], &more[..]].concat())
}

#[track_caller]
fn all_passed(reports: &[Report], n: usize) {
    assert_eq!(reports.len(), n);
    for report in reports {
        assert!(report.passed(), "\n{report}");
        // In one piece, and only seen with --nocapture.
        let text = report.to_string();
        eprintln!("{text}");
    }
}

/// One job of `n` PEs.
#[track_caller]
fn passes(n: usize, options: &Options, special: impl Fn(Job) -> Job) {
    let Some(device) = device() else { return };
    let job = special(Job::new(&device, n).heap(heap_bytes(n)));
    all_passed(&on_threads(job.start(), options), n);
}

#[test]
fn one_pe() {
    passes(1, &all(10), |job| job);
}

#[test]
fn two_pes() {
    passes(2, &all(5), |job| job);
}

#[test]
fn three_pes() {
    passes(3, &all(2), |job| job);
}

#[test]
fn five_pes() {
    passes(5, &most(1), |job| job);
}

#[test]
fn eight_pes() {
    passes(8, &few(1), |job| job);
}

/// Large puts are spread over them, and a fence has to wait.
#[test]
fn four_queue_pairs_to_each_peer() {
    passes(1, &most(5), |job| job.set("SHMEM_ROCE_QPS", "4"));
    passes(2, &all(2), |job| job.set("SHMEM_ROCE_QPS", "4"));
    passes(3, &few(2), |job| job.set("SHMEM_ROCE_QPS", "4"));
}

/// Queues that are full most of the time.
#[test]
fn shallow_queues() {
    for every in ["1", "8"] {
        let shallow =
            |job: Job| job.set("SHMEM_ROCE_QUEUE_DEPTH", "16").set("SHMEM_ROCE_SIGNAL_EVERY", every);
        passes(2, &most(3), shallow);
        passes(3, &few(2), |job| shallow(job).set("SHMEM_ROCE_QPS", "3"));
    }
}

/// Of six PEs, those that are three apart are no partners of the barrier: they connect when they first talk.
#[test]
fn connections_on_first_use() {
    passes(6, &few(2), |job| job.set("SHMEM_ROCE_CONNECT", "first-use"));
    // Who talks first differs from case to case.
    for case in ["put_bytes_is_kept", "fence_orders", "put_signal_round", "atomic_totals", "every_call_from"]
    {
        let job = |job: Job| job.set("SHMEM_ROCE_CONNECT", "first-use").set("SHMEM_ROCE_QPS", "2");
        passes(6, &parts(1, &[case]), job);
    }
}

/// Of barriers, and of requests: the count itself, and what of it fits into the name of a request.
#[test]
fn numbers_wrap() {
    let counts = (u32::MAX - 20, u64::MAX - 300);
    for (epoch, request) in [counts, (0, (1 << 40) - 200)] {
        passes(2, &most(2), |job| job.first_numbers(epoch, request));
        passes(3, &few(2), |job| job.first_numbers(epoch, request));
    }
    passes(2, &few(5), |job| {
        let job = job.first_numbers(counts.0, counts.1);
        job.set("SHMEM_ROCE_QUEUE_DEPTH", "16").set("SHMEM_ROCE_QPS", "2")
    });
}

#[test]
fn behind_the_one_type_for_all_backends() {
    let Some(device) = device() else { return };
    let pes = Job::new(&device, 2).heap(heap_bytes(2)).start();
    let pes: Vec<_> = pes.into_iter().map(|pe| AnyTransport::new(Arc::new(pe))).collect();
    all_passed(&on_threads(pes, &all(1)), 2);
}

/// All PEs as tasks of one thread: a future that blocked it would keep the others from ever arriving.
#[test]
fn under_another_executor_on_one_thread() {
    let Some(device) = device() else { return };
    for n in [2, 3] {
        let pes = Job::new(&device, n).heap(heap_bytes(n)).start();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let reports = local.block_on(&runtime, async {
            let one = |pe| tokio::task::spawn_local(async move { run(&pe, &most(1)).await });
            let tasks: Vec<_> = pes.into_iter().map(one).collect();
            ended(tasks).await
        });
        all_passed(&reports, n);
    }
}

/// Tasks that go from one thread to another in the middle of a wait.
#[test]
fn under_another_executor_with_fewer_threads_than_pes() {
    let Some(device) = device() else { return };
    let n = 4;
    let pes = Job::new(&device, n).heap(heap_bytes(n)).start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let reports = runtime.block_on(async {
        let one = |pe| tokio::spawn(async move { run(&pe, &few(2).seed(2)).await });
        let tasks: Vec<_> = pes.into_iter().map(one).collect();
        ended(tasks).await
    });
    all_passed(&reports, n);
}

async fn ended(tasks: Vec<tokio::task::JoinHandle<Report>>) -> Vec<Report> {
    let mut reports = Vec::new();
    for task in tasks {
        reports.push(task.await.unwrap());
    }
    reports
}
