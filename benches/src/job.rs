//! A job of processes for a bench: this process is PE 0, the others are its children.

use std::net::TcpListener;
use std::os::fd::IntoRawFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Once};

use clap::Parser;
use demos::{JobOptions, StartError};
use transport_core::config::{ConfigError, JobConfigBuilder, Key};
use transport_core::{Error, Transport};

use crate::error::WorkError;
use crate::start_up;
use crate::team::{self, Lead, Watch};
use crate::work::{AskError, Work};

/// Set in the environment of a child of a bench, to the works that it must have room for, or to [`start_up::ROLE`].
pub(crate) const CHILD: &str = "BENCH_CHILD";
/// The heap of each PE if nobody says anything: room for what the benches do, and cheap to register with a NIC.
const HEAP: &str = "64MiB";

/// Why a bench's job failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A child or a socket.
    #[error("the bench's processes: {0}")]
    Io(#[from] std::io::Error),
    /// A PE that failed; it has said why on standard error.
    #[error("PE {pe} of {n_pes} of the bench's job failed: {status}")]
    Child {
        /// Its number.
        pe: usize,
        /// PEs of the job.
        n_pes: usize,
        /// How it ended.
        status: ExitStatus,
    },
    /// Its options.
    #[error(transparent)]
    Options(#[from] clap::Error),
    /// Its configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its backend.
    #[error(transparent)]
    Start(Box<StartError>),
    /// Its work.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// A work that there is not.
    #[error(transparent)]
    Ask(#[from] AskError),
}

impl From<StartError> for BenchError {
    fn from(error: StartError) -> Self {
        Self::Start(Box::new(error))
    }
}

impl From<Error> for BenchError {
    fn from(error: Error) -> Self {
        Self::Work(error.into())
    }
}

/// The options of a job, all of which come from the environment: the command line is criterion's.
#[derive(Debug, Parser)]
struct NoOptions {
    #[command(flatten)]
    job: JobOptions,
}

/// What the environment says of a job.
pub(crate) fn options() -> Result<(JobOptions, JobConfigBuilder), BenchError> {
    let options = NoOptions::try_parse_from(["bench"])?.job;
    let builder = options.configure().with_default(Key::HeapSize, HEAP);
    Ok((options, builder))
}

/// PEs. What still runs when this is dropped is killed.
pub(crate) struct Children(pub(crate) Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a job of `n_pes` PEs on the backend of the environment, and gives it to `bench`; all `works` are done in it.
///
/// The other PEs are this program again, which must call [`be_a_child`] first of all.
///
/// # Errors
///
/// [`BenchError`].
pub fn with_job(
    n_pes: usize,
    works: &[Work],
    bench: impl FnOnce(&mut dyn Watch) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = format!("tcp://{}", listener.local_addr()?);
    let (options, builder) = options()?;
    let config = builder
        .with_argument(Key::Pe, "pe", "0")
        .with_argument(Key::NPes, "n_pes", n_pes.to_string())
        .with_argument(Key::Rendezvous, "address", &address)
        .with_argument(Key::ListenerFd, "listener", inheritable(listener)?.to_string())
        .build()?;
    static LOG: Once = Once::new();
    LOG.call_once(|| demos::start_logging(&config, false));
    // Said to the children too, so that all come to the same.
    let backend = demos::choose(&config, &options)?.backend;
    let works_text = works.iter().map(Work::to_string).collect::<Vec<_>>().join(" ");
    let program = std::env::current_exe()?;
    let mut children = Children(Vec::new());
    for pe in 1..n_pes {
        let mut command = child(&program, &works_text, (pe, n_pes), &address);
        children.0.push(command.env(Key::Backend.variable(), backend).spawn()?);
    }
    demos::run(&config, &options, Leading { works, bench })??;
    for child in &mut children.0 {
        child.wait()?;
    }
    Ok(())
}

/// PE `pe` of `n_pes`, in the role `role` of [`be_a_child`], with nothing to read and nobody to tell.
pub(crate) fn child(program: &Path, role: &str, (pe, n_pes): (usize, usize), address: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env(CHILD, role)
        .env(Key::Pe.variable(), pe.to_string())
        .env(Key::NPes.variable(), n_pes.to_string())
        .env(Key::Rendezvous.variable(), address)
        .env_remove(Key::LocalPe.variable())
        .env_remove(Key::LocalNPes.variable())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// The listener as a number that no earlier job of this process had: each number is taken only once.
fn inheritable(listener: TcpListener) -> Result<i32, BenchError> {
    static NEXT: AtomicI32 = AtomicI32::new(64);
    let fd = rustix::io::fcntl_dupfd_cloexec(&listener, NEXT.load(Ordering::Relaxed))
        .map_err(std::io::Error::from)?
        .into_raw_fd();
    NEXT.store(fd + 1, Ordering::Relaxed);
    Ok(fd)
}

/// PE 0.
struct Leading<'w, F> {
    works: &'w [Work],
    bench: F,
}

impl<F: FnOnce(&mut dyn Watch) -> Result<(), BenchError>> demos::Job for Leading<'_, F> {
    type Output = Result<(), BenchError>;

    fn run<X: Transport>(self, transport: X) -> Self::Output {
        let pe = Arc::new(transport);
        let worked = Lead::new(&pe, self.works).map_err(BenchError::from).and_then(|mut lead| {
            (self.bench)(&mut lead)?;
            Ok(lead.dismiss()?)
        });
        team::end(&*pe, worked)
    }
}

/// Another PE.
struct Following(Vec<Work>);

impl demos::Job for Following {
    type Output = Result<(), WorkError>;

    fn run<X: Transport>(self, transport: X) -> Self::Output {
        let pe = Arc::new(transport);
        let worked = team::follow(&pe, &self.0);
        team::end(&*pe, worked)
    }
}

/// If this process is a child of a bench, does what PE 0 says until the end (or what is timed of a start), and answers true.
///
/// # Errors
///
/// [`BenchError`].
pub fn be_a_child() -> Result<bool, BenchError> {
    let Some(works) = std::env::var_os(CHILD) else { return Ok(false) };
    if works == start_up::ROLE {
        return start_up::be_a_pe().map(|()| true);
    }
    // Made by this program, so what cannot be read was not meant.
    let works = works.to_string_lossy().split_whitespace().filter_map(|work| work.parse().ok()).collect();
    let (options, builder) = options()?;
    demos::run(&builder.build()?, &options, Following(works))??;
    Ok(true)
}
