//! The conformance suite where the PEs are tasks of one thread, under tokio: a future that blocked its thread would keep
//! the others from ever arriving.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

use std::sync::Arc;
use std::time::Duration;

use transport_core::conformance::{Options, Report, heap_bytes, names, run};
use transport_core::{AnyTransport, Transport};
use transport_loopback::Threads;

fn job(n: usize) -> Vec<AnyTransport> {
    let pes = Threads::new(n).heap_size(heap_bytes(n)).timeout(Duration::from_secs(20)).start().unwrap();
    pes.into_iter().map(|pe| AnyTransport::new(Arc::new(pe))).collect()
}

async fn pe_main(pe: AnyTransport, options: Options) -> Report {
    run(&pe, &options).await
}

#[track_caller]
fn all_passed(reports: &[Report], n: usize) {
    assert_eq!(reports.len(), n);
    for report in reports {
        assert!(report.passed(), "\n{report}");
        assert!(report.entries.len() >= names().len(), "\n{report}");
    }
}

#[test]
fn all_pes_on_one_thread() {
    for n in [1, 2, 3, 5] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let reports = local.block_on(&runtime, async {
            let options = Options::default().rounds_percent(10);
            let tasks: Vec<_> =
                job(n).into_iter().map(|pe| tokio::task::spawn_local(pe_main(pe, options.clone()))).collect();
            let mut reports = Vec::new();
            for task in tasks {
                reports.push(task.await.unwrap());
            }
            reports
        });
        all_passed(&reports, n);
    }
}

/// Tasks that go from one thread to another in the middle of a wait.
#[test]
fn more_pes_than_threads() {
    let n = 6;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let reports = runtime.block_on(async {
        let options = Options::default().rounds_percent(10).seed(2);
        let tasks: Vec<_> = job(n).into_iter().map(|pe| tokio::spawn(pe_main(pe, options.clone()))).collect();
        let mut reports = Vec::new();
        for task in tasks {
            reports.push(task.await.unwrap());
        }
        reports
    });
    all_passed(&reports, n);
}

/// A heap that is too small, a list without a case: no pass, and a reason.
#[test]
fn nothing_run_is_no_pass() {
    let pe = Threads::new(1).heap_size(1 << 20).start().unwrap().remove(0);
    let report = transport_core::wait::block_on(run(&pe, &Options::default().only("no such case")));
    assert!(!report.passed(), "{report}");
    let report = transport_core::wait::block_on(run(&pe, &Options::default()));
    assert!(report.to_string().contains("the suite needs"), "{report}");
    assert!(!report.passed(), "{report}");
    assert!(pe.n_pes() == 1);
}
