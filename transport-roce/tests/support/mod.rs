//! Jobs on a verbs device, whose PEs are threads of the test: they share nothing but the device and a rendezvous.

#![allow(dead_code, reason = "each test needs a part of it")]

pub(crate) mod proxy;

use std::net::{SocketAddr, TcpListener};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{scope, spawn};
use std::time::Duration;

use transport_core::bootstrap::{Bootstrap, JoinSpec};
use transport_core::config::MapEnvironment;
use transport_core::wait::block_on;
use transport_core::{Error, Transport};
use transport_roce::{Fabric, Roce, RoceError, RoceSettings};

/// Names the device that the tests must find; without it they do nothing where there is none.
const WANTED: &str = "ROCE_TEST_DEVICE";
/// No test waits so long unless it fails: an emulated machine is slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A device, to one test of a binary at a time.
pub(crate) struct Device {
    pub(crate) name: String,
    _turn: MutexGuard<'static, ()>,
}

/// The device to test on; `None`, and a line that says so, where there is none.
pub(crate) fn device() -> Option<Device> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let usable = |name: &String| {
        transport_roce::usable(
            &transport_roce::NicKind::ROCE,
            &settings([("SHMEM_NIC".into(), name.clone())]),
        )
    };
    let name = match std::env::var(WANTED) {
        Ok(name) => {
            usable(&name).unwrap_or_else(|error| panic!("{WANTED} is {name}: {error}"));
            name
        }
        Err(_) => {
            let entries = std::fs::read_dir("/sys/class/infiniband").into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let Some(name) = names.into_iter().find(|name| usable(name).is_ok()) else {
                eprintln!(
                    "not run: this host has no RoCE device that can be used; {WANTED} names one that must be"
                );
                return None;
            };
            name
        }
    };
    Some(Device { name, _turn: turn })
}

pub(crate) fn settings(variables: impl IntoIterator<Item = (String, String)>) -> RoceSettings {
    let environment: MapEnvironment = variables.into_iter().collect();
    RoceSettings::builder().with_environment(environment).build().unwrap()
}

/// A job that can be started, again and again.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pes: usize,
    heap: u64,
    timeout: Duration,
    variables: Vec<(String, String)>,
    first: (u32, u64),
    /// Where these PEs believe the rendezvous to be.
    detours: Vec<(usize, SocketAddr)>,
}

impl Job {
    pub(crate) fn new(device: &Device, pes: usize) -> Self {
        let new = Self {
            pes,
            heap: 1 << 20,
            timeout: PATIENCE,
            variables: Vec::new(),
            first: (0, 0),
            detours: Vec::new(),
        };
        new.set("SHMEM_NIC", &device.name)
    }

    pub(crate) fn heap(mut self, bytes: u64) -> Self {
        self.heap = bytes;
        self
    }

    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets a variable of the environment of these PEs.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn first_numbers(mut self, epoch: u32, request: u64) -> Self {
        self.first = (epoch, request);
        self
    }

    pub(crate) fn detour(mut self, pe: usize, address: SocketAddr) -> Self {
        self.detours.push((pe, address));
        self
    }

    /// Starts it, in PE order.
    pub(crate) fn start(&self) -> Vec<Roce> {
        let started = self.start_each(|_, job| job);
        started.into_iter().map(|pe| pe.unwrap_or_else(|error| panic!("{error}"))).collect()
    }

    /// Starts it with something special for some PEs, where that need not succeed.
    pub(crate) fn start_each(&self, special: impl Fn(usize, Self) -> Self) -> Vec<Result<Roce, RoceError>> {
        self.start_at(TcpListener::bind("127.0.0.1:0").unwrap(), special)
    }

    /// As [`start_each`](Self::start_each), where PE 0 serves the rendezvous at `listener`.
    pub(crate) fn start_at(
        &self,
        listener: TcpListener,
        special: impl Fn(usize, Self) -> Self,
    ) -> Vec<Result<Roce, RoceError>> {
        let address = listener.local_addr().unwrap();
        let mut listener = Some(listener);
        let starting: Vec<_> = (0..self.pes)
            .map(|pe| {
                let (job, listener) = (special(pe, self.clone()), listener.take());
                spawn(move || block_on(job.connect(pe, address, listener)))
            })
            .collect();
        starting.into_iter().map(|pe| pe.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }

    async fn connect(
        self,
        pe: usize,
        address: SocketAddr,
        listener: Option<TcpListener>,
    ) -> Result<Roce, RoceError> {
        let detour = self.detours.iter().find(|(other, _)| *other == pe).map(|(_, address)| *address);
        let mut spec = JoinSpec::new(pe, self.pes, detour.unwrap_or(address).into());
        (spec.listener, spec.timeout, spec.heap_size) = (listener, self.timeout, self.heap);
        spec.backend = Roce::BACKEND.into();
        let bootstrap = Bootstrap::join(spec).await?;
        let (epoch, request) = self.first;
        let fabric = Fabric::new(self.heap, settings(self.variables)).timeout(self.timeout);
        fabric.first_numbers(epoch, request).connect(bootstrap).await
    }
}

/// Runs `work` on all of `pes` at once, each on a thread of its own; what they answer, in their order.
pub(crate) fn each<T: Send>(pes: &[Roce], work: impl AsyncFn(&Roce) -> T + Sync) -> Vec<T> {
    scope(|scope| {
        let threads: Vec<_> = pes.iter().map(|pe| scope.spawn(|| block_on(work(pe)))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Runs a job to its end: `work` on all PEs at once, then `finalize`. A PE that panics ends the waits of the others.
pub(crate) fn whole<T: Send>(pes: Vec<Roce>, work: impl AsyncFn(&Roce) -> T + Sync) -> Vec<T> {
    let work = &work;
    let one = |pe: Roce| {
        block_on(async move {
            let answer = work(&pe).await;
            pe.finalize().await.unwrap();
            answer
        })
    };
    scope(|scope| {
        let threads: Vec<_> = pes.into_iter().map(|pe| scope.spawn(move || one(pe))).collect();
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        ended.into_iter().map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// That `result` says PE `pe` is lost.
#[track_caller]
pub(crate) fn assert_lost<T: std::fmt::Debug>(result: Result<T, Error>, pe: usize) -> String {
    match result {
        Err(Error::PeerLost { pe: lost, cause, .. }) if lost == pe => cause.to_string(),
        other => panic!("not the loss of PE {pe}: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_words(text: impl ToString, words: &[&str]) {
    let text = text.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}
