//! The thread that does a bootstrap's I/O, so that its callers need no particular runtime.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::thread::ThreadId;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::commands::Command;
use super::error::BootstrapError;
use super::join_spec::JoinSpec;
use super::{client, server};

/// Longer than the thread itself takes to close its connections.
const END_LIMIT: Duration = Duration::from_millis(3500);

/// A running thread; dropping it ends the thread and waits shortly for that.
pub(crate) struct BootstrapThread {
    commands: Option<mpsc::UnboundedSender<Command>>,
    ended: Mutex<Receiver<()>>,
    id: ThreadId,
}

/// How joining ends.
pub(crate) type Joined = oneshot::Receiver<Result<SocketAddr, BootstrapError>>;

impl BootstrapThread {
    pub(crate) fn start(spec: JoinSpec) -> Result<(Self, Joined), BootstrapError> {
        let my_pe = spec.my_pe;
        let failed = |error: std::io::Error| BootstrapError::Thread { my_pe, cause: error.to_string() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (commands, receiver) = mpsc::unbounded_channel();
        let (joined, outcome) = oneshot::channel();
        let (alive, ended) = std::sync::mpsc::channel::<()>();
        let body = move || {
            let _alive = alive;
            runtime.block_on(async {
                if my_pe == 0 {
                    server::run(spec, receiver, joined).await;
                } else {
                    client::run(spec, receiver, joined).await;
                }
            });
            // A name server that does not answer must not hold the end up.
            runtime.shutdown_background();
        };
        let thread =
            std::thread::Builder::new().name("shmem-bootstrap".to_owned()).spawn(body).map_err(failed)?;
        let id = thread.thread().id();
        Ok((Self { commands: Some(commands), ended: Mutex::new(ended), id }, outcome))
    }

    /// False if the thread is gone.
    pub(crate) fn command(&self, command: Command) -> bool {
        self.commands.as_ref().is_some_and(|commands| commands.send(command).is_ok())
    }
}

impl Drop for BootstrapThread {
    fn drop(&mut self) {
        self.commands = None;
        // One of its own callbacks may hold the last handle; it cannot wait for itself.
        if std::thread::current().id() != self.id
            && let Ok(ended) = self.ended.get_mut()
        {
            // Nothing is ever sent: this returns when the thread is gone, or takes too long.
            let _ = ended.recv_timeout(END_LIMIT);
        }
    }
}
