//! The processes of a bench and how PE 0 commands them.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use transport_core::bootstrap::{Bootstrap, BootstrapError, JoinSpec};
use transport_core::config::{ConfigError, JobConfig, Key};
use transport_core::graph::GraphError;
use transport_core::wait::block_on;
use transport_core::{Cmp, Error, SignalOp, SymSlice, Transport};
use transport_loopback::{Loopback, LoopbackError, Processes};

use crate::work::{Buffers, Work};

/// Set in the environment of a child of a bench.
const CHILD: &str = "BENCH_CHILD";
/// Bytes that a PE can hold of the largest work.
const DATA: usize = 16 << 20;

/// Why a bench's job failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A child or a socket.
    #[error("the bench's processes: {0}")]
    Io(#[from] std::io::Error),
    /// Its configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its rendezvous.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// Its memory.
    #[error(transparent)]
    Loopback(#[from] LoopbackError),
    /// Its buffers.
    #[error(transparent)]
    Transport(#[from] Error),
    /// Its work.
    #[error(transparent)]
    Work(#[from] GraphError),
}

/// A running job, seen from PE 0.
#[derive(Debug)]
pub struct Job {
    pe: Arc<Loopback>,
    desk: Desk,
    children: Vec<Child>,
    commands: u64,
}

/// Where commands arrive, and the buffers of the works.
#[derive(Debug, Clone, Copy)]
struct Desk {
    /// Kind, bytes, rounds.
    command: SymSlice<u64>,
    /// How many commands were given.
    given: SymSlice<u64>,
    buffers: Buffers,
}

impl Desk {
    async fn new(pe: &Loopback) -> Result<Self, Error> {
        let command = pe.calloc(3).await?;
        let given = pe.calloc(1).await?;
        let buffers = Buffers { data: pe.calloc(DATA).await?, signal: pe.calloc(1).await? };
        Ok(Self { command, given, buffers })
    }
}

impl Job {
    /// Starts `n_pes - 1` children, which are this program again and must call [`be_a_child`] first of all.
    ///
    /// # Errors
    ///
    /// [`BenchError`].
    pub fn start(n_pes: usize) -> Result<Self, BenchError> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = format!("tcp://{}", listener.local_addr()?);
        let program = std::env::current_exe()?;
        let child = |pe: usize| {
            Command::new(&program)
                .env(CHILD, "1")
                .env(Key::Pe.variable(), pe.to_string())
                .env(Key::NPes.variable(), n_pes.to_string())
                .env(Key::Rendezvous.variable(), &address)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
        };
        let children = (1..n_pes).map(child).collect::<Result<_, _>>()?;
        let config = JobConfig::builder()
            .with_argument(Key::Pe, "pe", "0")
            .with_argument(Key::NPes, "n_pes", n_pes.to_string())
            .with_argument(Key::Rendezvous, "address", &address)
            .build()?;
        let (pe, desk) = connect(&config, Some(listener))?;
        Ok(Self { pe, desk, children, commands: 0 })
    }

    /// This process's PE, number 0.
    #[must_use]
    pub fn pe(&self) -> &Arc<Loopback> {
        &self.pe
    }

    /// Symmetric bytes to put from and to while no other work is timed.
    #[must_use]
    pub fn data(&self) -> SymSlice<u8> {
        self.desk.buffers.data
    }

    /// How long `rounds` times of `work` take, all PEs doing it.
    ///
    /// # Errors
    ///
    /// [`GraphError`] of the work.
    pub fn time(&mut self, work: Work, rounds: u64) -> Result<Duration, GraphError> {
        self.commands += 1;
        let [kind, bytes] = work.to_words();
        self.pe.heap().write(self.desk.command, &[kind, bytes, rounds])?;
        for pe in 1..self.pe.n_pes() {
            let (command, given) = (self.desk.command, self.desk.given);
            self.pe.put_signal_nbi(command, command, given, SignalOp::Set(self.commands), pe)?;
        }
        block_on(work.perform(&self.pe, self.desk.buffers, rounds))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let ended = self.time(Work::Quit, 0).and_then(|_| Ok(block_on(self.pe.finalize())?));
        for child in &mut self.children {
            if ended.is_err() {
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}

/// If this process is a child of a bench, does what PE 0 says until the end, and answers true.
///
/// # Errors
///
/// [`BenchError`].
pub fn be_a_child() -> Result<bool, BenchError> {
    if std::env::var_os(CHILD).is_none() {
        return Ok(false);
    }
    let (pe, desk) = connect(&JobConfig::from_environment()?, None)?;
    block_on(async {
        for command in 1.. {
            pe.signal_wait_until(desk.given, Cmp::Ge, command).await?;
            let mut words = [0; 3];
            pe.heap().read(desk.command, &mut words)?;
            let [kind, bytes, rounds] = words;
            let work = Work::from_words([kind, bytes]);
            work.perform(&pe, desk.buffers, rounds).await?;
            if work == Work::Quit {
                break;
            }
        }
        Ok(pe.finalize().await?)
    })
    .map_err(BenchError::Work)?;
    Ok(true)
}

fn connect(config: &JobConfig, listener: Option<TcpListener>) -> Result<(Arc<Loopback>, Desk), BenchError> {
    let mut spec = JoinSpec::try_from(config)?;
    spec.backend = Loopback::BACKEND.to_owned();
    spec.listener = listener;
    block_on(async {
        let bootstrap = Bootstrap::join(spec).await?;
        // Children wait for commands as long as other benches take.
        let processes = Processes::new(config.heap_size.value.bytes()).timeout(Duration::from_secs(3600));
        let pe = processes.connect(bootstrap).await?;
        let desk = Desk::new(&pe).await?;
        Ok((Arc::new(pe), desk))
    })
}
