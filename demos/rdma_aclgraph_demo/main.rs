//! The reference job: `add -> allGather -> allGather -> add`, captured once, replayed, checked.

mod arguments;
#[cfg(all(test, feature = "loopback"))]
mod faults;
mod job;

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use arguments::Asked;
use job::Failed;

fn main() -> ExitCode {
    let (program, arguments) = match arguments::read() {
        Asked::Run { program, arguments } => (program, arguments),
        Asked::Instead { program, instead } => return demos::say_instead(&program, &instead),
        Asked::Wrong(message) => {
            let _ = write!(stderr(), "{message}");
            return ExitCode::from(demos::WRONG);
        }
    };
    let configured = arguments.configure(&program);
    let (config, plan) = match configured {
        Ok(configured) => configured,
        Err(message) => {
            let _ = writeln!(stderr(), "{program}: {message}");
            return ExitCode::from(demos::WRONG);
        }
    };
    demos::start_logging(&config, arguments.verbose());
    let options = arguments.job_options(plan.npu, config.n_pes.value);
    let mut code = 1;
    let worked = demos::run(&config, &options, plan).unwrap_or_else(|error| {
        let _ = writeln!(stderr(), "{program}: {error}");
        code = error.exit_code();
        Err(Failed)
    });
    let pe = config.my_pe.value;
    match worked {
        Ok(()) => {
            let _ = writeln!(stdout(), "[SUCCESS] demo run success in relative pe {pe}");
            ExitCode::SUCCESS
        }
        Err(Failed) => {
            let _ = writeln!(stderr(), "[FAILED] demo run failed in relative pe {pe}");
            ExitCode::from(code)
        }
    }
}
