//! The data path: links to the peers, what is posted on them, and what completes.

mod atomics;
mod barrier;
mod bell;
mod completions;
mod layout;
mod link;
mod posting;
mod quiet;
mod request;
mod results;
mod stages;
mod transfers;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use transport_core::heap::HeapRange;
use transport_core::memory::Region;
use transport_core::transport::reached;
use transport_core::wait::Doorbell;
use transport_core::{Endpoint, Error, PeList, Result};

pub(crate) use barrier::NicFlags;
use bell::Bell;
use completions::Polled;
pub(crate) use layout::Layout;
pub(crate) use link::Link;
use quiet::Snapshots;
pub(crate) use request::MAX_LINKS;
pub(crate) use results::Answer;
use results::Results;
use stages::Stages;

use crate::nic::Gid;
use crate::verbs::{CompletionQueue, MemoryRegion, QueuePair, Remote};

/// What a PE that goes without `finalize` says last, before the number of the barrier that it has left.
pub(crate) const LEFT_AFTER: &str = ", after barrier ";

/// What an engine knows of a peer.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Where its heap begins, in its own addresses.
    pub(crate) address: u64,
    /// The key to it.
    pub(crate) rkey: u32,
    /// For messages: its address and host.
    pub(crate) place: String,
}

/// Makes connections that were not made at the start.
pub(crate) trait ConnectLate: Send + Sync {
    /// Connects all links to `pe`, on both sides.
    fn connect(&self, engine: &Engine, pe: usize) -> Result<()>;
}

/// What holds for all links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Requests that a link can have under way.
    pub(crate) depth: u64,
    /// Every so many requests of a busy link, one tells of its completion.
    pub(crate) signal_every: u64,
    /// Bytes that travel in the request itself.
    pub(crate) inline: u64,
    /// Bytes of the largest message.
    pub(crate) message: u64,
    /// Links to each peer.
    pub(crate) per_peer: usize,
}

/// The data path of one PE.
pub(crate) struct Engine {
    /// For messages: the backend's name.
    pub(crate) backend: &'static str,
    // In this order they are dropped: queue pairs first, so that no NIC writes to memory that is gone.
    links: Box<[Link]>,
    memory: Arc<MemoryRegion>,
    peers: Box<[Peer]>,
    endpoint: Endpoint,
    layout: Layout,
    limits: Limits,
    /// For messages: this PE's own NIC.
    place: String,
    /// Its port, and the GID that it was chosen with.
    port: u8,
    gid: (u32, Gid),
    /// For messages: how long an answer is waited for.
    patience: String,
    cq: Arc<CompletionQueue>,
    polled: Mutex<Polled>,
    results: Results,
    stages: Mutex<Stages>,
    snapshots: Snapshots,
    bell: Bell,
    /// A request has failed.
    failed: AtomicBool,
    /// Fences so far; with one link a peer they need nothing.
    fences: AtomicU64,
    fenced: Box<[AtomicU64]>,
    /// The link of a peer that a large put goes to next.
    turn: AtomicU64,
    late: OnceLock<Box<dyn ConnectLate>>,
    /// For each PE that went in good order, without `finalize`: the last barrier that it had left.
    left_after: Box<[OnceLock<u32>]>,
    started: Instant,
}

/// What an engine is made of.
pub(crate) struct Parts {
    pub(crate) endpoint: Endpoint,
    pub(crate) memory: Arc<MemoryRegion>,
    pub(crate) peers: Vec<Peer>,
    pub(crate) cq: Arc<CompletionQueue>,
    pub(crate) layout: Layout,
    pub(crate) limits: Limits,
    pub(crate) place: String,
    pub(crate) port: u8,
    pub(crate) gid: (u32, Gid),
    pub(crate) patience: String,
    pub(crate) backend: &'static str,
    /// The number of the first request of each link.
    pub(crate) first_number: u64,
}

impl Engine {
    /// With links that are not connected.
    pub(crate) fn new(parts: Parts) -> std::io::Result<Self> {
        let Parts {
            endpoint,
            memory,
            peers,
            cq,
            layout,
            limits,
            place,
            port,
            gid,
            patience,
            backend,
            first_number,
        } = parts;
        let n_links = peers.len() * limits.per_peer;
        let link = |index| Link::new(index, index / limits.per_peer, first_number);
        Ok(Self {
            links: (0..n_links).map(link).collect(),
            fenced: peers.iter().map(|_| AtomicU64::new(0)).collect(),
            left_after: peers.iter().map(|_| OnceLock::new()).collect(),
            snapshots: Snapshots::new(n_links),
            memory,
            peers: peers.into(),
            endpoint,
            layout,
            limits,
            place,
            port,
            gid,
            patience,
            backend,
            cq,
            polled: Mutex::default(),
            results: Results::default(),
            stages: Mutex::default(),
            bell: Bell::new()?,
            failed: AtomicBool::new(false),
            fences: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            late: OnceLock::new(),
            started: Instant::now(),
        })
    }

    /// Bytes that travel in the request itself.
    #[inline]
    pub(crate) fn inline_limit(&self) -> u64 {
        self.limits.inline
    }

    #[inline]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    #[inline]
    fn region(&self) -> &Region {
        self.memory.region()
    }

    /// All links to `pe`; the first takes what is small.
    #[inline]
    pub(crate) fn links_to(&self, pe: usize) -> &[Link] {
        let per_peer = self.limits.per_peer;
        &self.links[pe * per_peer..(pe + 1) * per_peer]
    }

    #[inline]
    pub(crate) fn first_link(&self, pe: usize) -> &Link {
        &self.links[pe * self.limits.per_peer]
    }

    #[inline]
    pub(crate) fn link(&self, index: usize) -> &Link {
        &self.links[index]
    }

    /// The PEs to which a link is not connected.
    pub(crate) fn unconnected(&self) -> PeList {
        self.links.iter().filter(|link| link.qp().is_none()).map(|link| link.pe).collect()
    }

    /// From now on, peers without a connection are connected by this.
    pub(crate) fn connects_late(&self, late: Box<dyn ConnectLate>) {
        let _ = self.late.set(late);
    }

    /// The queue pair of `link`, which is connected first if that was left for now.
    #[inline]
    fn queue_pair<'e>(&'e self, link: &'e Link, op: &'static str) -> Result<&'e QueuePair> {
        match link.qp() {
            Some(qp) => Ok(qp),
            None => self.connect_now(link, op),
        }
    }

    #[cold]
    fn connect_now<'e>(&'e self, link: &'e Link, op: &'static str) -> Result<&'e QueuePair> {
        if let Some(late) = self.late.get() {
            late.connect(self, link.pe)?;
        }
        link.qp().ok_or_else(|| {
            // Whoever connects, or fails to, says so first.
            let cause = "it was never connected; this is a defect of the library";
            Error::PeerLost { op, my_pe: self.endpoint.my_pe(), pe: link.pe, cause: cause.into() }
        })
    }

    /// Byte `offset` of the heap of `pe`, for its NIC.
    #[inline]
    fn remote(&self, pe: usize, offset: u64) -> Remote {
        let peer = &self.peers[pe];
        Remote { address: peer.address + offset, rkey: peer.rkey }
    }

    /// Byte `offset` of this PE's heap, for its own NIC.
    #[inline]
    fn local(&self, offset: u64) -> u64 {
        self.memory.address() + offset
    }

    /// Hears that `pe` is gone, and whether it says which barrier it had left before.
    pub(crate) fn peer_left(&self, pe: usize, cause: &str) {
        let said = cause.rsplit_once(LEFT_AFTER).and_then(|(_, epoch)| epoch.parse().ok());
        if let (Some(epoch), Some(left)) = (said, self.left_after.get(pe)) {
            let _ = left.set(epoch);
        }
        self.endpoint.failures().peer_lost(pe, cause);
        self.ring();
    }

    /// Whether `pe` is gone, and had left barrier `epoch`: it owes nothing to it.
    pub(crate) fn has_left(&self, pe: usize, epoch: u32) -> bool {
        self.left_after.get(pe).and_then(OnceLock::get).is_some_and(|&last| reached(last, epoch))
    }

    /// Makes ready to reach `pe`.
    pub(crate) fn prepare(&self, pe: usize) -> Result<()> {
        self.queue_pair(self.first_link(pe), "connect").map(drop)
    }
}

/// How long requests that are given up may take to come back.
const GIVE_UP: Duration = Duration::from_millis(200);

impl Drop for Engine {
    /// Gives up what is still under way before the queue pairs are destroyed: a device that is busy with a request may else
    /// keep its queue pair, and this process, for long.
    fn drop(&mut self) {
        let busy = |link: &&Link| link.qp().is_some() && !link.is_done(link.lock().next);
        let left: Vec<&Link> = self.links.iter().filter(busy).collect();
        for qp in left.iter().filter_map(|link| link.qp()) {
            if let Err(error) = qp.to_error() {
                tracing::debug!(%error, "requests could not be given up");
            }
        }
        let since = Instant::now();
        while left.iter().any(busy) && since.elapsed() < GIVE_UP {
            self.progress();
            std::thread::yield_now();
        }
    }
}

/// The first byte and the length of a range.
#[inline]
fn span(range: HeapRange) -> (u64, u64) {
    (range.offset(), range.len())
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (my_pe, n_pes) = (self.endpoint.my_pe(), self.endpoint.n_pes());
        write!(f, "Engine(PE {my_pe} of {n_pes}, {})", self.place)
    }
}
