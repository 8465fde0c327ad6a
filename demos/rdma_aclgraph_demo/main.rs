//! The reference job: `add -> allGather -> allGather -> add`, captured once, replayed, checked.

mod arguments;
mod job;

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use arguments::Asked;
use demos::JobOptions;
use transport_core::config::JobConfig;

fn main() -> ExitCode {
    let (program, arguments) = match arguments::read() {
        Asked::Run { program, arguments } => (program, arguments),
        Asked::Help(text) => {
            let written = write!(stdout(), "{text}").and_then(|()| stdout().flush());
            return if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Asked::Wrong(message) => {
            let _ = write!(stderr(), "{message}");
            return ExitCode::FAILURE;
        }
    };
    let configured = arguments.configure(&program);
    let (config, plan) = match configured {
        Ok(configured) => configured,
        Err(message) => {
            let _ = writeln!(stderr(), "{program}: {message}");
            return ExitCode::FAILURE;
        }
    };
    demos::start_logging(&config, arguments.verbose());
    match work(&config, &arguments.job_options(plan.npu, config.n_pes.value), plan) {
        Ok(()) => {
            let _ = writeln!(stdout(), "[SUCCESS] demo run success in relative pe {}", config.my_pe.value);
            ExitCode::SUCCESS
        }
        Err(message) => {
            let mut err = stderr().lock();
            let _ = writeln!(err, "{program}: {message}");
            let _ = writeln!(err, "[FAILED] demo run failed in relative pe {}", config.my_pe.value);
            ExitCode::FAILURE
        }
    }
}

fn work(config: &JobConfig, options: &JobOptions, plan: job::Plan) -> Result<(), String> {
    demos::run(config, options, plan).map_err(|error| error.to_string())?
}
