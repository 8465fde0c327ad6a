//! From the start of a job's processes to the end of their first barrier.

use std::io::{Read, Write, stdout};
use std::net::TcpListener;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::process::Stdio;
use std::time::{Duration, Instant};

use transport_core::Transport;
use transport_core::config::Key;
use transport_core::wait::block_on;

use crate::job::{BenchError, Children, child, options};
use crate::team;

/// What a child does that is started for this: instead of works.
pub(crate) const ROLE: &str = "__start-up";

/// Starts a job of `n_pes` processes on the backend of the environment: the time from the start of the first process until PE 0
/// says that its first `barrier_all` has returned. What they need to end is not counted.
///
/// All PEs are this program again, which must call [`be_a_child`](crate::be_a_child) first of all.
///
/// # Errors
///
/// [`BenchError`], also if a PE fails.
pub fn start_up(n_pes: usize) -> Result<Duration, BenchError> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = format!("tcp://{}", listener.local_addr()?);
    let program = std::env::current_exe()?;
    let mut listener = Some(OwnedFd::from(listener));
    let mut children = Children(Vec::with_capacity(n_pes));

    let start = Instant::now();
    for pe in 0..n_pes {
        let mut command = child(&program, ROLE, (pe, n_pes), &address);
        if let Some(listener) = listener.take() {
            command.stdin(listener).stdout(Stdio::piped());
        }
        children.0.push(command.spawn()?);
    }
    let said = children.0.first_mut().and_then(|first| first.stdout.take());
    let said = said.map_or(Ok(0), |mut said| said.read(&mut [0]))?;
    let took = start.elapsed();

    for (pe, child) in children.0.iter_mut().enumerate() {
        let status = child.wait()?;
        if !status.success() {
            return Err(BenchError::Child { pe, n_pes, status });
        }
    }
    if said == 0 {
        let ended = "PE 0 ended without a word of its first barrier";
        return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, ended).into());
    }
    Ok(took)
}

/// A PE of such a job: one barrier. PE 0 has the rendezvous' listener as its standard input.
pub(crate) fn be_a_pe() -> Result<(), BenchError> {
    let (options, mut builder) = options()?;
    let my_pe = std::env::var(Key::Pe.variable()).unwrap_or_default();
    if my_pe == "0" {
        // As a number that a launcher could pass; the job takes it by that, and closes it.
        let listener = rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3).map_err(std::io::Error::from)?;
        builder = builder.with_argument(Key::ListenerFd, "listener", listener.into_raw_fd().to_string());
    }
    demos::run(&builder.build()?, &options, OneBarrier)?
}

/// The least that a job can do.
struct OneBarrier;

impl demos::Job for OneBarrier {
    type Output = Result<(), BenchError>;

    fn run<X: Transport>(self, transport: X) -> Self::Output {
        let met = block_on(transport.barrier_all()).map_err(BenchError::from).and_then(|()| {
            if transport.my_pe() == 0 {
                stdout().write_all(b".")?;
                stdout().flush()?;
            }
            Ok(())
        });
        team::end(&transport, met)
    }
}
