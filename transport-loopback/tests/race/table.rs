//! What was found in which case: told as a table, and judged.

use std::collections::BTreeSet;
use std::fmt::Write;

use transport_loopback::sim::{Event, Listener, RaceDetector, RaceKind};

use crate::cases::{self, Case, Truth};

/// What was found in the schedules of one case.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) schedules: u64,
    /// Those with a race.
    pub(crate) with: u64,
    pub(crate) kinds: BTreeSet<RaceKind>,
    pub(crate) text: String,
}

/// Counts the schedules that have a race, and ends none.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    detector: RaceDetector,
    pub(crate) found: Found,
    racy: bool,
}

impl Listener for Counting {
    fn begin(&mut self, n_pes: usize) {
        self.detector.begin(n_pes);
        self.found.schedules += 1;
        self.racy = false;
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        if let Err(text) = self.detector.event(event) {
            self.found.with += u64::from(!self.racy);
            self.racy = true;
            self.found.text = text;
            self.found.kinds.extend(self.detector.races().iter().map(|race| race.kind));
        }
        Ok(())
    }
}

/// Runs all cases, prints what came of them, and fails for all that were judged wrongly, together. `tame`: not every order is
/// tried, so that a race that some schedules show may stay hidden, and another of the same program be found first.
pub(crate) fn judge(title: &str, tame: bool, run: impl Fn(&Case) -> Found) {
    let (mut table, mut wrong) = (String::new(), Vec::new());
    let (mut racy, mut missed, mut alarms) = (0, 0, 0);
    let all = cases::all();
    for case in &all {
        let found = run(case);
        let Found { schedules, with, .. } = found;
        let right = match case.truth {
            Truth::Free => with == 0,
            Truth::Racy(_) => with == schedules,
            Truth::SometimesSeen(_) => (tame || 0 < with) && with < schedules,
        };
        racy += u32::from(case.truth != Truth::Free);
        missed += u32::from(case.truth != Truth::Free && !right);
        alarms += u32::from(case.truth == Truth::Free && !right);
        writeln!(table, "{:<60} {:<30} {with:>4} of {schedules}", case.name, format!("{:?}", case.truth))
            .unwrap();
        if !right {
            wrong.push(format!("{}: a race in {with} of {schedules} schedules. {}", case.name, found.text));
        }
        if let Truth::Racy(kind) | Truth::SometimesSeen(kind) = case.truth
            && !tame
            && !found.kinds.contains(&kind)
        {
            wrong.push(format!("{}: called {:?}. {}", case.name, found.kinds, found.text));
        }
    }
    println!(
        "{table}{title}: {} cases, {racy} racy: {} found, {missed} missed; {alarms} false alarms",
        all.len(),
        racy - missed
    );
    assert!(all.len() >= 40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
