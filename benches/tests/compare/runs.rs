//! Comparisons: with peers and programs of ours that are scripts, so that all that comes out is known; and one real one.

use std::path::Path;
use std::process::Output;

use crate::harness::{compare, line, row, script, text};

/// Runs `compare` with only the programs of `directory`, which holds ours too.
fn with_programs(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = compare(arguments);
    command.env("PATH", directory).arg("--bin-dir").arg(directory).output().unwrap()
}

/// Scripts that stand for `shmrun` and `perf`; the first runs no second.
fn ours(directory: &Path, says: &str) {
    script(directory, "shmrun", says);
    script(directory, "perf", "exit 1");
}

/// A launcher and a compiler that stand for Open MPI.
fn mpi(directory: &Path, says: &str) {
    let version = r#"if [ "$1" = --version ]; then echo "mpirun (Test) 9.9"; exit; fi"#;
    script(directory, "mpirun", &format!("{version}\n{says}"));
    script(directory, "mpicc", "exit 0");
}

#[test]
fn a_missing_peer_is_named_with_its_package() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path(), &format!("echo '{}'", line("get", 8, 2, 0.5)));
    let output = with_programs(directory.path(), &["--pairs", "1", "get:8"]);
    let (out, err) = text(&output);
    assert!(output.status.success(), "{out} {err}");
    for said in [
        "MPI: MISSING; apt-get install openmpi-bin libopenmpi-dev",
        "OpenSHMEM: MISSING; apt-get install openmpi-bin libopenmpi-dev",
        "UCX: MISSING; apt-get install ucx-utils",
    ] {
        assert!(out.contains(said), "{out}");
    }
    let row = row(&out, "get ");
    assert!(row.starts_with("get 8 2 none (no MPI) (no OpenSHMEM) (no UCX) - 0.5000 - "), "{row}");
}

#[test]
fn missing_peers_are_installed_by_root_alone() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path(), &format!("echo '{}'", line("get", 8, 2, 0.5)));
    let asked = directory.path().join("asked");
    script(
        directory.path(),
        "apt-get",
        &format!("echo \"$@\" > '{}'; echo 'E: none' >&2; exit 100", asked.display()),
    );
    let output = with_programs(directory.path(), &["--install", "get:8"]);
    let (out, err) = text(&output);
    assert!(!output.status.success() && out.is_empty(), "{out} {err}");
    assert!(err.contains("installing libopenmpi-dev openmpi-bin ucx-utils: "), "{err}");
    if let Ok(asked) = std::fs::read_to_string(asked) {
        let packages = "libopenmpi-dev openmpi-bin ucx-utils";
        assert_eq!(asked.trim(), format!("install --yes --no-install-recommends {packages}"));
        assert!(err.contains("apt-get failed (code 100): E: none"), "{err}");
    } else {
        assert!(err.contains("run it as root"), "{err}");
    }
}

#[test]
fn ours_stands_beside_the_best_peer() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path(), &format!("echo '{}'", line("barrier", 0, 4, 3.0)));
    // UCX under MPI is the slower one here.
    let [fast, slow] = [4.0, 6.0].map(|value| line("barrier", 0, 4, value));
    mpi(directory.path(), &format!("case \"$*\" in *'pml ucx'*) echo '{slow}';; *) echo '{fast}';; esac"));
    let files = ["a.json", "a.svg"].map(|name| directory.path().join(name));
    let [json, svg] = [&files[0], &files[1]].map(|file| file.to_str().unwrap());
    let arguments = ["--pairs", "2", "barrier:4", "--json", json, "--svg", svg];
    let output = with_programs(directory.path(), &arguments);
    let (out, err) = text(&output);
    assert!(output.status.success(), "{out} {err}");
    assert!(out.contains("MPI: mpirun (Test) 9.9"), "{out}");
    let row = row(&out, "barrier ");
    assert!(row.starts_with("barrier - 4 mpi ob1 (no OpenSHMEM) 4.00 3.00 0.75 (0.75..0.75) 0.75 "), "{row}");

    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let work = &report["works"][0];
    assert_eq!((&work["work"], &work["pes"]), (&"barrier".into(), &4.into()), "{report}");
    assert_eq!(work["ours"]["values"], serde_json::json!([3.0, 3.0]), "{report}");
    assert_eq!((&work["best_peer"], &work["ratio"]["max"]), (&"mpi ob1".into(), &0.75.into()), "{report}");
    assert_eq!(work["theirs"][2]["values"], serde_json::json!([6.0, 6.0]), "{report}");
    assert!(report["machine"]["cpu"].is_string() && report["peers"][0]["version"] == "mpirun (Test) 9.9");
    assert!(std::fs::read_to_string(svg).unwrap().contains(">barrier<"));
}

#[test]
fn wrong_data_of_a_peer_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path(), &format!("echo '{}'", line("job", 64, 2, 3.0)));
    mpi(directory.path(), "echo 'PE 1: job moved wrong data: byte 3 of 64 is 0, expected 9' >&2; exit 3");
    let output = with_programs(directory.path(), &["--pairs", "1", "job"]);
    let (out, err) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{out} {err}");
    assert!(err.contains("wrong data was moved by mpi ob1"), "{err}");
    assert!(out.contains("mpi ob1 job:64@2: ended with code 3: PE 1: job moved wrong data: byte 3"), "{out}");
}

#[test]
fn what_hangs_is_killed_and_what_fails_is_said() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path(), "echo 'shmrun: no room' >&2; exit 5");
    mpi(directory.path(), "echo waiting; exec /bin/sleep 600");
    let output = with_programs(directory.path(), &["--pairs", "1", "--deadline", "0.3", "put"]);
    let (out, err) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{out} {err}");
    assert!(out.contains("ours put:8@2: ended with code 5: shmrun: no room"), "{out}");
    assert!(out.contains("mpi ob1 put:8@2: had not ended after 300ms and was killed: waiting"), "{out}");
    assert!(err.contains("ours failed"), "{err}");
}

/// Each side's own programs, where there are any, look at what arrives.
#[cfg(feature = "loopback")]
#[test]
fn a_real_work_is_compared() {
    // The launcher is another package's; where it was not built, that is said.
    let perf = Path::new(env!("CARGO_BIN_EXE_perf"));
    if !perf.with_file_name("shmrun").is_file() {
        let output = compare(&["--quick", "put-quiet:8"]).output().unwrap();
        let (_, err) = text(&output);
        assert!(!output.status.success() && err.contains("cargo build"), "{err}");
        return;
    }
    let output = compare(&["--quick", "--pairs", "1", "put-quiet:4096", "hand-off"]).output().unwrap();
    let (out, err) = text(&output);
    assert!(output.status.success(), "{out} {err}");
    for (start, peers) in
        [("put-quiet ", ["mpi ", "oshmem", "none"].as_slice()), ("hand-off ", &["cache line"])]
    {
        let row = row(&out, start);
        let rest = row.splitn(4, ' ').nth(3).unwrap();
        assert!(peers.iter().any(|peer| rest.starts_with(peer)), "{row}");
        let (_, numbers) = row.split_once(" 2 ").unwrap();
        // A peer that is there has a value, and so there is a ratio.
        assert_eq!(numbers.contains(".."), !rest.starts_with("none"), "{row}");
    }
    let has_mpi = !out.contains("MPI: MISSING");
    assert_eq!(has_mpi, out.contains("MPI: mpirun"), "{out}");
}
