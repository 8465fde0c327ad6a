//! Mutants: protocols with one fault each, beside the right one. The simulated backend is worth what it finds, so each mutant must
//! be caught, and the right protocol must come through the same schedules.
//!
//! `cargo test -p transport-loopback --test mutants -- --nocapture` prints which was caught by what, and how soon.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic, in its helpers too")]

mod barriers;
mod buffers;
mod counting;
mod eager;
mod fetch;
mod flags;
mod gather;
mod graph;
mod job;
mod judge;
mod lock;
mod marked;
#[path = "../support/marking.rs"]
mod marking;
mod protocol;
mod ring;
mod table;

use std::collections::BTreeSet;

use protocol::Protocol;
use transport_core::{Result, Transport};
use transport_loopback::sim::SimPe;

fn protocols() -> Vec<Protocol> {
    let families = [
        gather::protocols(),
        ring::protocols(),
        eager::protocols(),
        fetch::protocols(),
        marked::protocols(),
        barriers::protocols(),
        counting::protocols(),
        flags::protocols(),
        buffers::protocols(),
        graph::protocols(),
        lock::protocols(),
        job::protocols(),
    ];
    families.into_iter().flatten().collect()
}

#[test]
fn every_mutant_is_caught_and_what_is_right_survives() {
    let protocols = protocols();
    let verdicts = judge::all(&protocols);
    let table = table::of(&verdicts);
    println!("{table}");
    let wrong: Vec<_> = verdicts.iter().flat_map(|verdict| verdict.complaints()).collect();
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
}

/// A table with a row twice would hide that one is missing.
#[test]
fn every_mutant_has_a_name_of_its_own() {
    let protocols = protocols();
    let names: Vec<_> = protocols.iter().flat_map(|protocol| &protocol.mutants).map(|m| m.fault).collect();
    assert!(names.len() >= 20, "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
}

/// The judge complains of a mutant that is none, and of a right one that is wrong.
#[test]
fn what_survives_and_what_fails_is_told() {
    async fn program(pe: SimPe, wrong: bool) -> Result<()> {
        protocol::same(&[wrong], &[false], "on purpose");
        pe.finalize().await
    }
    let survives = Protocol::of("nothing", 2, program, false).racy("none", false).listed();
    let fails = Protocol::of("something", 2, program, true).stuck("another", true).listed();
    let protocols = [survives, fails];
    let verdicts = judge::all(&protocols);
    let complaints: Vec<_> = verdicts.iter().map(|verdict| verdict.complaints().join("; ")).collect();
    assert!(complaints[0].contains("nothing, none: it survives"), "{complaints:?}");
    assert!(complaints[0].contains("the race detector says nothing"), "{complaints:?}");
    assert!(
        complaints[1].contains("something: it is right, but PE 0 panicked: on purpose"),
        "{complaints:?}"
    );
    assert!(complaints[1].contains("another: not stuck, but PE 0 panicked"), "{complaints:?}");
    let table = table::of(&verdicts);
    assert!(table.contains("SURVIVES") && table.contains("FAILS"), "{table}");
}
