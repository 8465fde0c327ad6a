//! Starting one PE.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::getpid;

use crate::become_pe::{Orders, own_program};
use crate::bind::Bind;
use crate::identity::JobIdentity;
use crate::lines::LineAssembler;
use crate::open_files::FormerLimit;
use crate::options::Options;
use crate::output::Target;
use crate::pe::{Pe, PeStream};

/// All that starting a PE takes.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// The file of the program.
    program: PathBuf,
    /// The program as the user wrote it, and its arguments.
    command: Vec<OsString>,
    /// What the PEs are told.
    pub(crate) identity: JobIdentity,
    /// The limit on open files that the PEs go back to.
    open_files: FormerLimit,
    /// Where the PEs run.
    bind: Bind,
    /// Whether lines get the number of their PE.
    prefix: bool,
}

impl Launcher {
    /// For PEs that run `program` as `options` say.
    pub(crate) fn new(
        options: &Options,
        program: PathBuf,
        identity: JobIdentity,
        open_files: FormerLimit,
    ) -> Self {
        let command =
            [options.program().to_owned()].into_iter().chain(options.arguments().iter().cloned()).collect();
        Self { program, command, identity, open_files, bind: options.bind, prefix: !options.no_prefix }
    }

    /// Starts `pe`, with the listening socket if it is the one that serves the rendezvous.
    ///
    /// Must be called on the main thread: the PE ends with the thread that started it.
    pub(crate) fn start(&self, pe: usize, listener: Option<TcpListener>) -> io::Result<(Pe, [PeStream; 2])> {
        let mut command = Command::new(own_program());
        command.arg0("shmrun");
        let orders = Orders {
            pe,
            launcher: getpid(),
            open_files: self.open_files,
            bind_to_core: self.bind == Bind::Core,
            has_rendezvous: listener.is_some(),
            program: self.program.clone(),
            command: self.command.clone(),
        };
        orders.write(&mut command);
        self.identity.give(pe, &mut command);
        // A group of its own: what the PE starts can be ended with it, and Ctrl-C at the terminal comes through us.
        command.process_group(0);
        command.stdin(listener.map_or_else(Stdio::null, |listener| OwnedFd::from(listener).into()));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let streams = [
            self.stream(pe, Target::Stdout, child.stdout.take().map(OwnedFd::from)),
            self.stream(pe, Target::Stderr, child.stderr.take().map(OwnedFd::from)),
        ];
        Ok((Pe::new(child), streams))
    }

    /// The launcher's end of one stream of `pe`.
    fn stream(&self, pe: usize, target: Target, source: Option<OwnedFd>) -> PeStream {
        let prefix = if self.prefix { format!("[{pe}] ").into_bytes() } else { Vec::new() };
        PeStream::new(source, target, LineAssembler::new(prefix))
    }
}
