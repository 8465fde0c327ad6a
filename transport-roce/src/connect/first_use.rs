//! Connects a pair of PEs when one of them first needs it: it asks the other over TCP, who answers from a thread of its own.
//!
//! Both may ask at the same time. The queue pairs of a pair are made once on each side, whoever asks first, so that question
//! and answer always speak of the same two. A side sends only when it knows that the other receives, or its first packet would
//! be lost: who asked, when the answer is there; who answered, when the other says so.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::{Buf, BufMut};
use transport_core::{Error, Result};

use super::connector::{Connector, Unconnected};
use super::wire::End;
use crate::engine::{ConnectLate, Engine};
use crate::error::RoceError;
use crate::nic::towards;
use crate::verbs::{QueuePair, VerbsError};

/// Begins every question.
const MAGIC: u32 = 0x5348_4d43;
/// Ends the talk: who asked receives now.
const READY: [u8; 1] = [1];
/// How long a stranger may take to say something.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest text of a refusal.
const MAX_TEXT: usize = 4096;

/// Where this PE will answer.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Listener {
    /// On the address by which this PE reaches the rendezvous; on a port of `ports`, if the NIC has its own.
    pub(crate) fn open(rendezvous: SocketAddr, ports: Option<RangeInclusive<u16>>) -> io::Result<Self> {
        let ip = towards(rendezvous).unwrap_or(rendezvous.ip());
        let socket = match ports {
            None => TcpListener::bind((ip, 0))?,
            Some(ports) => bind_one_of(ip, ports)?,
        };
        let address = SocketAddr::new(ip, socket.local_addr()?.port());
        Ok(Self { socket, address })
    }
}

/// The first port that is free. Those that others hold are no failure while there is one.
fn bind_one_of(ip: IpAddr, ports: RangeInclusive<u16>) -> io::Result<TcpListener> {
    let (first, last) = (*ports.start(), *ports.end());
    for port in ports {
        match TcpListener::bind((ip, port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            bound => return bound,
        }
    }
    let busy = format!("all TCP ports from {first} to {last} of {ip} are in use, see `ss -ltn`");
    Err(io::Error::new(io::ErrorKind::AddrInUse, busy))
}

/// Asks, and answers, for one PE.
pub(crate) struct FirstUse(Arc<Shared>);

struct Shared {
    my_pe: usize,
    /// Who does not know it is of another job.
    token: u64,
    per_peer: usize,
    connector: Arc<Connector>,
    engine: Weak<Engine>,
    pairs: Box<[Pair]>,
    own: SocketAddr,
    peers: Vec<Option<SocketAddr>>,
    stop: AtomicBool,
}

/// This PE and one other.
#[derive(Default)]
struct Pair {
    /// Held by who asks, so that others wait for his answer.
    asking: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ends: Vec<End>,
    unconnected: Vec<Unconnected>,
    /// What an attempt made: the queue pairs that receive, until they are the links'. What it took is known to the other side,
    /// so there is no second attempt.
    connected: Option<std::result::Result<Vec<QueuePair>, VerbsError>>,
}

impl FirstUse {
    /// Begins to answer. `peers` are the addresses where the others do.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        connector: Arc<Connector>,
        listener: Listener,
        peers: Vec<Option<SocketAddr>>,
        (token, per_peer): (u64, usize),
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            my_pe: engine.endpoint().my_pe(),
            token,
            per_peer,
            connector,
            engine: Arc::downgrade(engine),
            pairs: peers.iter().map(|_| Pair::default()).collect(),
            own: listener.address,
            peers,
            stop: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("shmem-first-use".into())
            .spawn(move || serving.serve(&listener.socket))?;
        Ok(Self(shared))
    }
}

impl Drop for FirstUse {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect_timeout(&self.0.own, PATIENCE);
    }
}

impl ConnectLate for FirstUse {
    fn connect(&self, engine: &Engine, pe: usize) -> Result<()> {
        let shared = &*self.0;
        let _asking = shared.pairs[pe].asking.lock().unwrap_or_else(PoisonError::into_inner);
        if engine.first_link(pe).qp().is_some() {
            return Ok(());
        }
        let started = Instant::now();
        shared.ask(engine, pe).map_err(|cause| {
            let address = shared.peers[pe].map_or_else(|| "no address".to_owned(), |at| at.to_string());
            let late = RoceError::LateConnect { my_pe: shared.my_pe, pe, address, cause };
            Error::backend(engine.backend, late)
        })?;
        tracing::debug!(my_pe = shared.my_pe, pe, took = ?started.elapsed(), "connected on first use");
        Ok(())
    }
}

impl Shared {
    /// Asks `pe` for its ends, and connects.
    fn ask(&self, engine: &Engine, pe: usize) -> std::result::Result<(), String> {
        let own = self.ends_for(pe).map_err(|error| error.to_string())?;
        let address = self.peers[pe].ok_or("it does not answer who connects later")?;
        let limit = engine.endpoint().timeout().max(Duration::from_millis(1));
        let (theirs, mut stream) =
            self.exchange(address, &own, limit).map_err(|error| error.to_string())??;
        self.connect(pe, &theirs).map_err(|error| error.to_string())?;
        // If it does not hear of it, it asks itself.
        let _ = stream.write_all(&READY);
        self.hand_over(engine, pe);
        Ok(())
    }

    fn exchange(
        &self,
        address: SocketAddr,
        own: &[End],
        limit: Duration,
    ) -> io::Result<std::result::Result<(Vec<End>, TcpStream), String>> {
        let mut stream = TcpStream::connect_timeout(&address, limit)?;
        patient(&stream, limit)?;
        let mut question = Vec::with_capacity(64);
        question.put_u32_le(MAGIC);
        question.put_u64_le(self.token);
        question.put_u32_le(self.my_pe as u32);
        question.put_u8(own.len() as u8);
        own.iter().for_each(|end| end.write(&mut question));
        stream.write_all(&question)?;
        let mut verdict = [0];
        stream.read_exact(&mut verdict)?;
        if verdict != [0] {
            let mut text = String::new();
            stream.take(MAX_TEXT as u64).read_to_string(&mut text)?;
            return Ok(Err(text));
        }
        Ok(Ok((read_ends(&mut stream, own.len())?, stream)))
    }

    /// Answers until told to stop.
    fn serve(self: Arc<Self>, socket: &TcpListener) {
        loop {
            let accepted = socket.accept();
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let (stream, from) = match accepted {
                Ok(accepted) => accepted,
                // Who knocked went away, or there is no descriptor for him now: others must still be let in.
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection for a first use");
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
            };
            let shared = Arc::clone(&self);
            // On a thread of its own, so that one who says nothing keeps nobody else waiting.
            let answering = std::thread::Builder::new().name("shmem-first-use".into()).spawn(move || {
                if let Err(error) = shared.answer(stream) {
                    tracing::debug!(%error, %from, "a connection for a first use came to nothing");
                }
            });
            if let Err(error) = answering {
                tracing::warn!(%error, "no thread to answer who connects on first use");
            }
        }
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        patient(&stream, PATIENCE)?;
        let mut head = [0; 17];
        stream.read_exact(&mut head)?;
        let mut from = &head[..];
        let (magic, token) = (from.get_u32_le(), from.get_u64_le());
        let (pe, count) = (from.get_u32_le() as usize, usize::from(from.get_u8()));
        if (magic, token) != (MAGIC, self.token) || pe >= self.pairs.len() || count != self.per_peer {
            // It knows nothing of this job, so it learns nothing either.
            return Err(io::Error::other("not of this job"));
        }
        let theirs = read_ends(&mut stream, count)?;
        let engine = self.engine.upgrade().ok_or_else(|| io::Error::other("this PE has left the job"))?;
        let connected = self.ends_for(pe).and_then(|own| self.connect(pe, &theirs).map(|()| own));
        match connected {
            Ok(own) => {
                let mut answer = vec![0];
                own.iter().for_each(|end| end.write(&mut answer));
                stream.write_all(&answer)?;
                stream.read_exact(&mut [0])?;
                self.hand_over(&engine, pe);
                Ok(())
            }
            Err(error) => {
                let mut answer = vec![1];
                answer.extend_from_slice(error.to_string().as_bytes());
                answer.truncate(MAX_TEXT);
                stream.write_all(&answer)
            }
        }
    }

    /// This side's ends of the connections to `pe`, which are made when first asked for.
    fn ends_for(&self, pe: usize) -> std::result::Result<Vec<End>, VerbsError> {
        let mut state = self.pairs[pe].state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.ends.len() < self.per_peer {
            let made = self.connector.create()?;
            state.ends.push(made.end());
            state.unconnected.push(made);
        }
        Ok(state.ends.clone())
    }

    /// Connects this side to `theirs`, unless it is. From then on it receives.
    fn connect(&self, pe: usize, theirs: &[End]) -> std::result::Result<(), VerbsError> {
        let mut state = self.pairs[pe].state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.connected.is_none() {
            let unconnected = std::mem::take(&mut state.unconnected);
            let connect = |(own, other): (Unconnected, &End)| self.connector.connect(own, pe, *other);
            state.connected = Some(unconnected.into_iter().zip(theirs).map(connect).collect());
        }
        match &state.connected {
            Some(Err(error)) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// The other side receives: from now on this one sends.
    fn hand_over(&self, engine: &Engine, pe: usize) {
        let mut state = self.pairs[pe].state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Ok(made)) = &mut state.connected {
            for (link, qp) in engine.links_to(pe).iter().zip(made.drain(..)) {
                link.connected(qp);
            }
        }
    }
}

fn patient(stream: &TcpStream, limit: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    stream.set_nodelay(true)
}

fn read_ends(from: &mut TcpStream, count: usize) -> io::Result<Vec<End>> {
    let mut bytes = vec![0; count * End::LEN];
    from.read_exact(&mut bytes)?;
    let mut bytes = &bytes[..];
    Ok((0..count).map_while(|_| End::read(&mut bytes)).collect())
}
