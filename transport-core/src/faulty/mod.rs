//! Faults on purpose, over any transport: what a program does when a network is late, breaks, or a PE dies.
//!
//! [`Faulty`] wraps a transport and is one. By a [`FaultPolicy`] and its seed it
//!
//! - **delays**: an operation is given to the inner transport later, and in another order, as far as the contract allows. It
//!   goes at the latest before the quiet or barrier that completes it, before an operation to the same PE that a fence orders
//!   behind it, and after [`linger`](FaultPolicy::linger) by itself, since a NIC goes on without being called;
//! - **fails an operation**: it never lands, and its call says nothing. The next call finds the completion with an error
//!   status, as from a queue of completions; from then on that PE is lost for this one;
//! - **dies**: what is under way lands or does not, the others hear of an abort, and every later call fails;
//! - **stalls**: nothing of this PE goes out, for a while or for good. Its waits, and those of the others for it, end at the
//!   deadline;
//! - **tells twice** of a completion: see below.
//!
//! With delays, short stalls and duplicates alone a correct program must succeed with right data. With the others it must,
//! on every PE, either have right data or a clear error; never wrong data, never a wait past its deadline.
//!
//! What fate an operation has depends on the seed, the PE and the number of the operation alone. So with one thread a
//! PE the same seed gives the same faults; only when a held operation goes by itself, and how the threads of the PEs
//! interleave, is the machine's affair.
//!
//! **What cannot be had from outside.** A completion is no event of [`Transport`]: only that `quiet` returns is. So a
//! second completion of a put cannot be made here, only what follows if a backend believes it: a `quiet` that ends twice,
//! and a get that is done twice before its quiet. A put or a signal is never done twice, not even before quiet:
//! "written once" is the contract, and a reader that polls the bytes could see the second write. That a backend does
//! not count a completion twice (and so end a later quiet too soon) is for its own tests, under its own queue.
//!
//! Several policies combine by wrapping twice: late everywhere, and PE 2 dies.
//!
//! ```
//! use transport_core::faulty::{FaultPolicy, Faulty};
//! use transport_core::{Error, Transport, wait::block_on};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let late = FaultPolicy::new(7).delay(0.5);
//! let deadly = FaultPolicy::new(7).die_at(3).only_on(1);
//! let pes = transport_loopback::Threads::new(2).heap_size(1 << 20).start()?;
//! let pes = pes.into_iter().map(|pe| Faulty::new(Faulty::new(pe, late.clone()), deadly.clone()));
//! let threads: Vec<_> = pes.map(|pe| std::thread::spawn(move || block_on(async {
//!     for _ in 0..10 {
//!         pe.barrier_all().await?;
//!     }
//!     Ok(())
//! }))).collect();
//! for thread in threads {
//!     assert!(matches!(thread.join().unwrap(), Err(Error::PeerLost { pe: 1, .. })));
//! }
//! # Ok(()) }
//! ```

mod dice;
mod fault;
mod held;
mod operation;
mod policy;
mod shared;
mod state;
mod timer;
mod transport;

use std::fmt;
use std::sync::Arc;

pub use fault::{Fault, Injected};
pub use policy::FaultPolicy;

use crate::transport::Transport;
use shared::Shared;

/// A transport that has faults by a policy. See the [module](self).
///
/// An operation is each call that reaches the transport: puts, gets, signals, fences, atomics, and each quiet, barrier,
/// signal wait and leave, also those inside of the collectives. They are numbered from 1.
pub struct Faulty<T: Transport> {
    shared: Arc<Shared<T>>,
}

impl<T: Transport> Faulty<T> {
    /// `transport`, with the faults of `policy` that are for this PE.
    #[must_use]
    pub fn new(transport: T, policy: FaultPolicy) -> Self {
        Self { shared: Arc::new(Shared::new(transport, policy)) }
    }

    /// All PEs of a job in one process, by the same policy.
    #[must_use]
    pub fn all(transports: Vec<T>, policy: &FaultPolicy) -> Vec<Self> {
        transports.into_iter().map(|transport| Self::new(transport, policy.clone())).collect()
    }

    /// How many operations this PE has begun: the numbers that [`FaultPolicy::die_at`] and its like take.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.shared.lock().operations
    }

    /// What was done to this PE so far, in order.
    #[must_use]
    pub fn injected(&self) -> Vec<Injected> {
        self.shared.lock().injected.clone()
    }

    /// The transport underneath.
    #[must_use]
    pub fn inner(&self) -> &T {
        &self.shared.inner
    }
}

impl<T: Transport> Drop for Faulty<T> {
    fn drop(&mut self) {
        // What is still held was not waited for by anybody, and need not land.
        timer::stop(&self.shared);
    }
}

impl<T: Transport> fmt::Debug for Faulty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (backend, my_pe) = (self.shared.inner.backend(), self.shared.inner.my_pe());
        write!(f, "Faulty({backend}, PE {my_pe}, {:?})", self.shared.policy)
    }
}
