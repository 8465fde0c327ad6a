//! A PE's place in its job.

use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;
use tokio::sync::{Mutex, oneshot};

use super::commands::{CallResult, Command};
use super::error::BootstrapError;
use super::fault::CallKind;
use super::join_spec::JoinSpec;
use super::peer_lost::PeerLost;
use super::thread::BootstrapThread;
use crate::collectives::AllGatherAlgorithm;

/// The most bytes that one PE may give to an [`allgather`](Bootstrap::allgather).
pub const MAX_PAYLOAD: usize = 1 << 20;

/// A PE's place in its job: a connection to PE 0, or on PE 0 the rendezvous itself.
///
/// The I/O is done by a thread of its own (`shmem-bootstrap`); the futures may be awaited under any executor.
///
/// [`allgather`](Self::allgather), [`barrier`](Self::barrier) and [`leave`](Self::leave) are collective: every PE makes
/// them in the same order. One that differs, or does not come within the deadline, ends the job: all pending and later
/// calls of every PE fail with the same [`JobFault`](super::JobFault). So does a PE that is lost.
///
/// Cancelling: a call whose future is dropped has been made, as the other PEs see it. The next call of the same kind
/// (and, for an allgather, with the same payload) resumes it and takes its result; any other call comes after it.
/// Calls that several threads make at once come one after the other.
///
/// Dropping it without [`leave`](Self::leave) closes the connection, which the others see as a lost PE. The drop sends
/// what has been said, on PE 0 to everybody, and takes milliseconds if the others read, at most a few seconds if not.
pub struct Bootstrap {
    my_pe: usize,
    n_pes: usize,
    all_gather: AllGatherAlgorithm,
    address: SocketAddr,
    thread: BootstrapThread,
    in_flight: Mutex<Option<InFlight>>,
}

/// A call that has been made and whose result has not been taken.
struct InFlight {
    call: CallKind,
    payload: Bytes,
    result: oneshot::Receiver<CallResult>,
}

impl Bootstrap {
    /// Joins the job: returns when all PEs are there and agree.
    ///
    /// # Errors
    /// If this PE's own values are impossible, if PE 0 cannot listen, if PE 0 cannot be reached or refuses this PE, and,
    /// on all PEs alike, if the PEs do not agree or some are missing at the deadline.
    pub async fn join(spec: JoinSpec) -> Result<Self, BootstrapError> {
        spec.validate()?;
        let (my_pe, n_pes, all_gather) = (spec.my_pe, spec.n_pes, spec.all_gather);
        let (thread, joined) = BootstrapThread::start(spec)?;
        let address = joined.await.map_err(|_| thread_gone(my_pe))??;
        Ok(Self { my_pe, n_pes, all_gather, address, thread, in_flight: Mutex::new(None) })
    }

    /// This PE's number.
    #[must_use]
    pub fn my_pe(&self) -> usize {
        self.my_pe
    }

    /// How many PEs the job has.
    #[must_use]
    pub fn n_pes(&self) -> usize {
        self.n_pes
    }

    /// How the job's AllGathers are done whose algorithm the program leaves open: a backend hands it to
    /// [`Endpoint::all_gather_by`](crate::Endpoint::all_gather_by).
    #[must_use]
    pub fn all_gather(&self) -> AllGatherAlgorithm {
        self.all_gather
    }

    /// Where PE 0 serves, with the real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Collective: gives `payload` to all, returns everybody's in PE order. Each may have another length, 0 included.
    ///
    /// # Errors
    /// More than [`MAX_PAYLOAD`] bytes (nothing was sent then); the job has failed; this PE has left.
    pub async fn allgather(&self, payload: Bytes) -> Result<Vec<Bytes>, BootstrapError> {
        if payload.len() > MAX_PAYLOAD {
            let (my_pe, len) = (self.my_pe, payload.len());
            return Err(BootstrapError::PayloadTooLarge { my_pe, len, max: MAX_PAYLOAD });
        }
        self.call(CallKind::AllGather, payload).await
    }

    /// Collective: returns when all PEs have called it.
    ///
    /// # Errors
    /// The job has failed; this PE has left.
    pub async fn barrier(&self) -> Result<(), BootstrapError> {
        self.call(CallKind::Barrier, Bytes::new()).await.map(drop)
    }

    /// Collective goodbye: once it has returned, a closed connection of anyone is no error. Again: `Ok` at once.
    ///
    /// On PE 0 it returns when the others have been told.
    ///
    /// # Errors
    /// The job has failed.
    pub async fn leave(&self) -> Result<(), BootstrapError> {
        self.call(CallKind::Leave, Bytes::new()).await.map(drop)
    }

    /// Has `f` called for every other PE that disconnects without leaving, or gives up: from the bootstrap's thread, so
    /// it must be short; for those already lost at once. A PE that other PEs' exits follow is told first.
    pub fn on_peer_lost(&self, f: impl Fn(PeerLost) + Send + Sync + 'static) {
        self.thread.command(Command::OnPeerLost(Box::new(f)));
    }

    /// Tells all PEs that this one gives up, and why; ends the job. They see it as [`PeerLost`] and in the errors of
    /// their calls. Returns at once; the drop of this handle waits until it is sent, `std::process::exit` does not.
    pub fn abort(&self, reason: &str) {
        self.thread.command(Command::Abort(reason.to_owned()));
    }

    async fn call(&self, call: CallKind, payload: Bytes) -> CallResult {
        let mut in_flight = self.in_flight.lock().await;
        if let Some(earlier) = in_flight.as_mut().filter(|e| e.call != call || e.payload != payload) {
            // Cancelled and not asked for again: it must end all the same before the next begins. If it failed, so
            // will the next.
            drop((&mut earlier.result).await);
            *in_flight = None;
        }
        let current = match &mut *in_flight {
            Some(current) => current,
            none => {
                let (reply, result) = oneshot::channel();
                if !self.thread.command(Command::Call { call, payload: payload.clone(), reply }) {
                    return Err(thread_gone(self.my_pe));
                }
                none.insert(InFlight { call, payload, result })
            }
        };
        let result = (&mut current.result).await;
        *in_flight = None;
        result.unwrap_or_else(|_| Err(thread_gone(self.my_pe)))
    }
}

fn thread_gone(my_pe: usize) -> BootstrapError {
    BootstrapError::Thread {
        my_pe,
        cause: "it has ended before its time; this is a defect of the library".to_owned(),
    }
}

impl fmt::Debug for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { my_pe, n_pes, address, .. } = self;
        write!(f, "Bootstrap {{ my_pe: {my_pe}, n_pes: {n_pes}, address: {address} }}")
    }
}
