//! How the models of `--cfg shmem_loom` are run. Not part of the library.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Runs `model` under all schedules with at most `preemptions` switches away from a thread that could go on (`None`: no
/// limit), with all values that the memory order lets a load see, and says how many executions there were.
#[allow(clippy::print_stderr)]
pub fn explore(name: &str, preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let (count, since) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let counted = Arc::clone(&count);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 20_000;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    eprintln!("{name}: {} executions in {:.1?}", count.load(Ordering::Relaxed), since.elapsed());
}

/// Checks that `mutant`, a model with a slip made on purpose, fails with a message that contains `expected`. To be called
/// from the test's own function. The mutant runs in a process of its own: a deadlock that is found while values with
/// destructors are on a stack ends the process, not only the test.
pub fn must_fail(expected: &str, mutant: impl Fn() + Send + Sync + 'static) {
    const CHOSEN: &str = "SHMEM_LOOM_MUTANT";
    // The closure's type is named for the test: crate::module::test::{{closure}}.
    let name = std::any::type_name_of_val(&mutant);
    let test = name.split_once("::").map_or(name, |(_, test)| test);
    let test = test.trim_end_matches("::{{closure}}").to_owned();
    if std::env::var(CHOSEN).is_ok_and(|chosen| chosen == test) {
        return explore(&test, Some(3), mutant);
    }
    let itself = std::env::current_exe();
    let child = itself.and_then(|program| {
        let mut child = std::process::Command::new(program);
        child.args([&test, "--exact", "--nocapture"]).env(CHOSEN, &test).env("RUST_BACKTRACE", "0").output()
    });
    match child {
        Err(error) => assert!(error.to_string().is_empty(), "the mutant {test} could not be run: {error}"),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "the mutant {test} was not found out; it said: {said}");
            assert!(said.contains(expected), "{test} failed, but not with {expected:?}: {said}");
        }
    }
}
