//! The conformance suite on a backend, one process a PE: `shmrun -n 4 conformance --backend loopback`.

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use demos::{Job, JobOptions};
use transport_core::config::JobConfig;
use transport_core::conformance::{self, Options, Report};
use transport_core::{Transport, wait};

/// Runs the suite that every backend passes, as one PE of a job, and prints what came out. Its identity comes from the
/// environment of the launcher, e.g. shmrun.
#[derive(Debug, Parser)]
#[command(name = "conformance", version)]
struct Arguments {
    /// Run only cases with this text in their names; may be repeated
    #[arg(long, value_name = "TEXT")]
    case: Vec<String>,

    /// Scale the rounds of cases that repeat something; each does at least one
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = rounds())]
    rounds: usize,

    /// Seed of all that is random
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// List the cases and end
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    job: JobOptions,
}

/// None at all would look as if all had been done.
fn rounds() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

/// The suite, as a job.
struct Suite(Options);

impl Job for Suite {
    type Output = Report;

    fn run<X: Transport>(self, transport: X) -> Report {
        let report = wait::block_on(conformance::run(&transport, &self.0));
        if !report.ended {
            // What the cases found is said by the report; a failure here is seen by the others.
            let _ = wait::block_on(transport.finalize());
        }
        report
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(instead) => return demos::say_instead("conformance", &instead),
    };
    if arguments.list {
        for name in conformance::names() {
            if let Err(error) = writeln!(stdout(), "{name}") {
                let _ = writeln!(stderr(), "conformance: standard output: {error}");
                return ExitCode::FAILURE;
            }
        }
        return ExitCode::SUCCESS;
    }
    let (config, suite) = match plan(&arguments) {
        Ok(planned) => planned,
        Err(message) => {
            let _ = writeln!(stderr(), "conformance: {message}");
            return ExitCode::from(demos::WRONG);
        }
    };
    match demos::run(&config, &arguments.job, suite) {
        Ok(report) => {
            if let Err(error) = writeln!(stdout(), "{report}") {
                let _ = writeln!(stderr(), "conformance: standard output: {error}");
                return ExitCode::FAILURE;
            }
            report.exit_code()
        }
        Err(error) => {
            let _ = writeln!(stderr(), "conformance: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn plan(arguments: &Arguments) -> Result<(JobConfig, Suite), String> {
    let config = arguments.job.configure().build().map_err(|error| error.to_string())?;
    demos::start_logging(&config, arguments.job.verbose);
    let mut options = Options::default().rounds_percent(arguments.rounds).seed(arguments.seed);
    for part in &arguments.case {
        if !conformance::names().iter().any(|name| name.contains(part.as_str())) {
            return Err(format!("no case has {part:?} in its name; --list shows all"));
        }
        options = options.matching(part);
    }
    Ok((config, Suite(options)))
}
