//! PEs as threads of the test, each with its own bootstrap.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use transport_core::bootstrap::{Bootstrap, BootstrapError, JobFault, JoinSpec};
use transport_core::config::RendezvousAddress;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The simplest executor there is: the bootstrap must need no better one.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Polls a future once, then drops it: a cancelled call.
pub(crate) fn poll_and_cancel<F: Future>(future: F) {
    let mut future = pin!(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// Generous: no test waits for it unless it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(25);

/// An address of this host that no other test has, with a port to be chosen.
///
/// Where PE 0 has ended its port is free, and others may still knock there, for seconds: with one address for all, the kernel
/// would give that port, now and then, to another test, which would see visitors that are none of its own.
pub(crate) fn own_address() -> SocketAddr {
    static ADDRESSES: AtomicU32 = AtomicU32::new(0);
    let [_, b, c, d] = ADDRESSES.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    // All of 127.0.0.0/8 is this host; 127.0.0.* is left to those who name it.
    (Ipv4Addr::new(127, b + 1, c, d), 0).into()
}

pub(crate) fn listener() -> (TcpListener, RendezvousAddress) {
    let listener = TcpListener::bind(own_address()).unwrap();
    let address = listener.local_addr().unwrap().into();
    (listener, address)
}

/// Where the PEs of a test meet; PE 0's spec takes the listener, so no other test can have the port.
///
/// The job has an id of its own too, so that who goes astray joins nobody else's.
pub(crate) struct Meeting {
    listener: Option<TcpListener>,
    pub(crate) address: RendezvousAddress,
    pub(crate) job_id: String,
}

impl Meeting {
    pub(crate) fn new() -> Self {
        static MEETINGS: AtomicU32 = AtomicU32::new(0);
        let (listener, address) = listener();
        // All ids are as long, so that jobs that are alike carry the same number of bytes.
        let job_id = format!("job-{:08}", MEETINGS.fetch_add(1, Ordering::Relaxed));
        Self { listener: Some(listener), address, job_id }
    }

    pub(crate) fn spec(&mut self, my_pe: usize, n_pes: usize) -> JoinSpec {
        let mut spec = JoinSpec::new(my_pe, n_pes, self.address.clone());
        spec.timeout = PATIENCE;
        spec.backend = "test".into();
        spec.job_id.clone_from(&self.job_id);
        if my_pe == 0 {
            spec.listener = self.listener.take();
        }
        spec
    }

    pub(crate) fn socket_address(&self) -> SocketAddr {
        self.address.to_string().strip_prefix("tcp://").unwrap().parse().unwrap()
    }

    /// All specs of a job, PE 0's last: so the others knock at a listener that nobody serves yet.
    pub(crate) fn specs(&mut self, n_pes: usize) -> Vec<JoinSpec> {
        (0..n_pes).rev().map(|pe| self.spec(pe, n_pes)).collect()
    }
}

pub(crate) type Joining = JoinHandle<Result<Bootstrap, BootstrapError>>;

pub(crate) fn start(spec: JoinSpec) -> Joining {
    thread::spawn(move || block_on(Bootstrap::join(spec)))
}

pub(crate) fn join_all(specs: Vec<JoinSpec>) -> Vec<Result<Bootstrap, BootstrapError>> {
    let joining: Vec<Joining> = specs.into_iter().map(start).collect();
    joining.into_iter().map(|pe| pe.join().unwrap()).collect()
}

/// A job of `n_pes`, in PE order.
pub(crate) fn job(n_pes: usize) -> Vec<Bootstrap> {
    let specs = Meeting::new().specs(n_pes);
    in_order(join_all(specs))
}

pub(crate) fn in_order(joined: Vec<Result<Bootstrap, BootstrapError>>) -> Vec<Bootstrap> {
    let mut job: Vec<Bootstrap> = joined.into_iter().map(Result::unwrap).collect();
    job.sort_by_key(Bootstrap::my_pe);
    job
}

/// Runs `f` on every PE at once, each on its own thread; the results in PE order.
pub(crate) fn everywhere<T: Send>(job: &[Bootstrap], f: impl Fn(&Bootstrap) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = job.iter().map(|pe| scope.spawn(|| f(pe))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

pub(crate) fn leave_all(job: &[Bootstrap]) {
    for result in everywhere(job, |pe| block_on(pe.leave())) {
        result.unwrap();
    }
}

/// The fault of a failed join, which must be the same on all PEs.
pub(crate) fn common_fault(joined: &[Result<Bootstrap, BootstrapError>]) -> JobFault {
    let faults: Vec<JobFault> = joined
        .iter()
        .map(|result| {
            let error = result.as_ref().expect_err("joined");
            error.fault().unwrap_or_else(|| panic!("not the job's fault: {error}")).clone()
        })
        .collect();
    assert!(faults.iter().all(|fault| *fault == faults[0]), "{faults:#?}");
    faults[0].clone()
}

pub(crate) fn assert_words(text: impl ToString, words: &[&str]) {
    let text = text.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

/// Waits for something that another thread does; a long time, since the machine may be busy.
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < limit, "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Held by tests that open hundreds of sockets, so that together they stay below the usual limit of descriptors.
pub(crate) fn many_sockets() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}
