//! The loop of a PE other than 0: one connection to PE 0, and what is said over it.

use std::net::SocketAddr;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::commands::{Command, Commands};
use super::connect::{self, Session};
use super::connection::{self, FrameReader, LINGER};
use super::error::BootstrapError;
use super::join_spec::JoinSpec;
use super::member::Member;
use super::message::{ToClient, ToServer};
use super::server::sleep_until;

struct Client {
    member: Member,
    link: Option<Link>,
    commands: Commands,
    aborted: bool,
}

struct Link {
    reader: FrameReader,
    outbox: mpsc::UnboundedSender<Bytes>,
    writing: JoinHandle<()>,
}

/// Takes part in the job until its [`Bootstrap`](super::Bootstrap) is dropped; says once how joining ended.
pub(crate) async fn run(
    spec: JoinSpec,
    mut commands: Commands,
    joined: oneshot::Sender<Result<SocketAddr, BootstrapError>>,
) {
    let session = tokio::select! {
        session = connect::connect(&spec) => session,
        // Before it has joined there is nobody to give commands: this is the end of the channel.
        _ = commands.recv() => return,
    };
    let Session { reader, writer, address, join_deadline } = match session {
        Ok(session) => session,
        Err(error) => return drop(joined.send(Err(error))),
    };
    let (outbox, queue) = mpsc::unbounded_channel();
    let writing = tokio::spawn(connection::write_frames(writer, queue));
    let link = Some(Link { reader, outbox, writing });
    let member = Member::new(spec.my_pe, spec.n_pes, address.to_string(), spec.timeout);
    let mut client = Client { member, link, commands, aborted: false };
    let outcome = loop {
        if let Some(outcome) = client.member.joined() {
            break outcome;
        }
        if Instant::now() >= join_deadline {
            client.member.fail(BootstrapError::NoAnswer {
                my_pe: spec.my_pe,
                address: address.to_string(),
                doing: "whether all have joined".to_owned(),
                after: spec.timeout,
            });
        } else if !client.step(Some(join_deadline)).await {
            return client.close().await;
        }
    };
    if let Err(error) = outcome {
        client.close().await;
        return drop(joined.send(Err(error)));
    }
    drop(joined.send(Ok(address)));
    while client.step(None).await {}
    client.close().await;
}

impl Client {
    /// Waits for one thing to happen, at most until `limit`, and does what follows; false at the end of the commands.
    async fn step(&mut self, limit: Option<Instant>) -> bool {
        let wake = limit.into_iter().chain(self.member.deadline().map(Instant::from_std)).min();
        tokio::select! {
            () = sleep_until(wake) => self.member.tick(std::time::Instant::now()),
            message = next_message(&mut self.link) => self.on_message(message),
            command = self.commands.recv() => match command {
                Some(command) => self.on_command(command),
                None => return false,
            },
        }
        true
    }

    fn on_message(&mut self, message: Result<ToClient, String>) {
        let handled: Result<(), String> = message.and_then(|message| {
            self.member.on_message(message).map_err(|problem: &str| format!("it {problem}"))
        });
        if let Err(cause) = handled {
            self.member.on_closed(&cause);
            self.link = None;
        } else if self.member.has_left() {
            // PE 0 waits for this before its own goodbye.
            self.link = None;
        }
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Call { call, payload, reply } => {
                if let Some(message) = self.member.begin(call, payload, reply, std::time::Instant::now()) {
                    self.send(&message);
                }
            }
            Command::Abort(reason) => {
                self.aborted = true;
                self.send(&ToServer::Abort { reason });
            }
            Command::OnPeerLost(hook) => self.member.add_hook(hook),
        }
    }

    fn send(&self, message: &ToServer) {
        match message.encode() {
            // A queue whose writer is gone belongs to a connection whose end the reader will report.
            Ok(frame) => drop(self.link.as_ref().map(|link| link.outbox.send(frame))),
            Err(error) => tracing::error!("bootstrap: cannot send a message: it {error}"),
        }
    }

    /// Sends what has been said, then closes.
    async fn close(self) {
        let Some(Link { mut reader, outbox, writing }) = self.link else { return };
        drop(outbox);
        drop(tokio::time::timeout(LINGER, writing).await);
        if self.aborted {
            reader.drain().await;
        }
    }
}

async fn next_message(link: &mut Option<Link>) -> Result<ToClient, String> {
    let Some(link) = link else { return std::future::pending().await };
    let frame = link.reader.next().await.map_err(|error| error.to_string())?;
    ToClient::decode(frame).map_err(|error| format!("it {error}"))
}
