//! A job whose PEs are processes of one host.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use transport_core::bootstrap::Bootstrap;
use transport_core::config::MAX_TIMEOUT;
use transport_core::host::ProcessorSet;
use transport_core::wait::{WaitPolicy, on_thread};
use transport_core::{Endpoint, Error, PeList, Result};

use crate::error::LoopbackError;
use crate::fd_exchange::{Giver, TOKEN, take};
use crate::host;
use crate::job_memory::JobMemory;
use crate::loopback::{Loopback, Member, Setup};
use crate::sys;

/// Changes whenever the layout of the shared memory does.
const LAYOUT: u8 = 2;

/// Joins this process to its job, over a rendezvous that has been made.
///
/// PE 0 makes one memory file for the whole job, without a name in the file system, and hands it to the others over a Unix
/// socket; nothing is left when the last process is gone, however it went.
///
/// ```no_run
/// use transport_core::bootstrap::{Bootstrap, JoinSpec};
/// use transport_core::config::JobConfig;
/// use transport_core::{Transport, wait::block_on};
/// use transport_loopback::{Loopback, Processes};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = JobConfig::from_environment()?;
/// let pe = block_on(async {
///     let mut spec = JoinSpec::try_from(&config)?;
///     spec.backend = Loopback::BACKEND.to_owned();
///     let bootstrap = Bootstrap::join(spec).await?;
///     let processes = Processes::new(config.heap_size.value.bytes()).timeout(config.timeout.value);
///     Ok::<_, Box<dyn std::error::Error>>(processes.connect(bootstrap).await?)
/// })?;
/// block_on(pe.barrier_all())?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Processes {
    heap_size: u64,
    timeout: Duration,
    policy: Option<WaitPolicy>,
    processors: Option<usize>,
    first_epoch: u32,
}

impl Processes {
    /// With `heap_size` bytes for users in each PE's heap (64 KiB to 40 GiB, the same on all).
    pub fn new(heap_size: u64) -> Self {
        let timeout = Endpoint::DEFAULT_TIMEOUT;
        Self { heap_size, timeout, policy: None, processors: None, first_epoch: 0 }
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

    /// As if the host had so many processors, by which barriers and waits are chosen, the same on all PEs; by default those that
    /// the PEs may use between them, so that binding each to its own is as it should be.
    pub fn processors(mut self, processors: usize) -> Self {
        self.processors = Some(processors);
        self
    }

    /// The number that the barriers start after, the same on all PEs: to test what happens when it wraps.
    pub fn first_epoch(mut self, epoch: u32) -> Self {
        self.first_epoch = epoch;
        self
    }

    /// Collective: gets the job's memory and gives this PE's transport.
    ///
    /// # Errors
    ///
    /// [`LoopbackError`]: the heap is too large or there is no memory for it; the PEs are on several hosts, of several
    /// users or in several network namespaces; the rendezvous failed.
    pub async fn connect(self, bootstrap: Bootstrap) -> std::result::Result<Loopback, LoopbackError> {
        let (my_pe, n_pes) = (bootstrap.my_pe(), bootstrap.n_pes());
        let deadline = Instant::now() + self.timeout.min(MAX_TIMEOUT);
        let mut setup = Setup {
            n_pes,
            heap_size: self.heap_size,
            timeout: self.timeout,
            policy: self.policy,
            processors: self.processors,
            first_epoch: self.first_epoch,
            all_gather: bootstrap.all_gather(),
            seed: 0,
        };
        let connected = self.get_memory(&bootstrap, &mut setup, deadline).await;
        let (memory, seed) = match connected {
            Ok(memory) => memory,
            Err(error) => {
                // The others need not wait for the deadline to hear of it.
                bootstrap.abort(&error.to_string());
                return Err(error);
            }
        };
        setup.seed = seed;
        let pe = setup.pe(my_pe, &memory);
        let told = Arc::downgrade(&pe);
        bootstrap.on_peer_lost(move |lost| {
            if let Some(pe) = told.upgrade() {
                pe.peer_lost(lost.pe, &lost.cause);
            }
        });
        Ok(setup.transport(pe, Member::Process(ProcessMember { bootstrap })))
    }

    async fn get_memory(
        &self,
        bootstrap: &Bootstrap,
        setup: &mut Setup,
        deadline: Instant,
    ) -> std::result::Result<(JobMemory, u32), LoopbackError> {
        let (my_pe, n_pes) = (bootstrap.my_pe(), bootstrap.n_pes());
        let len = JobMemory::len(n_pes, self.heap_size);
        let len = len.ok_or(LoopbackError::JobTooLarge { n_pes, heap_size: self.heap_size })?;
        let made = if my_pe == 0 { Some(self.make(len)) } else { None };

        let offer = match &made {
            Some(Ok((_, giver))) => Offer::Token(giver.token()),
            Some(Err(error)) => Offer::Failed(error.to_string()),
            None => Offer::Taker,
        };
        let hellos = bootstrap.allgather(hello(&offer)).await?;
        check_hosts(my_pe, &hellos)?;
        let sets: Vec<_> =
            hellos.iter().filter_map(|hello| ProcessorSet::decode(split_hello(hello).processors)).collect();
        // All have heard the same, so they come to the same.
        setup.processors = setup.processors.or_else(|| Some(ProcessorSet::for_all(&sets)));
        let late = |step, source| LoopbackError::Handover { my_pe, step, after: self.timeout, source };

        let file = match made {
            Some(made) => {
                let (file, giver) = made?;
                let give = file.try_clone().map_err(|source| late("hand out the job's memory", source))?;
                // In the background: should a PE die before it takes it, the barrier below says so at once.
                let giving = on_thread("shmem-handover", move || {
                    if let Err(error) = giver.give(&give, n_pes - 1, deadline) {
                        tracing::error!(%error, "PE 0 could not hand the job's memory to every PE");
                    }
                });
                drop(giving.map_err(|source| late("start a thread", source))?);
                file
            }
            None => {
                let token = match read_offer(hellos.first()) {
                    Offer::Token(token) => token,
                    Offer::Failed(cause) => return Err(LoopbackError::NoJobMemory { my_pe, cause }),
                    Offer::Taker => {
                        return Err(LoopbackError::NoJobMemory { my_pe, cause: "it did not say why".into() });
                    }
                };
                let taken = on_thread("shmem-handover", move || take(&token, deadline))
                    .map_err(|source| late("start a thread", source))?;
                taken
                    .await
                    .and_then(|taken| taken)
                    .map_err(|source| late("take the job's memory from PE 0", source))?
            }
        };
        sys::check_memory_file(&file, len).map_err(|source| late("use the job's memory", source))?;
        let region = sys::shared_memory(file.as_fd(), len as usize)
            .map_err(|source| LoopbackError::Memory { my_pe, len, source })?;
        let memory = JobMemory::new(region, n_pes, self.heap_size);
        if my_pe == 0 {
            if self.first_epoch != 0 {
                memory.set_first_epoch(self.first_epoch);
            }
            if setup.is_crowded() {
                memory.set_counted();
            }
        }
        // Nobody sends before everybody has it, with its counters set.
        bootstrap.barrier().await?;
        let seed = match read_offer(hellos.first()) {
            Offer::Token(token) => host::job_seed(&format!("{token:?}")),
            Offer::Failed(_) | Offer::Taker => 1,
        };
        Ok((memory, seed))
    }

    /// The job's memory, at PE 0.
    fn make(&self, len: u64) -> std::result::Result<(std::os::fd::OwnedFd, Giver), LoopbackError> {
        host::check_heap_size(0, self.heap_size)?;
        let file = sys::sealed_memory_file("shmem-heaps", len).map_err(|source| LoopbackError::Memory {
            my_pe: 0,
            len,
            source,
        })?;
        let giver = Giver::new().map_err(|source| LoopbackError::Handover {
            my_pe: 0,
            step: "listen for the other PEs",
            after: self.timeout,
            source,
        })?;
        Ok((file, giver))
    }
}

/// What PE 0 has for the others.
enum Offer {
    /// They can take the memory by this.
    Token([u8; TOKEN]),
    /// It has none.
    Failed(String),
    /// Said by the others.
    Taker,
}

/// One PE's word about itself: layout version; length of the host's name, and that name; length of its set of processors, and that
/// set; and what it offers.
fn hello(offer: &Offer) -> Bytes {
    let host = transport_core::host::name_of_boot();
    let host = &host.as_bytes()[..host.len().min(255)];
    let mut hello = vec![LAYOUT, host.len() as u8];
    hello.extend_from_slice(host);
    let processors = ProcessorSet::of_this_process().encode();
    hello.push(processors.len() as u8);
    hello.extend_from_slice(&processors);
    match offer {
        Offer::Token(token) => {
            hello.push(b'T');
            hello.extend_from_slice(token);
        }
        Offer::Failed(cause) => {
            hello.push(b'F');
            hello.extend_from_slice(cause.as_bytes());
        }
        Offer::Taker => {}
    }
    Bytes::from(hello)
}

/// The parts of a PE's word.
struct Hello<'a> {
    /// Layout and host.
    host: &'a [u8],
    processors: &'a [u8],
    offer: &'a [u8],
}

/// Empty parts of what is too short.
fn split_hello(hello: &[u8]) -> Hello<'_> {
    let host_len = hello.get(1).map_or(0, |&len| usize::from(len));
    let (host, rest) = hello.split_at(hello.len().min(2 + host_len));
    let (len, rest) = rest.split_first().map_or((0, rest), |(&len, rest)| (usize::from(len), rest));
    let (processors, offer) = rest.split_at(rest.len().min(len));
    Hello { host, processors, offer }
}

fn read_offer(hello: Option<&Bytes>) -> Offer {
    match split_hello(hello.map_or(&[], |hello| &hello[..])).offer.split_first() {
        Some((b'T', token)) => token.try_into().map_or(Offer::Taker, Offer::Token),
        Some((b'F', cause)) => Offer::Failed(String::from_utf8_lossy(cause).into_owned()),
        _ => Offer::Taker,
    }
}

fn check_hosts(my_pe: usize, hellos: &[Bytes]) -> std::result::Result<(), LoopbackError> {
    let first = hellos.first().map_or(&[][..], |hello| split_hello(hello).host);
    let odd = |of: fn(&[u8]) -> Option<&[u8]>| -> PeList {
        hellos
            .iter()
            .enumerate()
            .filter(|(_, hello)| of(split_hello(hello).host) != of(first))
            .map(|(pe, _)| pe)
            .collect()
    };
    let versions = odd(|hello| hello.get(..1));
    if !versions.is_empty() {
        return Err(LoopbackError::OtherVersion { my_pe, odd: versions });
    }
    let hosts = odd(|hello| hello.get(1..));
    if !hosts.is_empty() {
        return Err(LoopbackError::NotOneHost { my_pe, odd: hosts });
    }
    Ok(())
}

/// One process's tie to the others.
pub(crate) struct ProcessMember {
    bootstrap: Bootstrap,
}

impl ProcessMember {
    pub(crate) fn abort(&self, reason: &str) {
        self.bootstrap.abort(reason);
    }

    pub(crate) async fn leave(&self) -> Result<()> {
        self.bootstrap.leave().await.map_err(|error| Error::backend(Loopback::BACKEND, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_says_what_it_was_given() {
        let token = [9; TOKEN];
        let hellos =
            [hello(&Offer::Token(token)), hello(&Offer::Taker), hello(&Offer::Failed("no room".into()))];
        assert!(matches!(read_offer(hellos.first()), Offer::Token(t) if t == token));
        assert!(matches!(read_offer(hellos.get(1)), Offer::Taker));
        assert!(matches!(read_offer(hellos.get(2)), Offer::Failed(cause) if cause == "no room"));
        assert!(check_hosts(0, &hellos).is_ok());
    }

    #[test]
    fn another_host_or_version_is_named_and_rubbish_is_no_panic() {
        let good = hello(&Offer::Taker);
        let other_host = {
            let mut h = good.to_vec();
            h[2] ^= 1;
            Bytes::from(h)
        };
        let other_version = {
            let mut h = good.to_vec();
            h[0] += 1;
            Bytes::from(h)
        };
        let error = check_hosts(0, &[good.clone(), good.clone(), other_host]).unwrap_err();
        assert!(matches!(error, LoopbackError::NotOneHost { odd, .. } if odd.as_slice() == [2]));
        let error = check_hosts(0, &[good.clone(), other_version]).unwrap_err();
        assert!(matches!(error, LoopbackError::OtherVersion { odd, .. } if odd.as_slice() == [1]));
        for rubbish in [&[][..], &[1], &[1, 200, 3], &[1, 0, 9, b'T', 4], &[1, 0, 0, b'T', 4]] {
            let rubbish = Bytes::copy_from_slice(rubbish);
            let _ = (read_offer(Some(&rubbish)), check_hosts(0, &[rubbish.clone(), good.clone()]));
        }
    }
}
