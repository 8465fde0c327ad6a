//! What users would take instead, beside ours, on the same machine: `compare --quick`.

mod arguments;
mod busy;
mod child;
mod compile;
mod find;
mod handoff;
mod interrupt;
mod launch;
mod machine;
mod measured;
mod peers;
mod picture;
mod report;
mod results;
mod session;
mod table;
mod turns;
mod work;

use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::Arguments;
use busy::Ticks;
use clap::Parser;
use find::Found;
use launch::Settings;
use machine::Machine;
use peers::System;
use session::Session;
use table::Around;
use transport_core::host::ProcessorSet;

/// Why there is no table, or one that is not to be trusted.
#[derive(Debug, thiserror::Error)]
enum CompareError {
    /// Our own programs.
    #[error(
        "{program} is not in {}; build it (cargo build --release -p benches -p demos) or give --bin-dir",
        directory.display()
    )]
    OursMissing {
        /// Which.
        program: &'static str,
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// This program.
    #[error("where this program is: {0}")]
    Itself(std::io::Error),
    /// The system.
    #[error("taking over the signals: {0}")]
    Signals(std::io::Error),
    /// Ctrl-C and its like; nothing that was started is left.
    #[error("ended by {}", demos::signals::name_of_signal(*.0))]
    Ended(i32),
    /// Packages.
    #[error("installing {packages}: {reason}")]
    Install {
        /// Which.
        packages: String,
        /// What is wrong.
        reason: String,
    },
    /// Where they are built.
    #[error("a directory for the peers' programs: {0}")]
    Build(std::io::Error),
    /// A program of ours for a peer.
    #[error("{compiler} cannot build {}: {reason}", program.display())]
    Compile {
        /// The peer's.
        compiler: &'static str,
        /// The program.
        program: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file.
    #[error("{}: {error}", path.display())]
    File {
        /// Its name.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The report.
    #[error("the report: {0}")]
    Report(#[from] serde_json::Error),
    /// Nobody reads the results.
    #[error("standard output: {0}")]
    Output(std::io::Error),
    /// Data that did not arrive as it was sent.
    #[error("wrong data was moved by {0}; the table says of which work")]
    WrongData(String),
    /// Ours.
    #[error("ours failed; the table says in which work")]
    OursFailed,
}

impl CompareError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Ended(signal) => ExitCode::from(demos::signals::signal_exit_code(*signal)),
            _ => ExitCode::FAILURE,
        }
    }
}

fn main() -> ExitCode {
    let mut roles = std::env::args_os().skip(1);
    let error = match roles.next() {
        Some(role) if role == handoff::ROLE => match handoff::run(roles) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(reason) => reason,
        },
        Some(role) if role == turns::ROLE => match turns::run(roles) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(reason) => reason,
        },
        _ => match Arguments::try_parse() {
            Ok(arguments) => match run(&arguments) {
                Ok(()) => return ExitCode::SUCCESS,
                Err(error) => {
                    // What failed because of the signal is not what went wrong.
                    let ended = interrupt::signal().map(CompareError::Ended);
                    let error = ended.unwrap_or(error);
                    let _ = writeln!(stderr(), "compare: {error}");
                    return error.exit_code();
                }
            },
            Err(instead) => return demos::say_instead("compare", &instead),
        },
    };
    let _ = writeln!(stderr(), "compare: {error}");
    ExitCode::FAILURE
}

fn run(arguments: &Arguments) -> Result<(), CompareError> {
    interrupt::take().map_err(CompareError::Signals)?;
    let ours = find::ours(arguments.bin_dir.as_deref())?;
    if arguments.install {
        install_missing()?;
    }
    for path in arguments.json.iter().chain(&arguments.svg) {
        has_a_place(path).map_err(|error| CompareError::File { path: path.clone(), error })?;
    }
    let (works, pairs) = (arguments.works(), arguments.pairs() as usize);
    let systems = System::ALL.into_iter().filter(|system| works.iter().any(|work| system.does(work)));
    let found: Vec<Found> = systems.map(find::find).collect();
    for found in &found {
        let _ = writeln!(stderr(), "compare: {}", table::of_peer(found));
    }
    let directory = launch::build_directory(&ours).map_err(CompareError::Build)?;
    let mut peers = Vec::new();
    for Found { system, .. } in found.iter().filter(|found| found.version.is_ok()) {
        peers.push((*system, compile::compile(*system, directory.path())?));
    }
    let settings = Settings {
        seconds: arguments.seconds(),
        deadline: arguments.deadline,
        bind: arguments.bind,
        cores: ProcessorSet::for_all(&[ProcessorSet::of_this_process()]),
        is_root: rustix::process::geteuid().is_root(),
    };
    let machine = Machine::look(settings.cores);
    let session = Session { ours, peers, settings };
    let before = Ticks::now();
    let results = session.measure(&works, pairs, &mut stderr());
    if let Some(signal) = interrupt::signal() {
        return Err(CompareError::Ended(signal));
    }
    let others = Ticks::now().zip(before).map(|(now, before)| now.others_since(&before, machine.cores));

    let around = Around { machine: &machine, found: &found, settings: &session.settings, pairs, others };
    let table = table::render(&results, &around);
    let mut out = stdout().lock();
    out.write_all(table.as_bytes()).and_then(|()| out.flush()).map_err(CompareError::Output)?;
    if let Some(path) = &arguments.json {
        write(path, &report::to_json(&results, &around)?)?;
    }
    if let Some(path) = &arguments.svg {
        write(path, &picture::draw(&results))?;
    }
    let wrong: Vec<&str> =
        results.troubles.iter().filter(|trouble| trouble.wrong_data).map(|trouble| &*trouble.who).collect();
    match wrong.is_empty() {
        false => Err(CompareError::WrongData(wrong.join(", "))),
        true if results.troubles.iter().any(|trouble| trouble.who == "ours") => Err(CompareError::OursFailed),
        true => Ok(()),
    }
}

/// Whether there is a directory for a file, before all is measured for it.
fn has_a_place(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    beside.metadata().map(drop)
}

/// Installs what any system misses, each package once.
fn install_missing() -> Result<(), CompareError> {
    let path = std::env::var_os("PATH");
    let mut packages: Vec<_> =
        System::ALL.iter().flat_map(|system| find::missing_packages(*system, path.as_deref())).collect();
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() { Ok(()) } else { find::install(&packages) }
}

fn write(path: &Path, text: &str) -> Result<(), CompareError> {
    std::fs::write(path, text).map_err(|error| CompareError::File { path: path.to_owned(), error })
}
