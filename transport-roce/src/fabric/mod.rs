//! `Fabric`: joins this process to a job over RoCE NICs.

mod assemble;
mod make;

use std::sync::Arc;
use std::time::{Duration, Instant};

use transport_core::bootstrap::Bootstrap;
use transport_core::heap::SymHeap;
use transport_core::host::ProcessorSet;
use transport_core::wait::{Doorbell, WaitPolicy, Waiter, on_thread};
use transport_core::{Endpoint, Transport, host};

use self::assemble::wanted;
use crate::checks::before_start;
use crate::connect::{FirstUse, Introduction, Listener, connect_all, random};
use crate::engine::{Engine, Layout};
use crate::error::RoceError;
use crate::introductions::{check_alike, read_introductions};
use crate::kind::NicKind;
use crate::open::{Nic, open_nic};
use crate::roce::Roce;
use crate::settings::{ConnectMode, MAX_RD_ATOMIC, RoceSettings};
use crate::shared_nic::check_sharing;

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
        let heap = self.heap_size;
        let opening = on_thread("shmem-nic", move || {
            before_start(kind, heap).map_err(|(what, remedy)| RoceError::Unfit { my_pe, what, remedy })?;
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
        let local: Vec<_> = peers.iter().filter(|peer| peer.boot == peers[my_pe].boot).collect();
        let (local_pes, cores) =
            (local.len(), ProcessorSet::for_all(local.iter().map(|peer| &peer.processors)));

        let made = self.clone();
        let listens_at = listener.as_ref().map(|listener| listener.address);
        let making = on_thread("shmem-nic", move || made.make(my_pe, nic, peers));
        let made =
            making.map_err(system("start a thread"))?.await.map_err(system("make the queue pairs"))??;
        let offers = bootstrap.allgather(made.offer(listens_at).encode()).await?;
        let (token, per_peer) = (made.connector.peers[0].token, made.limits.per_peer);
        let (offers, engine) = self.engine(bootstrap, &made, &offers)?;

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
            software: nic.software,
            processors: ProcessorSet::of_this_process(),
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
}

/// A round trip takes 2 to 30 us, which is longer than a look at memory; with more PEs than cores, others need the core.
fn wait_policy(local_pes: usize, cores: usize) -> WaitPolicy {
    let spin = if local_pes <= cores { 50 } else { 1 };
    WaitPolicy { spin, yields: 2000, sleep: Duration::from_millis(20) }
}
