//! `--json` is as SCHEMA.md and the golden document say.

use crate::harness::{Said, doctor, said};
use crate::ordered::Node;

/// What the program's own tests hold it to, to the byte.
const GOLDEN: &str = include_str!("../../shmem-doctor/golden.json");

const LEVELS: [&str; 3] = ["ok", "warn", "fail"];

/// The one document on standard output.
fn document(arguments: &[&str]) -> (Said, Node) {
    let said = said(doctor(arguments).arg("--json"));
    assert!(said.out.ends_with("}\n"), "{}", said.out);
    let document = Node::parse(&said.out);
    (said, document)
}

/// Asserts that `actual` has the keys of the golden document in their order, and values of the same kinds.
fn assert_schema(actual: &Node) {
    let golden = Node::parse(GOLDEN);
    let section = &golden.get("sections").list()[0];
    let finding = &section.get("findings").list()[0];
    assert_eq!(actual.keys(), golden.keys());
    assert_eq!(actual.get("counts").keys(), golden.get("counts").keys());
    assert_eq!(actual.get("schema"), golden.get("schema"));
    assert_eq!(actual.get("version").text(), env!("CARGO_PKG_VERSION"));
    assert!(!actual.get("host").text().is_empty());
    let (mut counts, mut worst) = ([0; 3], 0);
    for actual in actual.get("sections").list() {
        assert_eq!(actual.keys(), section.keys());
        assert_id(actual.get("id").text());
        assert!(!actual.get("title").text().is_empty());
        let mut worst_here = 0;
        for actual in actual.get("findings").list() {
            assert_eq!(actual.keys(), finding.keys());
            assert_id(actual.get("id").text());
            assert!(!actual.get("what").text().is_empty());
            let level = LEVELS.iter().position(|level| *level == actual.get("level").text()).unwrap();
            counts[level] += 1;
            worst_here = worst_here.max(level);
            match actual.get("remedy") {
                Node::Null => assert_eq!(level, 0, "nothing to type: {actual:?}"),
                remedy => assert!(!remedy.text().is_empty() && level > 0, "{actual:?}"),
            }
        }
        assert_eq!(actual.get("level").text(), LEVELS[worst_here]);
        worst = worst.max(worst_here);
    }
    assert_eq!(actual.get("level").text(), LEVELS[worst]);
    for (level, count) in LEVELS.iter().zip(counts) {
        assert_eq!(actual.get("counts").get(level).number(), count, "{level}");
    }
}

/// Lower-case words with `-`.
fn assert_id(id: &str) {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    assert!(id.split('-').all(word), "{id:?} is no id");
}

#[test]
fn a_backend_that_can_run() {
    let (said, document) = document(&["--backend", "loopback", "--heap", "1MiB"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_schema(&document);
    assert_eq!(document.get("backend").text(), "loopback");
    assert!(!document.get("sections").list().is_empty());
}

#[test]
fn a_job_that_cannot() {
    let (said, document) = document(&["--backend", "loopback", "--heap", "40GiB", "--pes", "65536"]);
    assert_eq!(said.code, Some(1));
    assert_schema(&document);
    assert_eq!(document.get("level").text(), "fail");
}

#[test]
fn without_a_backend_and_with_logs_there_is_still_one_document() {
    let (said, document) = document(&["--heap", "1MiB", "--verbose"]);
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("heap size"), "{}", said.err);
    assert_schema(&document);
    assert_eq!(document.get("backend"), &Node::Null);
}

#[test]
fn a_peer_that_is_not_there_is_a_section_of_it() {
    let peer = format!("127.0.0.1:{}", crate::harness::free_port());
    let (said, document) =
        document(&["--backend", "loopback", "--heap", "1MiB", "--peer", &peer, "--timeout", "0.3"]);
    assert_eq!(said.code, Some(1));
    assert_schema(&document);
    let section = document.get("sections").list().last().unwrap();
    assert_eq!(section.get("id").text(), "peer");
    let finding = &section.get("findings").list()[0];
    assert_eq!((finding.get("id").text(), finding.get("level").text()), ("meets", "fail"));
}
