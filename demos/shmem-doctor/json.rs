//! The report as JSON, as SCHEMA.md says.

use std::io;

use serde::Serialize;
use transport_core::checks::{Finding, Level, Section, worst};

use crate::report::Report;

/// Raised when a key goes or changes its meaning; new keys leave it.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    version: &'a str,
    host: &'a str,
    backend: Option<&'a str>,
    level: &'a str,
    counts: Counts,
    sections: Vec<SectionRow<'a>>,
}

#[derive(Serialize)]
struct Counts {
    ok: usize,
    warn: usize,
    fail: usize,
}

#[derive(Serialize)]
struct SectionRow<'a> {
    id: &'a str,
    title: &'a str,
    level: &'a str,
    findings: Vec<FindingRow<'a>>,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    id: &'a str,
    level: &'a str,
    what: &'a str,
    remedy: Option<&'a str>,
}

/// The whole document, with a line end.
pub(crate) fn document(report: &Report) -> io::Result<String> {
    render(report, env!("CARGO_PKG_VERSION"), &transport_core::host::node_name())
}

fn render(report: &Report, version: &str, host: &str) -> io::Result<String> {
    let counts = Counts {
        ok: report.count(Level::Ok),
        warn: report.count(Level::Warn),
        fail: report.count(Level::Fail),
    };
    let document = Document {
        schema: SCHEMA,
        version,
        host,
        backend: report.backend,
        level: worst(&report.sections).name(),
        counts,
        sections: report.sections.iter().map(section).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

fn section(section: &Section) -> SectionRow<'_> {
    SectionRow {
        id: section.id,
        title: section.title,
        level: section.level().name(),
        findings: section.findings.iter().map(finding).collect(),
    }
}

fn finding(finding: &Finding) -> FindingRow<'_> {
    FindingRow {
        id: finding.id,
        level: finding.level.name(),
        what: &finding.what,
        remedy: finding.remedy.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("golden.json");

    #[test]
    fn a_report_is_the_golden_document_to_the_byte() {
        let mut devices = Section::new("devices", "RDMA devices");
        devices.ok("device", "xscale_0 is an XSCALE NIC");
        devices.fail("port", "port 1 of xscale_0 is DOWN, so that \"nothing\" leaves", "ip link set eth0 up");
        let mut memory = Section::new("memory", "Memory");
        memory.warn("heap", "8 PEs with 1 GiB each: 80% of RAM", "shmem-doctor --heap 512MiB");
        let report =
            Report { backend: Some("xscale"), sections: vec![devices, memory, Section::new("e", "E")] };
        assert_eq!(render(&report, "0.1.0", "node-7").unwrap(), GOLDEN);
    }

    #[test]
    fn without_a_backend_it_is_null() {
        let text = render(&Report { backend: None, sections: Vec::new() }, "0.1.0", "h").unwrap();
        assert!(text.contains("\"backend\": null,\n  \"level\": \"ok\","), "{text}");
        assert!(text.contains("\"sections\": []"), "{text}");
    }

    #[test]
    fn the_document_that_users_read_shows_the_golden_one() {
        let schema = include_str!("SCHEMA.md");
        assert!(schema.contains(GOLDEN), "the example in SCHEMA.md is not golden.json");
        for key in
            ["schema", "version", "host", "backend", "level", "counts", "sections", "id", "title", "what"]
        {
            assert!(schema.contains(&format!("`{key}`")), "SCHEMA.md says nothing of {key}");
        }
    }
}
