//! Runs the list on one PE, in step with the others.

use std::time::Instant;

use super::agree::Results;
use super::failure::Failure;
use super::job::Job;
use super::list::{Case, End, cases};
use super::options::Options;
use super::report::{Entry, Outcome, Report};
use crate::transport::Transport;

/// The user heap that the suite needs in a job of so many PEs, in bytes: 8 MiB, and 320 KiB for each PE.
#[must_use]
pub fn heap_bytes(n_pes: usize) -> u64 {
    (8 << 20) + n_pes as u64 * (320 << 10)
}

/// Runs the selected cases on this PE. Collective: every PE of the job calls it, with the same options.
///
/// The transport is usable afterwards if no case failed, except after the cases whose subject is the end of a job
/// (`finalize_ends_the_job`, `abort_ends_every_wait`): the first of these that is selected is run last, and the others are
/// skipped. A call that fails where it must not ends the case on its PE, which then calls
/// [`abort`](Transport::abort), so that nobody waits for it; the cases after that are skipped.
pub async fn run<X: Transport>(pe: &X, options: &Options) -> Report {
    let mut report = Report {
        backend: pe.backend(),
        my_pe: pe.my_pe(),
        n_pes: pe.n_pes(),
        seed: options.seed,
        entries: Vec::new(),
        ended: false,
    };
    let (last, usual): (Vec<_>, Vec<_>) = cases::<X>()
        .into_iter()
        .filter(|case| options.selects(case.name))
        .partition(|case| case.end == End::OfJob);
    let (size, needed) = (pe.heap().stats().size, heap_bytes(pe.n_pes()));
    if size < needed {
        // A mistake of the caller's, which must not look like a pass.
        let text = format!("the heap has {size} bytes, the suite needs {needed}");
        let outcome = outcome([failure(pe, "set-up", text)].into_iter());
        report.entries.push(Entry { name: "set-up", outcome, time: Default::default() });
        return report;
    }
    let mut ended = None;
    run_usual(pe, options, &usual, &mut report, &mut ended).await;
    for case in &last {
        let begin = Instant::now();
        let outcome = match skipped(pe, options, case, ended.as_deref()) {
            Some(why) => Outcome::Skipped(why),
            None => {
                ended = Some("the case before ended the job".to_owned());
                // There is nobody left to exchange results with.
                match attempt(pe, options, case).await {
                    Attempt::Done(noted) => {
                        outcome(noted.map(|text| failure(pe, case.name, text)).into_iter())
                    }
                    Attempt::Broken(text) => outcome([failure(pe, case.name, text)].into_iter()),
                }
            }
        };
        report.entries.push(Entry { name: case.name, outcome, time: begin.elapsed() });
    }
    report.ended = ended.is_some();
    report
}

/// The cases after which the job goes on.
async fn run_usual<X: Transport>(
    pe: &X,
    options: &Options,
    cases: &[Case<X>],
    report: &mut Report,
    ended: &mut Option<String>,
) {
    if cases.is_empty() {
        return;
    }
    let mut results = match Results::new(pe).await {
        Ok(results) => Some(results),
        Err(error) => {
            *ended = Some(format!("the places for results could not be allocated: {error}"));
            None
        }
    };
    for case in cases {
        let begin = Instant::now();
        let outcome = match (skipped(pe, options, case, ended.as_deref()), &mut results) {
            (Some(why), Some(_)) => Outcome::Skipped(why),
            // Without a first allocation nothing was tested: that is no pass.
            (why, None) => outcome([failure(pe, case.name, why.unwrap_or_default())].into_iter()),
            (None, Some(results)) => one(pe, options, case, results, ended).await,
        };
        report.entries.push(Entry { name: case.name, outcome, time: begin.elapsed() });
    }
    if let (Some(results), None) = (results, &ended)
        && let Err(error) = results.free(pe).await
    {
        let text = format!("after the last case: {error}");
        *ended = Some(text.clone());
        let outcome = outcome([failure(pe, "end of the suite", text)].into_iter());
        report.entries.push(Entry { name: "end of the suite", outcome, time: Default::default() });
    }
}

/// Runs one case and learns what the others found.
async fn one<X: Transport>(
    pe: &X,
    options: &Options,
    case: &Case<X>,
    results: &mut Results,
    ended: &mut Option<String>,
) -> Outcome {
    let noted = match attempt(pe, options, case).await {
        Attempt::Done(noted) => noted,
        Attempt::Broken(text) => {
            // The others may be anywhere in the case; this is what ends their waits.
            pe.abort(&format!("conformance case {}: {text}", case.name));
            *ended = Some(format!("{} ended the job", case.name));
            return outcome([failure(pe, case.name, text)].into_iter());
        }
    };
    let mine = noted.as_ref().map(|text| failure(pe, case.name, text.clone()));
    match results.exchange(pe, case.name, noted.as_deref()).await {
        // Its own is here in full, and is here even if puts do not work.
        Ok(all) => {
            outcome(mine.into_iter().chain(all.into_iter().filter(|failure| failure.pe != pe.my_pe())))
        }
        Err(error) => {
            let text = format!("the PEs could not tell each other their results: {error}");
            pe.abort(&text);
            *ended = Some(format!("{} ended the job", case.name));
            outcome(mine.into_iter().chain([failure(pe, case.name, text)]))
        }
    }
}

enum Attempt {
    /// To its end; with the first failure, if there was one.
    Done(Option<String>),
    /// A call failed that must succeed.
    Broken(String),
}

async fn attempt<X: Transport>(pe: &X, options: &Options, case: &Case<X>) -> Attempt {
    let before = pe.heap().stats();
    let job = Job::new(pe, case.name, options);
    match (case.run)(&job).await {
        Err(error) => {
            let noted = job.into_noted().map(|noted| format!("; before it: {noted}")).unwrap_or_default();
            Attempt::Broken(format!("a call that must succeed failed: {error}{noted}"))
        }
        Ok(()) => {
            let after = pe.heap().stats();
            if case.end == End::OfCase {
                job.same(
                    || "allocations and bytes in use after the case".to_owned(),
                    (before.allocations, before.used),
                    (after.allocations, after.used),
                );
            }
            Attempt::Done(job.into_noted())
        }
    }
}

/// Why a case is not run, if it is not.
fn skipped<X: Transport>(pe: &X, options: &Options, case: &Case<X>, ended: Option<&str>) -> Option<String> {
    if let Some(why) = ended {
        Some(why.to_owned())
    } else if pe.n_pes() < case.min_pes {
        Some(format!("needs {} PEs", case.min_pes))
    } else if case.threads && !options.threads {
        Some("starts threads, which the options forbid".to_owned())
    } else {
        None
    }
}

fn failure<X: Transport>(pe: &X, case: &'static str, mismatch: String) -> Failure {
    Failure { case, pe: pe.my_pe(), mismatch }
}

fn outcome(failures: impl Iterator<Item = Failure>) -> Outcome {
    let failures: Vec<_> = failures.collect();
    if failures.is_empty() { Outcome::Ok } else { Outcome::Failed(failures) }
}
