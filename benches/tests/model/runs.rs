//! Commands of all kinds.

use crate::harness::{model, text};

#[test]
fn a_table_is_printed() {
    let free =
        ["--latency", "1000", "--overhead", "0", "--gap", "0", "--per-byte", "0", "--acknowledge", "0"];
    let output = model(&[&["predict", "--pes", "2,16", "--bytes", "64"], free.as_slice()].concat());
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{out}{err}");
    let row = |n_pes: &str, work: &str| {
        let of = |line: &&str| line.trim_start().starts_with(&format!("{n_pes} ")) && line.contains(work);
        let line = out.lines().find(of).unwrap_or_else(|| panic!("{n_pes} {work}: {out}"));
        let rest = line.split_once(work).unwrap().1;
        rest.split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("2", "barrier"), ["1.000", "2", "0"]);
    assert_eq!(row("16", "barrier"), ["4.000", "64", "0"]);
    assert_eq!(row("16", "all-gather:64 textbook"), ["9.000", "368", "15360"]);
}

#[test]
fn measurements_are_fitted_compared_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, chart) = (folder.path().join("lines"), folder.path().join("chart.svg"));
    let measured = [("put", 8, 2, "0.100"), ("barrier", 0, 2, "0.600"), ("barrier", 0, 4, "1.200")];
    let line = |(work, bytes, pes, value): &(&str, u32, u32, &str)| {
        format!(r#"{{"work":"{work}","bytes":{bytes},"pes":{pes},"value":{value},"unit":"us"}}"#)
    };
    std::fs::write(&lines, measured.iter().map(line).collect::<Vec<_>>().join("\n")).unwrap();
    let lines = lines.to_str().unwrap();

    let output = model(&["fit", "--measured", lines]);
    let out = text(&output.stdout);
    assert!(out.starts_with("--latency 500 --overhead 100 "), "{out}{}", text(&output.stderr));

    let output = model(&["predict", "--measured", lines, "--latency", "800", "--overhead", "100"]);
    let out = text(&output.stdout);
    assert!(
        out.lines().nth(3).is_some_and(|line| line.ends_with("0.600          0.900      +50.0")),
        "{out}"
    );

    let output = model(&["plot", "--out", chart.to_str().unwrap(), "--pes", "2,4", "--measured", lines]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(std::fs::read_to_string(&chart).unwrap().contains("barrier, measured"));
}

#[test]
fn shared_memory_and_shared_processors_are_options() {
    let costs = ["--network", "shared-memory", "--latency", "100", "--overhead", "10", "--per-byte", "1000"];
    let predict = |more: &[&str]| {
        let output = model(&[&["predict", "--pes", "2"], costs.as_slice(), more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let gather = |out: &str| {
        let line = out.lines().find(|line| line.contains("all-gather:64"));
        line.and_then(|line| line.split_whitespace().nth(3)?.parse::<f64>().ok()).unwrap()
    };
    // Two barriers, and a put that is complete when its bytes are copied.
    let alone = predict(&[]);
    assert_eq!(gather(&alone), 0.110 + 0.010 + 0.064 + 0.110);
    assert!(alone.lines().next().is_some_and(|line| line.ends_with("--complete-at-post")), "{alone}");
    let shared = predict(&["--cores", "1", "--switch", "1000"]);
    assert!(gather(&shared) > 2.0, "{shared}");
    // The costs that are printed are options.
    let printed = shared.lines().next().unwrap();
    assert!(printed.ends_with("--complete-at-post --cores 1 --switch 1000"), "{shared}");
    let again =
        model(&[&["predict", "--pes", "2"], printed.split(' ').collect::<Vec<_>>().as_slice()].concat());
    assert_eq!(gather(&text(&again.stdout)), gather(&shared));
}

#[test]
fn what_cannot_be_done_is_said() {
    for (arguments, reason) in [
        (vec!["predict", "--pes", "0"], "1 to 65536"),
        (vec!["predict", "--bytes", "0"], "1 byte to 1 GiB"),
        (vec!["predict", "--per-node", "4"], "--near-latency"),
        (vec!["predict", "--switch", "4"], "--cores"),
        (vec!["predict", "--cores", "0"], "0 is not in 1..=65536"),
        (vec!["predict", "--measured", "x", "--pes", "2"], "cannot be used with"),
        (
            vec!["predict", "--pes", "2", "--latency", "18446744073709551615"],
            "more virtual time than can be counted",
        ),
        (
            vec!["predict", "--pes", "2", "--per-byte", "18446744073709551615"],
            "more virtual time than can be counted",
        ),
        (vec!["fit", "--measured", "no-such-file"], "no-such-file: No such file"),
        (vec!["plot", "--out", "no-such-folder/x.svg", "--pes", "2"], "no-such-folder/x.svg: No such file"),
    ] {
        let output = model(&arguments);
        let err = text(&output.stderr);
        assert!(!output.status.success() && err.contains(reason), "{arguments:?}: {err}");
    }
}

#[test]
fn a_help_that_cannot_be_written_is_told() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_model")).arg("--help").stdout(full).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("model: standard output: ") && err.lines().count() == 1, "{err}");
}
