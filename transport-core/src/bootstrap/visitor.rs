//! One connection to PE 0, from accept to close: it is anybody's until its handshake is done.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::connection::{self, FrameReader, LINGER};
use super::coordinator::ConnId;
use super::frame::MAX_FRAME;
use super::handshake::{ServerHandshake, ServerStep};
use super::message::{Details, Nonce, Proof, ToClient, ToServer};
use crate::config::Secret;

/// How long a connection may take for its handshake.
pub(crate) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);

/// What every connection must know of the job.
pub(crate) struct House {
    pub(crate) job_id: String,
    pub(crate) secret: Option<Secret>,
}

/// What a connection tells PE 0's loop.
pub(crate) enum News {
    /// It is of the job.
    Joining { details: Details, proof: Option<Proof> },
    /// It said something.
    Message(ToServer),
    /// Nothing more comes from it.
    Closed(String),
    /// It was turned away.
    Refused(String),
    /// Its task is over.
    Ended,
}

/// Where the news go, with the connection's number.
#[derive(Clone)]
pub(crate) struct NewsDesk {
    pub(crate) conn: ConnId,
    pub(crate) sender: mpsc::Sender<(ConnId, News)>,
}

impl NewsDesk {
    async fn tell(&self, news: News) {
        // That nobody listens means that PE 0 ends; this task will be ended too.
        drop(self.sender.send((self.conn, news)).await);
    }
}

/// Serves a connection to its end.
pub(crate) async fn serve(
    stream: TcpStream,
    house: Arc<House>,
    desk: NewsDesk,
    outbox: mpsc::UnboundedReceiver<Bytes>,
) {
    let (mut reader, mut writer) = connection::split(stream);
    let handshake = shake_hands(&mut reader, &mut writer, &house);
    match tokio::time::timeout(HANDSHAKE_LIMIT, handshake).await {
        Ok(Ok((details, proof))) => {
            reader.decoder.set_bound(MAX_FRAME);
            desk.tell(News::Joining { details, proof }).await;
            converse(reader, writer, &desk, outbox).await;
        }
        Ok(Err(Stranger::Refused(reason))) => {
            desk.tell(News::Refused(reason.clone())).await;
            let message = ToClient::Refused { reason };
            if send(&mut writer, &message).await.is_ok() && writer.shutdown().await.is_ok() {
                reader.drain().await;
            }
        }
        Ok(Err(Stranger::LeftAtChallenge)) => {
            let reason = "it left when asked who it is; has only one side a secret (SHMEM_SECRET)?";
            desk.tell(News::Refused(reason.to_owned())).await;
        }
        Ok(Err(Stranger::Rubbish(what))) => tracing::debug!("bootstrap: dropped a connection: {what}"),
        Err(_) => tracing::debug!("bootstrap: dropped a connection: silent for {HANDSHAKE_LIMIT:?}"),
    }
    desk.tell(News::Ended).await;
}

enum Stranger {
    /// Speaks the protocol but does not belong here.
    Refused(String),
    LeftAtChallenge,
    /// Does not speak the protocol.
    Rubbish(String),
}

async fn shake_hands(
    reader: &mut FrameReader,
    writer: &mut OwnedWriteHalf,
    house: &House,
) -> Result<(Details, Option<Proof>), Stranger> {
    let nonce = new_nonce().map_err(Stranger::Refused)?;
    let mut handshake = ServerHandshake::new(&house.job_id, house.secret.as_ref(), nonce);
    let mut challenged = false;
    loop {
        let frame = match reader.next().await {
            Ok(frame) => frame,
            Err(_) if challenged => return Err(Stranger::LeftAtChallenge),
            Err(error) => return Err(Stranger::Rubbish(error.to_string())),
        };
        let message = ToServer::decode(frame).map_err(|error| Stranger::Rubbish(error.to_string()))?;
        match handshake.on_message(message) {
            ServerStep::Reply(reply) => {
                send(writer, &reply).await.map_err(Stranger::Rubbish)?;
                challenged = true;
            }
            ServerStep::Joined { details, proof } => return Ok((details, proof)),
            ServerStep::Refuse(reason) => return Err(Stranger::Refused(reason)),
        }
    }
}

/// A nonce that nobody can foresee.
pub(crate) fn new_nonce() -> Result<Nonce, String> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce)
        .map(|()| nonce)
        .map_err(|error| format!("no random numbers on this host ({error}); try again"))
}

async fn send(writer: &mut OwnedWriteHalf, message: &ToClient) -> Result<(), String> {
    let frame = message.encode().map_err(|error| error.to_string())?;
    writer.write_all(&frame).await.map_err(|error| error.to_string())
}

/// Carries messages both ways until either side ends.
async fn converse(
    mut reader: FrameReader,
    writer: OwnedWriteHalf,
    desk: &NewsDesk,
    outbox: mpsc::UnboundedReceiver<Bytes>,
) {
    let mut writing = tokio::spawn(connection::write_frames(writer, outbox));
    let mut written = None;
    let mut heard_all = false;
    loop {
        let patience = written.map_or_else(|| Instant::now() + LINGER, |at: Instant| at + LINGER);
        tokio::select! {
            frame = reader.next(), if !heard_all => {
                let message = frame
                    .map_err(|error| error.to_string())
                    .and_then(|frame| ToServer::decode(frame).map_err(|error| format!("it {error}")));
                match message {
                    Ok(message) => desk.tell(News::Message(message)).await,
                    Err(cause) => {
                        heard_all = true;
                        desk.tell(News::Closed(cause)).await;
                    }
                }
            }
            _ = &mut writing, if written.is_none() => written = Some(Instant::now()),
            () = tokio::time::sleep_until(patience), if written.is_some() => break,
        }
        if heard_all {
            // Nobody reads there any more: what is not written now never will be.
            writing.abort();
            break;
        }
    }
}
