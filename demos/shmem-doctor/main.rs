//! Says whether this host is fit for a job, and what to do where it is not: `shmem-doctor --backend roce`.
//!
//! The checks themselves are those of the backends; this program asks for them, shows what they found, and, with
//! `--peer`, proves by a small job that two hosts reach each other.

mod arguments;
mod examine;
mod json;
mod output;
mod peer;
mod report;
mod resolve;
mod settings;
mod text;
mod wrap;

use std::io::{Write as _, stderr};
use std::process::ExitCode;

use arguments::{Arguments, Asked};
use output::Output;
use report::Report;
use settings::Settings;

fn main() -> ExitCode {
    let arguments = match arguments::read() {
        Asked::Run(arguments) => arguments,
        Asked::Instead(instead) => return demos::say_instead("shmem-doctor", &instead),
    };
    let settings = match Settings::of(&arguments) {
        Ok(settings) => settings,
        Err(message) => {
            say(&message);
            return ExitCode::from(demos::WRONG);
        }
    };
    demos::start_logging(&settings.config, arguments.job.verbose);
    let output = match Output::of_its_own(arguments.color) {
        Ok(output) => output,
        Err(error) => return unwritten(&error),
    };
    // Settings of the backends are read here; the first that is wrong ends it, as on the command line.
    let sections = match examine::sections(&settings) {
        Ok(sections) => sections,
        Err(message) => {
            say(&message);
            return ExitCode::from(demos::WRONG);
        }
    };
    let mut report = Report { backend: settings.backend, sections };
    match show(&mut report, &arguments, &settings, output) {
        Ok(()) if report.fails() == 0 => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => unwritten(&error),
    }
}

fn unwritten(error: &std::io::Error) -> ExitCode {
    say(&format!("standard output: {error}"));
    ExitCode::FAILURE
}

/// Shows what was found, and what becomes of the meeting with a peer: text as it comes, or one JSON document at the end.
fn show(
    report: &mut Report,
    arguments: &Arguments,
    settings: &Settings,
    mut output: Output,
) -> std::io::Result<()> {
    if !arguments.json {
        report.sections.iter().for_each(|section| output.write(&text::section(section, output.width())));
    }
    if let Some(address) = &settings.peer {
        let section = peer::prove(address, settings, |waiting| {
            if !arguments.json {
                say(waiting);
            }
        });
        if !arguments.json {
            output.write(&text::section(&section, output.width()));
        }
        report.sections.push(section);
    }
    output.write(&if arguments.json { json::document(report)? } else { text::last_line(report) });
    output.finish()
}

/// Writes one line to standard error. With nobody left to read it, there is nobody left to tell.
fn say(line: &str) {
    let _ = writeln!(stderr(), "shmem-doctor: {line}");
}
