//! PEs as threads of one process: a job, the suite on it, and a `#[test]` for each case.

use std::thread;

use super::Failure;
use super::options::Options;
use super::report::{Entry, Outcome, Report};
use super::run::run;
use crate::transport::Transport;
use crate::wait::block_on;

/// Runs the suite on a job whose PEs are `pes`, each on a thread of its own, and answers their reports, PE by PE.
///
/// At the end each PE calls [`finalize`](Transport::finalize); if that fails the report says so.
pub fn on_threads<X: Transport>(pes: Vec<X>, options: &Options) -> Vec<Report> {
    thread::scope(|scope| {
        let threads: Vec<_> =
            pes.into_iter().map(|pe| scope.spawn(move || block_on(whole(pe, options)))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The suite, and then the end of the job unless a case was that, or has broken it.
async fn whole<X: Transport>(pe: X, options: &Options) -> Report {
    let mut report = run(&pe, options).await;
    if !report.ended
        && let Err(error) = pe.finalize().await
    {
        let failure = Failure { case: "finalize", pe: pe.my_pe(), mismatch: error.to_string() };
        let outcome = Outcome::Failed(vec![failure]);
        report.entries.push(Entry { name: "finalize", outcome, time: Default::default() });
    }
    report
}

/// A `#[test]` for each case of the [suite](crate::conformance), in a module; each starts its own jobs.
///
/// `start` is a function of the PE count that answers the PEs of a new job, `Vec<impl Transport>`; its heap must have
/// [`heap_bytes`](crate::conformance::heap_bytes). `pes` are the PE counts to test. `options`, which may be left out, are
/// the [`Options`](crate::conformance::Options).
///
/// ```
/// use transport_core::conformance::heap_bytes;
/// use transport_loopback::Threads;
///
/// transport_core::conformance_tests! {
///     mod threads;
///     pes: [1, 2, 3, 8];
///     start: |n| Threads::new(n).heap_size(heap_bytes(n)).start().unwrap();
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($(#[$attribute:meta])* mod $module:ident; pes: $pes:expr; start: $start:expr $(;)?) => {
        $crate::conformance_tests! {
            $(#[$attribute])* mod $module; pes: $pes; options: $crate::conformance::Options::default(); start: $start;
        }
    };
    (
        $(#[$attribute:meta])* mod $module:ident; pes: $pes:expr; options: $options:expr; start: $start:expr $(;)?
    ) => {
        $(#[$attribute])*
        mod $module {
            #[allow(unused_imports, reason = "for the expressions given to the macro")]
            use super::*;

            fn check(name: &str) {
                let start = $start;
                for n in $pes {
                    let options = ($options).only(name);
                    let reports = $crate::conformance::on_threads(start(n), &options);
                    assert_eq!(reports.len(), n, "start({n}) gave {} PEs", reports.len());
                    for report in reports {
                        assert!(report.passed(), "\n{report}");
                    }
                }
            }

            $crate::__conformance_cases! { [$crate::__conformance_test_fns] }
        }
    };
}

/// The tests of one module.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_test_fns {
    ([] $($file:ident $name:ident [$($field:ident: $value:expr),*];)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}
