//! The report as text for people. It holds colours, which the [output](crate::output) takes out where none are wanted.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use transport_core::checks::{Level, Section};

use crate::report::Report;
use crate::wrap::{one_line, wrap};

/// Columns before what was found: two blanks, the level, two blanks.
const INDENT: usize = 8;

fn style(level: Level) -> Style {
    match level {
        Level::Ok => AnsiColor::Green.on_default(),
        Level::Warn => AnsiColor::Yellow.on_default(),
        Level::Fail => AnsiColor::Red.on_default().bold(),
    }
}

/// A section with its findings, in lines of `width` columns, or one line a finding without a width.
pub(crate) fn section(section: &Section, width: Option<usize>) -> String {
    let bold = Style::new().bold();
    let mut text = format!("{bold}{}{bold:#}\n", section.title);
    // Writing to a String cannot fail.
    for finding in &section.findings {
        let style = style(finding.level);
        let what = wrap(&finding.what, INDENT, width);
        let _ = writeln!(text, "  {style}{:4}{style:#}  {what}", finding.level);
        if let Some(remedy) = &finding.remedy {
            // Whole, to be copied.
            let _ = writeln!(text, "    -> {}", one_line(remedy));
        }
    }
    text
}

/// The counts, and whether a job on the backend that was asked for can start here. If none was, a section above says
/// which could.
pub(crate) fn last_line(report: &Report) -> String {
    let counts: Vec<String> = [Level::Ok, Level::Warn, Level::Fail]
        .into_iter()
        .map(|level| {
            let count = report.count(level);
            // What there is none of is nothing to look at.
            let style = if count == 0 { Style::new() } else { style(level) };
            format!("{style}{count} {level}{style:#}")
        })
        .collect();
    let verdict = match (report.backend, report.fails()) {
        (Some(backend), 0) => format!("; a job on backend {backend} can start here"),
        (Some(backend), 1) => format!("; a job on backend {backend} cannot start here: 1 failure above"),
        (Some(backend), n) => format!("; a job on backend {backend} cannot start here: {n} failures above"),
        (None, _) => String::new(),
    };
    format!("{}{verdict}\n", counts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn devices() -> Section {
        let mut devices = Section::new("devices", "RDMA devices");
        devices.ok("device", "xscale_0");
        devices.warn("mtu", "1024 B, where the NIC can 4096", "ip link set eth0 mtu 4200");
        devices.fail(
            "port",
            "port 1 of xscale_0 is DOWN, and nothing can leave by it",
            "ip link set eth0 up",
        );
        devices
    }

    #[test]
    fn a_section_is_aligned_wrapped_and_tells_what_to_type() {
        assert_eq!(
            plain(&section(&devices(), Some(44))),
            "RDMA devices\n  ok    xscale_0\n  warn  1024 B, where the NIC can 4096\n    -> ip link set eth0 mtu 4200\n  \
             fail  port 1 of xscale_0 is DOWN, and\n        nothing can leave by it\n    -> ip link set eth0 up\n"
        );
        assert_eq!(plain(&section(&devices(), None)).lines().count(), 6);
    }

    #[test]
    fn each_level_has_its_colour_and_blanks_have_none() {
        let text = section(&devices(), None);
        for coloured in ["\u{1b}[32mok  \u{1b}[0m", "\u{1b}[33mwarn\u{1b}[0m", "\u{1b}[31mfail\u{1b}[0m"] {
            assert!(text.contains(coloured), "{text:?}");
        }
    }

    #[test]
    fn the_last_line_counts_and_judges() {
        let mut report = Report { backend: Some("xscale"), sections: vec![devices()] };
        let says = |report: &Report| plain(&last_line(report));
        assert_eq!(
            says(&report),
            "1 ok, 1 warn, 1 fail; a job on backend xscale cannot start here: 1 failure above\n"
        );
        report.sections.push(devices());
        assert!(says(&report).ends_with("cannot start here: 2 failures above\n"));
        report.sections = vec![devices().at_most_warn()];
        assert_eq!(says(&report), "1 ok, 2 warn, 0 fail; a job on backend xscale can start here\n");
        report.backend = None;
        assert_eq!(says(&report), "1 ok, 2 warn, 0 fail\n");
    }
}
