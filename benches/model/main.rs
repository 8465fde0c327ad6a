//! How long collectives would take, by a cost model in virtual time: `model predict --pes 2,16,4096`.

mod arguments;
mod fit;
mod linear;
mod measured;
mod plot;
mod predict;
mod work;

use std::io::{Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use transport_loopback::sim::PredictError;
use work::ModelWork;

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
enum ModelError {
    /// A file.
    #[error("{path}: {error}")]
    File {
        /// Its name.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// What a file says.
    #[error("{path}, line {line}: {reason}; each line must be an object as `perf --json` prints it")]
    Line {
        /// Its name.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing that the model knows.
    #[error("{path}: no measurement of {}; take some by `perf --json`", work::NAMES.join(", "))]
    Nothing {
        /// Its name.
        path: PathBuf,
    },
    /// A work that did not end well.
    #[error("{work} with {n_pes} PEs: {error}")]
    Predict {
        /// Which.
        work: ModelWork,
        /// Of how many PEs.
        n_pes: usize,
        /// Why.
        error: PredictError,
    },
    /// A work for two, with one PE.
    #[error("{work} needs at least 2 PEs; leave {n_pes} out of --pes")]
    NoPartner {
        /// Which.
        work: ModelWork,
        /// Of how many PEs.
        n_pes: usize,
    },
    /// Nobody reads the results.
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(instead) => return demos::say_instead("model", &instead),
    };
    match run(&arguments.command, &mut stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(stderr(), "model: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command, out: &mut impl Write) -> Result<(), ModelError> {
    match command {
        Command::Predict { sizes, costs, measured } => match measured {
            None => predict::table(&sizes.works(), &sizes.pes, &costs.model(), out),
            Some(path) => predict::compare(&measured::read(path)?, &costs.model(), out),
        },
        Command::Fit { measured, costs } => fit::print(&measured::read(measured)?, &costs.model(), out),
        Command::Plot { out: path, sizes, costs, measured } => {
            let measured = measured.as_deref().map(measured::read).transpose()?.unwrap_or_default();
            let text = plot::plot(&sizes.works(), &sizes.pes, &costs.model(), &measured)?;
            std::fs::write(path, text).map_err(|error| ModelError::File { path: path.clone(), error })
        }
    }
}
