//! How a PE other than 0 finds the rendezvous and is let in: tries again until its deadline, for as long as it makes sense.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

use super::connection::{self, FrameReader, ReadError};
use super::error::BootstrapError;
use super::frame::MAX_FRAME;
use super::handshake::{ClientHandshake, ClientStep};
use super::join_spec::JoinSpec;
use super::member::with_margin;
use super::message::{Details, ToClient, ToServer};
use super::visitor::new_nonce;
use super::{file, resolve};
use crate::config::MAX_TIMEOUT;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
/// For one attempt: long enough for a few lost packets.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long a network that has no way there at all is given to get one: to wait for PE 0 does not help.
const NO_ROUTE_LIMIT: Duration = Duration::from_secs(5);
const TIMED_OUT: &str = "timed out (no host, or a firewall, at that address)";

/// A connection that has been let in.
pub(crate) struct Session {
    pub(crate) reader: FrameReader,
    pub(crate) writer: OwnedWriteHalf,
    pub(crate) address: SocketAddr,
    /// By when PE 0 must have said that all are there, or what is wrong.
    pub(crate) join_deadline: Instant,
}

/// How one attempt failed.
enum Failure {
    /// Another attempt may do better.
    Again(String),
    /// This host's network has no way there.
    NoRoute(String),
    /// The deadline came before the attempt's own end, so it says nothing of why.
    CutOff,
    /// It was let in nowhere and never will be.
    Final(BootstrapError),
}

/// Connects and shakes hands.
pub(crate) async fn connect(spec: &JoinSpec) -> Result<Session, BootstrapError> {
    let deadline = Instant::now() + with_margin(spec.timeout);
    let (mut pause, mut address) = (FIRST_PAUSE, spec.rendezvous.to_string());
    let (mut cause, mut no_route) = (TIMED_OUT.to_owned(), None);
    loop {
        let failure = match attempt(spec, deadline, &mut address).await {
            Ok(session) => return Ok(session),
            Err(failure) => failure,
        };
        match failure {
            Failure::Final(error) => return Err(error),
            Failure::Again(last) => (cause, no_route) = (last, None),
            Failure::NoRoute(last) => {
                cause = last;
                if no_route.get_or_insert_with(Instant::now).elapsed() >= NO_ROUTE_LIMIT {
                    let (my_pe, after) = (spec.my_pe, NO_ROUTE_LIMIT);
                    return Err(BootstrapError::Unreachable { my_pe, address, after, cause });
                }
            }
            Failure::CutOff => {}
        }
        let next = Instant::now() + pause;
        if next >= deadline {
            let (my_pe, after) = (spec.my_pe, with_margin(spec.timeout));
            return Err(BootstrapError::Unreachable { my_pe, address, after, cause });
        }
        tokio::time::sleep_until(next).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(spec: &JoinSpec, deadline: Instant, shown: &mut String) -> Result<Session, Failure> {
    let rendezvous = match &spec.rendezvous_file {
        // Looked at each time: it may be left over from an earlier job until PE 0 writes it anew.
        Some(path) if spec.rendezvous.port == 0 => file::read(path).map_err(Failure::Again)?,
        _ => spec.rendezvous.clone(),
    };
    *shown = rendezvous.to_string();
    let addresses = match resolve::resolve(spec.my_pe, &rendezvous, spec.ifname.as_ref()).await {
        Ok(addresses) => addresses,
        Err(error @ BootstrapError::Interface { .. }) => return Err(Failure::Final(error)),
        // The name may be registered at the moment when PE 0 starts.
        Err(error) => return Err(Failure::Again(error.to_string())),
    };
    let (mut causes, mut no_route) = (Vec::new(), true);
    for address in addresses.into_iter().map(resolve::connectable) {
        match open(spec, address, deadline).await? {
            Ok(stream) => match shake_hands(spec, stream, address, deadline).await {
                Err(Failure::Again(cause)) => {
                    no_route = false;
                    causes.push(cause);
                }
                end => return end,
            },
            Err(error) => {
                no_route &= error.kind() == io::ErrorKind::NetworkUnreachable;
                causes.push(format!("{address}: {}", explain(&error)));
            }
        }
    }
    let causes = causes.join("; ");
    Err(if no_route { Failure::NoRoute(causes) } else { Failure::Again(causes) })
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused (nothing listens there)".to_owned(),
        io::ErrorKind::TimedOut => TIMED_OUT.to_owned(),
        _ => error.to_string(),
    }
}

/// Opens a connection from the interface that was named, if one was.
async fn open(
    spec: &JoinSpec,
    address: SocketAddr,
    deadline: Instant,
) -> Result<io::Result<TcpStream>, Failure> {
    let source = match &spec.ifname {
        Some(interface) if !address.ip().is_loopback() => {
            let source = resolve::interface_address(spec.my_pe, interface).map_err(Failure::Final)?;
            // One of the other family could not reach it; the route decides then.
            (source.is_ipv4() == address.is_ipv4()).then_some(source)
        }
        _ => None,
    };
    let limit = Instant::now() + CONNECT_LIMIT;
    match tokio::time::timeout_at(limit.min(deadline), open_from(source, address)).await {
        Ok(connected) => Ok(connected),
        Err(_) if deadline < limit => Err(Failure::CutOff),
        Err(_) => Ok(Err(io::ErrorKind::TimedOut.into())),
    }
}

async fn open_from(source: Option<IpAddr>, address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(source) = source {
        socket.bind(SocketAddr::new(source, 0))?;
    }
    let stream = socket.connect(address).await?;
    if stream.local_addr()? == stream.peer_addr()? {
        // A port among those for clients, where nobody listens yet, can be connected to itself.
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(stream)
}

async fn shake_hands(
    spec: &JoinSpec,
    stream: TcpStream,
    address: SocketAddr,
    deadline: Instant,
) -> Result<Session, Failure> {
    let (my_pe, shown) = (spec.my_pe, address.to_string());
    let (mut reader, mut writer) = connection::split(stream);
    let exchange = exchange(spec, &mut reader, &mut writer, &shown);
    let time_left = match tokio::time::timeout_at(deadline, exchange).await {
        Ok(end) => end?,
        Err(_) => {
            let (doing, after) = ("to a connection".to_owned(), with_margin(spec.timeout));
            return Err(Failure::Final(BootstrapError::NoAnswer { my_pe, address: shown, doing, after }));
        }
    };
    reader.decoder.set_bound(MAX_FRAME);
    // PE 0 may have started later, so that its deadline is later than ours.
    let told = Instant::now() + with_margin(time_left.min(MAX_TIMEOUT));
    Ok(Session { reader, writer, address, join_deadline: deadline.max(told) })
}

async fn exchange(
    spec: &JoinSpec,
    reader: &mut FrameReader,
    writer: &mut OwnedWriteHalf,
    shown: &str,
) -> Result<Duration, Failure> {
    let my_pe = spec.my_pe;
    let details = Details::from(spec);
    let nonce = new_nonce().map_err(Failure::Again)?;
    let mut handshake = ClientHandshake::new(&details, spec.secret.as_ref(), nonce);
    let nonsense = |problem: String| {
        Failure::Final(BootstrapError::NotARendezvous { my_pe, address: shown.to_owned(), problem })
    };
    send(writer, &handshake.hello(), shown).await?;
    loop {
        let frame = match reader.next().await {
            Ok(frame) => frame,
            Err(ReadError::TooLong(error)) => return Err(nonsense(error.to_string())),
            // PE 0 closes what is half open when there is too much of it, or when it ends.
            Err(_) => {
                return Err(Failure::Again(format!("{shown}: the connection was closed without an answer")));
            }
        };
        let message = ToClient::decode(frame).map_err(|error| nonsense(error.to_string()))?;
        match handshake.on_message(message) {
            ClientStep::Reply(reply) => send(writer, &reply, shown).await?,
            ClientStep::Accepted { time_left } => return Ok(time_left),
            ClientStep::Nonsense(problem) => return Err(nonsense(problem.to_owned())),
            ClientStep::Refused(reason) => {
                return Err(Failure::Final(BootstrapError::Refused {
                    my_pe,
                    address: shown.to_owned(),
                    reason,
                }));
            }
        }
    }
}

async fn send(writer: &mut OwnedWriteHalf, message: &ToServer, shown: &str) -> Result<(), Failure> {
    let frame = message.encode().map_err(|error| Failure::Again(error.to_string()))?;
    writer.write_all(&frame).await.map_err(|error| Failure::Again(format!("{shown}: {error}")))
}
