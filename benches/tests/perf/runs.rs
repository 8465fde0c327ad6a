//! Jobs that end well.

use crate::harness::{as_job, perf, text};

const ALONE: [&str; 4] = ["barrier", "all-gather:100", "replay", "empty-nodes"];
const WITH_A_PARTNER: [&str; 9] = [
    "ping-pong",
    "ping-pong:13",
    "ping-pong:20000",
    "signal-ping-pong:0",
    "signal-ping-pong:100",
    "stream:70000",
    "put-quiet:3",
    "put",
    "get:4097",
];

/// The lines of PE 0; the others say nothing.
fn lines(n_pes: usize, arguments: &[&str]) -> Vec<String> {
    let outputs = as_job((0..n_pes).map(|_| perf(arguments)).collect());
    for (pe, output) in outputs.iter().enumerate() {
        let (out, err) = text(output);
        assert!(output.status.success(), "PE {pe}: {} {out} {err}", output.status);
        assert!(err.is_empty() && (pe == 0 || out.is_empty()), "PE {pe}: {out} {err}");
    }
    text(&outputs[0]).0.lines().map(str::to_owned).collect()
}

/// Asserts that `line` is that of `work`, with a value that can be.
fn assert_line(line: &str, work: &str, n_pes: usize) {
    let (name, bytes) = work.split_once(':').unwrap_or((work, ""));
    let parts: Vec<&str> = line.split(' ').collect();
    assert_eq!(parts.len(), 5, "{line}");
    assert_eq!((parts[0], parts[2]), (name, n_pes.to_string().as_str()), "{line}");
    assert!(bytes.is_empty() || parts[1] == bytes, "{line}");
    assert!(parts[3].parse::<f64>().is_ok_and(|value| value > 0.0 && value.is_finite()), "{line}");
    assert_eq!(parts[4], if name == "stream" { "MB/s" } else { "us" }, "{line}");
}

#[test]
fn every_work_prints_its_line() {
    for n_pes in [1, 2, 3] {
        let partner: &[&str] = if n_pes == 1 { &[] } else { &WITH_A_PARTNER };
        let works = [&ALONE, partner].concat();
        let lines = lines(n_pes, &[&["--rounds", "70", "--repeat", "2"], works.as_slice()].concat());
        assert_eq!(lines.len(), works.len(), "{lines:?}");
        for (line, work) in lines.iter().zip(works) {
            assert_line(line, work, n_pes);
        }
    }
}

#[test]
fn without_rounds_it_finds_out_how_many() {
    let lines = lines(2, &["--seconds", "0.05", "barrier", "put", "--json"]);
    for (line, name) in lines.iter().zip(["barrier", "put"]) {
        assert!(line.starts_with(&format!(r#"{{"work":"{name}","bytes":"#)), "{line}");
        assert!(line.contains(r#""backend":"loopback""#) && line.ends_with("]}"), "{line}");
    }
    assert_eq!(lines.len(), 2);
}

#[test]
fn the_typical_round_of_every_work() {
    let works = [ALONE.as_slice(), &WITH_A_PARTNER].concat();
    let lines = lines(2, &[&["--rounds", "9", "--typical"], works.as_slice()].concat());
    lines.iter().zip(&works).for_each(|(line, work)| assert_line(line, work, 2));
    assert_eq!(lines.len(), works.len(), "{lines:?}");
}

#[test]
fn what_pe_0_was_told_is_done() {
    let outputs = as_job(vec![
        perf(&["--rounds", "5", "ping-pong", "all-gather"]),
        perf(&["--rounds", "9", "ping-pong", "--repeat", "1"]),
    ]);
    for output in &outputs {
        let (out, err) = text(output);
        assert!(output.status.success(), "{out} {err}");
    }
}
