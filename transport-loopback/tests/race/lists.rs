//! The cases as event lists.

use transport_loopback::sim::Listener;

use crate::cases;
use crate::events::schedule;
use crate::table::{Counting, judge};

#[test]
fn in_event_lists_every_race_is_found_and_nothing_else() {
    judge("event lists", false, |case| {
        let mut counting = Counting::default();
        for seed in 0..100 {
            let (events, ended) = schedule(&case.pes, seed);
            assert!(ended, "{} is stuck", case.name);
            counting.begin(case.pes.len());
            events.iter().for_each(|event| counting.event(event).unwrap());
        }
        counting.found
    });
}

#[test]
fn names_are_of_one_case_each() {
    let mut names: Vec<_> = cases::all().iter().map(|case| case.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|two| two[0] != two[1]));
}
