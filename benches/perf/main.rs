//! Measures a backend, one process a PE: `shmrun -n 2 perf ping-pong stream barrier all-gather`.

mod arguments;
mod measure;
mod report;

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;

use arguments::Arguments;
use benches::{Lead, WorkError};
use clap::Parser;
use demos::Job;
use measure::Measure;
use transport_core::Transport;
use transport_core::config::JobConfig;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(instead) => return demos::say_instead("perf", &instead),
    };
    let failed = |code: u8, message: String| {
        let _ = writeln!(stderr(), "perf: {message}");
        ExitCode::from(code)
    };
    let (config, measure) = match plan(&arguments) {
        Ok(planned) => planned,
        Err(message) => return failed(demos::WRONG, message),
    };
    match demos::run(&config, &arguments.job, measure) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => failed(1, error.to_string()),
        Err(error) => failed(error.exit_code(), error.to_string()),
    }
}

fn plan(arguments: &Arguments) -> Result<(JobConfig, Measure), String> {
    let config = arguments.configure().build().map_err(|error| error.to_string())?;
    let (my_pe, n_pes) = (config.my_pe.value, config.n_pes.value);
    demos::start_logging(&config, arguments.job.verbose);
    let measure = arguments.plan(&config).map_err(|error| format!("PE {my_pe} of {n_pes}: {error}"))?;
    Ok((config, measure))
}

/// Why this PE gave up.
#[derive(Debug, thiserror::Error)]
enum PerfError {
    /// A work, or the job.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// Nobody reads the results.
    #[error("PE 0: standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl From<transport_core::Error> for PerfError {
    fn from(error: transport_core::Error) -> Self {
        Self::Work(error.into())
    }
}

impl Job for Measure {
    type Output = Result<(), PerfError>;

    fn run<X: Transport>(self, transport: X) -> Self::Output {
        let pe = Arc::new(transport);
        let worked = match pe.my_pe() {
            0 => self.lead(&pe),
            _ => benches::follow(&pe, &self.works).map_err(PerfError::from),
        };
        benches::end(&*pe, worked)
    }
}

impl Measure {
    fn lead<X: Transport>(&self, pe: &Arc<X>) -> Result<(), PerfError> {
        let mut lead = Lead::new(pe, &self.works)?;
        for work in &self.works {
            let result = self.measure(&mut lead, *work)?;
            let mut out = stdout().lock();
            writeln!(out, "{}", if self.json { result.to_json() } else { result.to_string() })?;
            out.flush()?;
        }
        Ok(lead.dismiss()?)
    }
}
