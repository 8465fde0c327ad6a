//! `Fabric`: joins this process to a job over RoCE NICs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use transport_core::bootstrap::Bootstrap;
use transport_core::heap::SymHeap;
use transport_core::memory::Region;
use transport_core::transport::Dissemination;
use transport_core::wait::{Doorbell, WaitPolicy, Waiter, on_thread};
use transport_core::{Endpoint, Transport, host};

use crate::checks::before_start;
use crate::connect::{
    Connector, End, FirstUse, Introduction, Listener, Offer, Unconnected, Wanted, connect_all, random,
};
use crate::engine::{Engine, Layout, Limits, MAX_LINKS, Parts, Peer};
use crate::error::RoceError;
use crate::introductions::{check_alike, read_introductions};
use crate::kind::NicKind;
use crate::nic::{Gid, agree};
use crate::open::{Nic, open_nic};
use crate::roce::Roce;
use crate::settings::{ConnectMode, MAX_RD_ATOMIC, RoceSettings};
use crate::shared_nic::check_sharing;
use crate::verbs::{Access, CompletionQueue, MemoryRegion, Mtu, ProtectionDomain, QueueSizes};

/// Bytes that travel in the request itself, where the device takes so many.
const INLINE: u32 = 128;
/// With fewer requests under way a queue pair is of no use.
const FEWEST_REQUESTS: u32 = 16;
/// The largest message, whatever a device says: lengths of requests have 32 bits.
const LARGEST_MESSAGE: u64 = 1 << 30;

/// The same for devices without hardware: Soft-RoCE is told that a message has arrived only at its end, and gives up after so many
/// losses in one message, so that a large one would not survive a network that loses packets.
const LARGEST_SOFTWARE_MESSAGE: u64 = 64 << 10;

type Result<T> = std::result::Result<T, RoceError>;

/// Joins this process to its job over RoCE NICs, after a rendezvous has been made.
///
/// It opens the NIC that the [`RoceSettings`] and the facts point to, registers the heap, and connects to all peers; at the
/// end it makes a first barrier over the NICs, so that a network through which nothing gets is found here.
///
/// ```no_run
/// use transport_core::bootstrap::{Bootstrap, JoinSpec};
/// use transport_core::config::JobConfig;
/// use transport_core::{Transport, wait::block_on};
/// use transport_roce::{Fabric, Roce, RoceSettings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = JobConfig::from_environment()?;
/// let pe = block_on(async {
///     let mut spec = JoinSpec::try_from(&config)?;
///     spec.backend = Roce::BACKEND.to_owned();
///     let bootstrap = Bootstrap::join(spec).await?;
///     let settings = RoceSettings::builder().build()?;
///     let fabric = Fabric::new(config.heap_size.value.bytes(), settings).timeout(config.timeout.value);
///     Ok::<_, Box<dyn std::error::Error>>(fabric.connect(bootstrap).await?)
/// })?;
/// block_on(pe.barrier_all())?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Fabric {
    kind: &'static NicKind,
    heap_size: u64,
    settings: RoceSettings,
    timeout: Duration,
    policy: Option<WaitPolicy>,
    first_epoch: u32,
    first_number: u64,
}

impl Fabric {
    /// Over any RoCE NIC, with `heap_size` bytes for users in each PE's heap (64 KiB to 40 GiB, the same on all).
    pub fn new(heap_size: u64, settings: RoceSettings) -> Self {
        Self::of_kind(&NicKind::ROCE, heap_size, settings)
    }

    /// The same over NICs of one kind, which is then the backend that the PEs must agree on.
    pub fn of_kind(kind: &'static NicKind, heap_size: u64, settings: RoceSettings) -> Self {
        let timeout = Endpoint::DEFAULT_TIMEOUT;
        Self { kind, heap_size, settings, timeout, policy: None, first_epoch: 0, first_number: 0 }
    }

    /// The limit of every wait, this call's too.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How waits spin, yield and sleep; by default by PEs and cores.
    pub fn wait_policy(mut self, policy: WaitPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The number that the barriers start after, and that of the first request of each link, the same on all PEs: to test
    /// what happens when they wrap.
    pub fn first_numbers(mut self, epoch: u32, request: u64) -> Self {
        (self.first_epoch, self.first_number) = (epoch, request);
        self
    }

    /// Collective: opens, registers, connects, and gives this PE's transport.
    ///
    /// # Errors
    ///
    /// [`RoceError`]: libibverbs or a NIC is missing or cannot be used, the NICs of the PEs do not fit each other, the heap
    /// cannot be had or registered, a peer cannot be reached, the rendezvous failed.
    pub async fn connect(self, bootstrap: Bootstrap) -> Result<Roce> {
        match self.join(&bootstrap).await {
            Ok((engine, policy)) => {
                let bell: Arc<dyn Doorbell> = engine.clone();
                let roce =
                    Roce::new(self.kind, engine, self.first_epoch, Waiter::new(bell, policy), bootstrap);
                let my_pe = roce.my_pe();
                match roce.barrier_all().await {
                    Ok(()) => Ok(roce),
                    Err(source) => {
                        let error = RoceError::FirstBarrier { my_pe, source };
                        roce.abort(&error.to_string());
                        Err(error)
                    }
                }
            }
            Err(error) => {
                // The others need not wait for the deadline to hear of it.
                bootstrap.abort(&error.to_string());
                Err(error)
            }
        }
    }

    async fn join(&self, bootstrap: &Bootstrap) -> Result<(Arc<Engine>, WaitPolicy)> {
        let (my_pe, n_pes) = (bootstrap.my_pe(), bootstrap.n_pes());
        let deadline = Instant::now() + self.timeout;
        if !(SymHeap::MIN_SIZE..=SymHeap::MAX_SIZE).contains(&self.heap_size) {
            return Err(RoceError::HeapSize { my_pe, size: self.heap_size });
        }
        let system = |step| move |source| RoceError::System { my_pe, step, source };

        let (kind, settings, address) = (self.kind, self.settings.clone(), bootstrap.address());
        let len = SymHeap::region_len(n_pes, self.heap_size, Layout::bytes(n_pes));
        let opening = on_thread("shmem-nic", move || {
            before_start(kind, len).map_err(|(what, remedy)| RoceError::Unfit { my_pe, what, remedy })?;
            open_nic(kind, my_pe, &settings, Some(address))
        });
        let nic = opening.map_err(system("start a thread"))?.await.map_err(system("open the NIC"))??;
        let first_use = self.settings.connect.value == ConnectMode::OnFirstUse;
        let listener = first_use.then(|| Listener::open(address, self.kind.ports.clone())).transpose();
        let listener = listener.map_err(system("listen for who connects on first use"))?;

        let said = bootstrap.allgather(self.introduce(&nic, first_use).encode()).await?;
        let peers = read_introductions(my_pe, &said)?;
        check_alike(my_pe, &peers)?;
        check_sharing(self.kind, my_pe, &peers)?;
        self.check_memory(my_pe, n_pes, &peers)?;
        let local_pes = peers.iter().filter(|peer| peer.boot == peers[my_pe].boot).count();

        let made = self.clone();
        let listens_at = listener.as_ref().map(|listener| listener.address);
        let making = on_thread("shmem-nic", move || made.make(my_pe, nic, peers));
        let made =
            making.map_err(system("start a thread"))?.await.map_err(system("make the queue pairs"))??;
        let offers = bootstrap.allgather(made.offer(listens_at).encode()).await?;
        let (token, per_peer) = (made.connector.peers[0].token, made.limits.per_peer);
        let (offers, engine) = self.engine(my_pe, &made, &offers)?;

        let (connector, listeners) = (Arc::new(made.connector), offers.iter().map(|o| o.listener).collect());
        if let Some(listener) = listener {
            let late =
                FirstUse::start(&engine, Arc::clone(&connector), listener, listeners, (token, per_peer));
            engine.connects_late(Box::new(late.map_err(system("answer who connects on first use"))?));
        }
        let (wanted, limit) = (wanted(my_pe, made.unconnected, &offers, per_peer), self.timeout);
        let connecting = {
            let (engine, connector) = (Arc::clone(&engine), Arc::clone(&connector));
            on_thread("shmem-nic", move || connect_all(&engine, &connector, wanted, (deadline, limit)))
        };
        connecting.map_err(system("start a thread"))?.await.map_err(system("connect"))??;
        // Nobody sends before everybody can receive.
        bootstrap.barrier().await?;

        let told = Arc::downgrade(&engine);
        bootstrap.on_peer_lost(move |lost| {
            if let Some(engine) = told.upgrade() {
                engine.peer_left(lost.pe, &lost.cause);
            }
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok((engine, self.policy.unwrap_or_else(|| wait_policy(local_pes, cores))))
    }

    fn introduce(&self, nic: &Nic, first_use: bool) -> Introduction {
        let answers = nic.attributes.max_qp_rd_atom.min(MAX_RD_ATOMIC.into());
        Introduction {
            host: host::node_name(),
            boot: host::name_of_boot(),
            device: nic.choice.device.clone(),
            port: nic.choice.port,
            gid: nic.choice.gid.gid.0,
            gid_kind: nic.choice.gid.kind as u8,
            mtu: nic.choice.mtu_bytes,
            reads: u8::try_from(answers).unwrap_or(MAX_RD_ATOMIC),
            per_peer: self.settings.qps_per_peer.value,
            first_use,
            token: random(),
        }
    }

    /// The NIC writes to all of each heap, so that all heaps of a host are in its memory at once.
    fn check_memory(&self, my_pe: usize, n_pes: usize, peers: &[Introduction]) -> Result<()> {
        let mine = &peers[my_pe];
        let pes = peers.iter().filter(|peer| peer.boot == mine.boot).count();
        let each = SymHeap::region_len(n_pes, self.heap_size, Layout::bytes(n_pes));
        let needed = each.saturating_mul(pes as u64);
        for (available, limit) in host::memory_limits() {
            if needed > available {
                let host = mine.host.clone();
                return Err(RoceError::HeapsLargerThanMemory { my_pe, pes, host, needed, available, limit });
            }
        }
        Ok(())
    }

    /// All that this PE offers: registered memory, and queue pairs for those that are connected at the start.
    fn make(&self, my_pe: usize, nic: Nic, peers: Vec<Introduction>) -> Result<Made> {
        let verbs = |source| RoceError::Verbs { my_pe, source };
        let (n_pes, per_peer) = (peers.len(), usize::from(self.settings.qps_per_peer.value));
        let nics: Vec<_> = peers.iter().enumerate().map(|(pe, peer)| peer.nic(pe)).collect();
        let mtus = agree(my_pe, &nics).map_err(|source| RoceError::Nic { my_pe, source })?;

        let len = SymHeap::region_len(n_pes, self.heap_size, Layout::bytes(n_pes));
        let memory = |source| RoceError::Memory { my_pe, len, source };
        let mapped = usize::try_from(len).map_err(std::io::Error::other).and_then(Region::map_for_nic);
        let region = mapped.map_err(memory)?;
        let pd = ProtectionDomain::new(&nic.context).map_err(verbs)?;
        let memory = MemoryRegion::register(&pd, region.clone(), Access::ALL).map_err(verbs)?;

        let links = n_pes * per_peer;
        let depth = self.depth(my_pe, &nic, links)?;
        let cq = CompletionQueue::new(&nic.context, depth * links as u32).map_err(verbs)?;
        let attributes = &nic.attributes;
        let reads = |most: u32| u8::try_from(most.min(MAX_RD_ATOMIC.into())).unwrap_or(MAX_RD_ATOMIC);
        let connector = Connector {
            pd,
            cq,
            choice: nic.choice,
            software: nic.software,
            settings: self.settings.clone(),
            sizes: QueueSizes { send_requests: depth, inline_bytes: INLINE },
            mtus: mtus.iter().map(|&bytes| Mtu::from_bytes(bytes).unwrap_or(Mtu::B256)).collect(),
            answers: reads(attributes.max_qp_rd_atom),
            begins: reads(attributes.max_qp_init_rd_atom),
            peers,
        };
        let first_use = self.settings.connect.value == ConnectMode::OnFirstUse;
        let at_start = |pe: usize| !first_use || is_barrier_partner(my_pe, pe, n_pes);
        let make = |link: usize| at_start(link / per_peer).then(|| connector.create()).transpose();
        let unconnected: Vec<_> =
            (0..links).map(make).collect::<std::result::Result<_, _>>().map_err(verbs)?;
        // Of one device all grant the same; a PE has one to itself at least.
        let inline = unconnected.iter().flatten().map(|made| made.qp.max_inline()).min().unwrap_or(0);
        let message = if nic.port.max_message == 0 { LARGEST_MESSAGE } else { nic.port.max_message.into() };
        let limits = Limits {
            depth: depth.into(),
            signal_every: self.settings.signal_every.value.min(depth / 2).into(),
            inline: inline.min(INLINE).into(),
            message: message.min(if connector.software { LARGEST_SOFTWARE_MESSAGE } else { LARGEST_MESSAGE }),
            per_peer,
        };
        let granted = unconnected.iter().flatten().map(|made| made.qp.max_requests()).min();
        let (heap, completions) = (memory.len(), connector.cq.depth());
        tracing::debug!(?limits, links, granted, completions, heap, "registered memory and queue pairs");
        Ok(Made { region, memory, connector, unconnected, limits })
    }

    /// Requests that each link can have under way, so that the completion queue has room for all even when all fail at once.
    fn depth(&self, my_pe: usize, nic: &Nic, links: usize) -> Result<u32> {
        let most = nic.attributes.max_cqe as usize / links.max(1);
        let most = u32::try_from(most).unwrap_or(u32::MAX).min(nic.attributes.max_qp_wr);
        if most < FEWEST_REQUESTS || links > MAX_LINKS {
            let (device, max_completions) = (nic.choice.device.clone(), nic.attributes.max_cqe);
            return Err(RoceError::TooManyLinks {
                my_pe,
                device,
                max_completions,
                links,
                needed: FEWEST_REQUESTS,
            });
        }
        let wanted = self.settings.queue_depth.value;
        if most < wanted {
            tracing::info!(
                "queues of {most} requests instead of {wanted}: {} has no room for more",
                nic.choice.device
            );
        }
        Ok(wanted.min(most))
    }

    /// What the others offer, and the engine over it.
    fn engine(&self, my_pe: usize, made: &Made, said: &[Bytes]) -> Result<(Vec<Offer>, Arc<Engine>)> {
        let (n_pes, limits) = (said.len(), made.limits);
        let garbled = |pe| RoceError::Garbled { my_pe, pe, what: "description of its memory" };
        let read = |(pe, said): (usize, &Bytes)| {
            Offer::decode(said, n_pes * limits.per_peer).ok_or_else(|| garbled(pe))
        };
        let offers: Vec<Offer> = said.iter().enumerate().map(read).collect::<Result<_>>()?;
        let seed = made.connector.peers[0].token as u32;
        let backend = Layout::bytes(n_pes);
        let heap = SymHeap::new(made.region.clone(), my_pe, n_pes, backend, seed);
        // Its own place for flags is in every heap that was made with it.
        let area =
            heap.backend_area(n_pes, backend).map_err(|source| RoceError::FirstBarrier { my_pe, source })?;
        let place = |pe: usize| {
            let peer = &made.connector.peers[pe];
            format!("PE {pe} ({}, {} port {}, host {})", Gid(peer.gid), peer.device, peer.port, peer.host)
        };
        let peer = |(pe, offer): (usize, &Offer)| Peer {
            address: offer.address,
            rkey: offer.rkey,
            place: place(pe),
        };
        let layout = Layout::new(area.offset(), n_pes);
        if self.first_epoch != 0 {
            // Before anybody can write there.
            for round in 0..Dissemination::rounds(n_pes) {
                made.region
                    .word32(layout.flag(round))
                    .store(self.first_epoch, std::sync::atomic::Ordering::Relaxed);
            }
        }
        let engine = Engine::new(Parts {
            endpoint: Endpoint::new(my_pe, n_pes, heap, self.timeout),
            memory: Arc::clone(&made.memory),
            peers: offers.iter().enumerate().map(peer).collect(),
            cq: Arc::clone(&made.connector.cq),
            layout,
            limits,
            place: place(my_pe),
            port: made.connector.choice.port,
            gid: (made.connector.choice.gid.index, made.connector.choice.gid.gid),
            backend: self.kind.backend,
            patience: self.settings.patience(made.connector.software),
            first_number: self.first_number,
        });
        let engine = engine.map_err(|source| RoceError::System { my_pe, step: "make an event", source })?;
        Ok((offers, Arc::new(engine)))
    }
}

/// What a PE has made before it knows of the others.
struct Made {
    region: Region,
    memory: Arc<MemoryRegion>,
    connector: Connector,
    /// For each link, if it is connected at the start.
    unconnected: Vec<Option<Unconnected>>,
    limits: Limits,
}

impl Made {
    fn offer(&self, listener: Option<SocketAddr>) -> Offer {
        let end = |made: &Option<Unconnected>| made.as_ref().map_or(End::default(), Unconnected::end);
        Offer {
            address: self.memory.address(),
            rkey: self.memory.rkey(),
            listener,
            ends: self.unconnected.iter().map(end).collect(),
        }
    }
}

/// What is connected at the start: this PE's ends, each with the one that the peer has for it.
fn wanted(my_pe: usize, own: Vec<Option<Unconnected>>, offers: &[Offer], per_peer: usize) -> Vec<Wanted> {
    let other = |link: usize| offers[link / per_peer].ends[my_pe * per_peer + link % per_peer];
    let wanted = own.into_iter().enumerate().filter_map(|(link, own)| {
        // To itself, each link is its own other end.
        Some(Wanted { link, own: own?, other: other(link) })
    });
    wanted.collect()
}

/// Whether the barrier has both talk, or they are one: these are connected at the start in any case.
fn is_barrier_partner(a: usize, b: usize, n_pes: usize) -> bool {
    let distance = (b + n_pes - a) % n_pes;
    distance == 0 || distance.is_power_of_two() || (n_pes - distance).is_power_of_two()
}

/// A round trip takes 2 to 30 us, which is longer than a look at memory; with more PEs than cores, others need the core.
fn wait_policy(local_pes: usize, cores: usize) -> WaitPolicy {
    let spin = if local_pes <= cores { 50 } else { 1 };
    WaitPolicy { spin, yields: 2000, sleep: Duration::from_millis(20) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_of_the_barrier_are_so_for_both() {
        for n_pes in [1, 2, 3, 5, 8, 33, 64] {
            for a in 0..n_pes {
                for round in 0..Dissemination::rounds(n_pes) {
                    assert!(is_barrier_partner(a, (a + (1 << round)) % n_pes, n_pes));
                }
                for b in 0..n_pes {
                    assert_eq!(is_barrier_partner(a, b, n_pes), is_barrier_partner(b, a, n_pes));
                }
            }
        }
        assert!(!is_barrier_partner(0, 3, 64));
    }
}
