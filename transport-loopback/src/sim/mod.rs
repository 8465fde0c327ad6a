//! A simulated network, on which every order that the contract allows can happen.
//!
//! One thread, no time, no chance but by a seed: each PE is a future, the network holds every operation that was posted, and what
//! goes on next is chosen: by trying all there is, at random, or by priorities. A schedule in which a PE panics, answers an error,
//! can never go on, or races with another ([`RaceDetector`]) is a failure. It is made as short as it can be, and printed as a story with the command that runs it again.
//!
//! # In a test of your own
//!
//! Write the protocol against [`Transport`](transport_core::Transport), and give it to [`check`]:
//!
//! ```
//! use transport_core::{Cmp, Result, SignalOp, Transport};
//!
//! /// Hands a message to the right neighbour.
//! async fn hand_on<X: Transport>(pe: &X) -> Result<u64> {
//!     let (from, to) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
//!     let arrived = pe.calloc::<u64>(1).await?;
//!     pe.heap().write(from, &[pe.my_pe() as u64])?;
//!     pe.put_signal_nbi(to, from, arrived, SignalOp::Set(1), (pe.my_pe() + 1) % pe.n_pes())?;
//!     pe.signal_wait_until(arrived, Cmp::Eq, 1).await?;
//!     Ok(pe.heap().read_vec(to)?[0])
//! }
//!
//! transport_loopback::sim::check(3, |pe| async move {
//!     assert_eq!(hand_on(&pe).await?, (pe.my_pe() as u64 + 2) % 3);
//!     pe.finalize().await
//! });
//! ```
//!
//! - Call [`SimPe::begin`] after allocations: only what comes after it is tried in every order.
//! - End with [`finalize`](transport_core::Transport::finalize), as any job: a PE that ends without it is lost for the others.
//! - Wait by the transport. A loop that looks at memory calls [`yield_now`].
//! - Work of a graph runs by [`Graph::run`](transport_core::graph::Graph::run): a stream has a thread, which is not simulated.
//! - PEs share nothing but the heap: no `static`, no `Arc` that both change, no clock.
//! - [`Sim`] sets heap, network, seed, deadlines and listeners, and tells by [`Sim::explore`] what was tried.
//!
//! # What the network does
//!
//! All that the contract allows, see [`Network`]: a put reads its source at any time until it lands, lands at any time until `quiet`
//! returns, in pieces, and overtakes others but for fences. Operations to oneself are done at once. The flags of the barrier travel
//! as messages too, so that the barrier itself is explored. An operation is complete for its PE with its last step; that the
//! PE learns of it later is a matter of when the PE goes on, which is chosen too.
//!
//! Time stands still. When nothing can happen the schedule is stuck, and the failure says who waits for what; with
//! [`Sim::time_outs`] the wait with the first deadline ends instead, as it would.
//!
//! # What an exhaustive exploration leaves out
//!
//! [`Exploration::Exhaustive`] is a depth-first search with sleep sets (Godefroid 1996). Two actions are independent if in either
//! order they come to the same state and neither makes the other possible or impossible: two PEs that go on; steps of the network
//! that touch different bytes (a word that is waited for counts as a whole); a PE that goes on, and a step that touches neither its
//! memory, its flags nor its operations. Two schedules that differ only in the order of neighbours that are independent end in the
//! same state, with the same looks on the way, so one of them is enough. Sleep sets leave out only such: after all schedules that
//! begin with `a` have been tried, those that begin with `b` need not try `a` again until something has happened that depends on
//! `a`. So no outcome is lost; a test compares the outcomes with and without it ([`Sim::reduction`]).
//!
//! A PE that gives others a turn ([`yield_now`], or any future that wakes itself) depends on all; when it does so again and again, all
//! that was possible since before its last but one turn goes first, so that the search comes to an end.
//!

mod action;
mod check;
mod cost;
mod event;
mod exhaustive;
mod explore;
mod failure;
mod flags;
mod foot;
mod message;
mod network;
mod observer;
mod pairs;
mod panics;
mod pe;
mod post;
mod race;
mod random;
mod run;
mod schedule;
mod scheduler;
mod setup;
mod shrink;
mod step;
mod tell;
mod timeline;
mod transport;
mod waits;
mod wake;
mod window;
mod world;

pub use check::check;
pub use cost::{CostModel, Link, Links, PhaseCost, PredictError, Prediction};
pub use event::{Event, Listener, OpId, OpKind, Place};
pub use explore::{Exploration, Explored};
pub use failure::{Failure, FailureKind};
pub use network::Network;
pub use pe::{SimPe, yield_now};
pub use race::{Access, AccessKind, Race, RaceDetector, RaceKind};
pub use schedule::{BadSchedule, Schedule};
pub use setup::Sim;
