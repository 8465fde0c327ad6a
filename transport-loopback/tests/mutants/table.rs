//! The table at the end of the run.

use std::fmt::Write;

use crate::judge::{Catch, Verdict};

/// Which mutant was caught by what, in which schedule. A 0 under `shrunk` is the usual schedule: first come, first served, with
/// what the seed has planned for each put.
pub(crate) fn of(verdicts: &[Verdict<'_>]) -> String {
    let mut table = String::new();
    let mut mutants = 0;
    row(&mut table, "", "caught by", ["random", "PCT", "in order", "race", "shrunk"].map(str::to_owned));
    for verdict in verdicts {
        let right = |way: usize| match &verdict.right[way] {
            Ok(explored) if explored.complete => format!("all {}", explored.schedules + explored.left),
            Ok(explored) => format!("{}", explored.schedules + explored.left),
            Err(_) => "FAILS".to_owned(),
        };
        row(
            &mut table,
            verdict.protocol.name,
            "survives",
            [right(0), right(1), right(2), String::new(), String::new()],
        );
        for caught in &verdict.mutants {
            let in_schedule =
                |catch: &Option<Catch>| catch.as_ref().map_or("-".to_owned(), |it| it.schedules.to_string());
            let [random, pct, in_order] = &caught.outcome;
            let first = caught.outcome.iter().flatten().next();
            let by = match (first, caught.race()) {
                (Some(catch), Some(_)) => format!("{}, race", catch.ends.text()),
                (Some(catch), None) => catch.ends.text().to_owned(),
                (None, Some(_)) => "race".to_owned(),
                (None, None) => "SURVIVES".to_owned(),
            };
            let shortest = caught.outcome.iter().flatten().map(|catch| catch.shrunk).min();
            let shrunk = shortest.or(caught.race().map(|catch| catch.shrunk));
            let shrunk = shrunk.map_or("-".to_owned(), |length| length.to_string());
            let race = caught.race().map_or("-".to_owned(), |catch| catch.schedules.to_string());
            let counts = [in_schedule(random), in_schedule(pct), in_schedule(in_order), race, shrunk];
            row(&mut table, &format!("  {}", caught.mutant.fault), &by, counts);
            mutants += 1;
        }
    }
    writeln!(
        table,
        "{mutants} mutants of {} protocols; the numbers are schedules until caught",
        verdicts.len()
    )
    .unwrap();
    table
}

fn row(table: &mut String, what: &str, by: &str, counts: [String; 5]) {
    let [random, pct, in_order, race, shrunk] = counts;
    writeln!(table, "{what:<66} {by:<17} {random:>7} {pct:>7} {in_order:>9} {race:>5} {shrunk:>6}").unwrap();
}
