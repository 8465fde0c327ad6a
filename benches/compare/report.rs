//! The same for a program to read: every single value.

use serde::Serialize;

use crate::results::{Results, Values, typical};
use crate::table::{Around, of_peer};

#[derive(Debug, Serialize)]
struct Report<'a> {
    machine: &'a crate::machine::Machine,
    ours: &'static str,
    peers: Vec<Peer>,
    pairs: usize,
    seconds: f64,
    /// Cores that others kept busy.
    others: Option<f64>,
    works: Vec<Entry>,
    failed: Vec<Failed<'a>>,
}

#[derive(Debug, Serialize)]
struct Peer {
    system: &'static str,
    found: bool,
    version: String,
}

#[derive(Debug, Serialize)]
struct Entry {
    work: &'static str,
    bytes: usize,
    pes: usize,
    unit: &'static str,
    cores: &'static str,
    best_peer: Option<&'static str>,
    ratio: Option<Span>,
    ratios: Vec<f64>,
    least_ratio: Option<f64>,
    ours: Side,
    theirs: Vec<Side>,
}

/// One system's values, of each pair; null where it failed.
#[derive(Debug, Serialize)]
struct Side {
    name: &'static str,
    median: Option<f64>,
    values: Values,
}

#[derive(Debug, Serialize)]
struct Span {
    median: f64,
    min: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
struct Failed<'a> {
    who: &'a str,
    works: &'a str,
    reason: &'a str,
    wrong_data: bool,
    times: u32,
}

/// One JSON object.
///
/// # Errors
///
/// What serde says; none of these values can make it say anything.
pub(crate) fn to_json(results: &Results, around: &Around<'_>) -> Result<String, serde_json::Error> {
    let side = |name, values: &Values| Side { name, median: typical(values), values: values.clone() };
    let works = results.rows.iter().map(|(work, row)| Entry {
        work: work.kind.name(),
        bytes: work.bytes,
        pes: work.n_pes,
        unit: "us",
        cores: crate::launch::binding(around.settings, work.n_pes),
        best_peer: row.best().map(|(name, _)| name),
        ratio: row.ratio().map(|ratio| Span { median: ratio.median, min: ratio.min, max: ratio.max }),
        ratios: row.ratios(),
        least_ratio: row.least_ratio(),
        ours: side("ours", &row.ours),
        theirs: row.peers.iter().map(|(name, values)| side(name, values)).collect(),
    });
    let failed = results.troubles.iter().map(|trouble| Failed {
        who: &trouble.who,
        works: &trouble.works,
        reason: &trouble.reason,
        wrong_data: trouble.wrong_data,
        times: trouble.times,
    });
    let peers = around.found.iter().map(|found| Peer {
        system: found.system.name(),
        found: found.version.is_ok(),
        version: found.version.clone().unwrap_or_else(|_| of_peer(found)),
    });
    let report = Report {
        machine: around.machine,
        ours: env!("CARGO_PKG_VERSION"),
        peers: peers.collect(),
        pairs: around.pairs,
        seconds: around.settings.seconds.as_secs_f64(),
        others: around.others,
        works: works.collect(),
        failed: failed.collect(),
    };
    serde_json::to_string_pretty(&report).map(|text| text + "\n")
}
