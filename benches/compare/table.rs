//! The table.

use std::fmt::Write as _;

use crate::find::Found;
use crate::launch::{Settings, binding};
use crate::machine::Machine;
use crate::results::{Results, Row, typical};
use crate::work::{Kind, Work};

const COLUMNS: usize = 9;
const HEAD: [&str; COLUMNS] = [
    "work",
    "bytes",
    "PEs",
    "best peer",
    "peer us",
    "ours us",
    "ours/peer (min..max)",
    "least/least",
    "cores",
];
/// So many cores kept busy by others make numbers noise.
const NOISE: f64 = 0.1;

/// What stands around the numbers.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) found: &'a [Found],
    pub(crate) settings: &'a Settings,
    pub(crate) pairs: usize,
    /// How many cores other programs kept busy meanwhile, if that is known.
    pub(crate) others: Option<f64>,
}

/// All of it: the machine, the peers and which are missing, a row for each work, and what failed.
pub(crate) fn render(results: &Results, around: &Around<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, results, around);
    text
}

/// `name: version`, or which packages are missing.
pub(crate) fn of_peer(found: &Found) -> String {
    match &found.version {
        Ok(version) => format!("{}: {version}", found.system.name()),
        Err(packages) => format!(
            "{}: MISSING; apt-get install {} (or give --install)",
            found.system.name(),
            packages.join(" ")
        ),
    }
}

fn write(text: &mut String, results: &Results, around: &Around<'_>) -> std::fmt::Result {
    let Machine { cpu, cores, kernel, date } = around.machine;
    writeln!(text, "{cpu}, {cores} cores, {kernel}, {date}")?;
    writeln!(text, "ours: {}", env!("CARGO_PKG_VERSION"))?;
    for found in around.found {
        writeln!(text, "{}", of_peer(found))?;
    }
    if let Some(others) = around.others {
        let noise = if others > NOISE { ": NOISE, repeat it when nothing else runs" } else { "" };
        writeln!(text, "other programs kept {others:.2} cores busy meanwhile{noise}")?;
    }
    writeln!(
        text,
        "medians of {} pairs; ours/peer in time: less than 1 means that ours is faster",
        around.pairs
    )?;
    writeln!(
        text,
        "least/least: the least value of ours / that of all peers, which other programs disturb least\n"
    )?;

    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(results.rows.iter().map(|(work, row)| cells(work, row, around)));
    let widths: Vec<usize> =
        (0..HEAD.len()).map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0)).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let width = widths[at];
            // Names to the left, numbers to the right.
            if matches!(at, 0 | 3 | 8) {
                write!(line, "{cell:<width$}  ")?
            } else {
                write!(line, "{cell:>width$}  ")?
            }
        }
        writeln!(text, "{}", line.trim_end())?;
    }
    writeln!(text)?;
    if results.rows.keys().any(|work| work.kind == Kind::Replay) {
        writeln!(text, "replay: ours does two AllGathers, two adds and a copy; theirs one AllGather")?;
    }
    if results.rows.keys().any(|work| work.kind == Kind::StartUp) {
        writeln!(
            text,
            "start-up: theirs is init, barrier, finalize; ours is `perf --rounds 1 barrier`, and more than that"
        )?;
    }
    if results.rows.values().any(|row| row.best().is_some_and(|(name, _)| name == "ucp")) {
        writeln!(text, "ucp: ucx_perftest, which does not look at what arrives")?;
    }
    if !results.troubles.is_empty() {
        writeln!(text, "failed:")?;
    }
    for trouble in &results.troubles {
        let times = if trouble.times > 1 { format!(" ({} times)", trouble.times) } else { String::new() };
        writeln!(text, "  {} {}{times}: {}", trouble.who, trouble.works, trouble.reason)?;
    }
    Ok(())
}

fn cells(work: &Work, row: &Row, around: &Around<'_>) -> [String; COLUMNS] {
    let best = row.best();
    let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), shown);
    let ratio = row.ratio().map(|ratio| format!("{:.2} ({:.2}..{:.2})", ratio.median, ratio.min, ratio.max));
    let mut peer = best.map_or("none", |(name, _)| name).to_owned();
    for found in around.found {
        if found.version.is_err() && found.system.does(work) {
            let _ = write!(peer, " (no {})", found.system.name());
        }
    }
    [
        work.kind.name().to_owned(),
        if work.bytes == 0 { "-".to_owned() } else { work.bytes.to_string() },
        work.n_pes.to_string(),
        peer,
        value(best.and_then(|(_, values)| typical(values))),
        value(typical(&row.ours)),
        ratio.unwrap_or_else(|| "-".to_owned()),
        row.least_ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        binding(around.settings, work.n_pes).to_owned(),
    ]
}

/// With as many digits as mean something.
fn shown(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Bind;
    use crate::peers::System;
    use std::time::Duration;

    #[test]
    fn every_work_has_its_row_and_what_is_missing_is_said() {
        let mut results = Results::default();
        let get = Work { kind: Kind::Get, n_pes: 2, bytes: 64 };
        let barrier = Work { kind: Kind::Barrier, n_pes: 4, bytes: 0 };
        for (pair, ours, theirs) in [(0, 0.5, 1.0), (1, 0.75, 1.0), (2, 3.0, 4.0)] {
            results.add(get, None, pair, ours);
            results.add(get, Some("oshmem"), pair, theirs);
        }
        results.rows.entry(barrier).or_default();
        results.fail("mpi ob1", &[barrier], "ended with code 1".to_owned());
        results.fail("mpi ob1", &[barrier], "ended with code 1".to_owned());
        let machine = Machine { cpu: "C".to_owned(), cores: 2, kernel: "K".to_owned(), date: "D".to_owned() };
        let found = [
            Found { system: System::OpenShmem, version: Ok("4.1".to_owned()) },
            Found { system: System::Ucx, version: Err(vec!["ucx-utils"]) },
        ];
        let (seconds, deadline) = (Duration::from_secs(1), Duration::from_secs(9));
        let settings = Settings { seconds, deadline, bind: Bind::Core, cores: 2, is_root: false };
        let around =
            Around { machine: &machine, found: &found, settings: &settings, pairs: 3, others: Some(0.5) };
        let text = render(&results, &around);
        let line = |start: &str| {
            let line = text.lines().find(|line| line.starts_with(start)).unwrap();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            line("get "),
            "get 64 2 oshmem (no UCX) 1.00 0.7500 0.75 (0.50..0.75) 0.50 bound to cores"
        );
        assert_eq!(line("barrier "), "barrier - 4 none - - - - shared cores");
        assert_eq!(line("UCX"), "UCX: MISSING; apt-get install ucx-utils (or give --install)");
        assert!(line("other programs").contains("0.50 cores busy meanwhile: NOISE"));
        assert_eq!(line("OpenSHMEM"), "OpenSHMEM: 4.1");
        assert_eq!(line("  mpi ob1"), "mpi ob1 barrier@4 (2 times): ended with code 1");
    }

    #[test]
    fn numbers_have_the_digits_that_mean_something() {
        assert_eq!([0.01234, 1.239, 123.4].map(shown), ["0.0123", "1.24", "123"]);
    }
}
