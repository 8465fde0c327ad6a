//! Gets the PEs of a job together over TCP, and lets them exchange what they need before the fabric is up.
//!
//! PE 0 serves; every other PE keeps one connection to it. What is said is kept apart from how it is carried:
//! [`frame`], [`message`], `handshake`, `roster`, `rounds`, `coordinator` and `member` do no I/O and no waiting.
//!
//! ```text
//!   PE k                                  PE 0
//!   Hello {magic, version, nonce}   -->
//!                                   <--   Challenge {nonce, secret needed?}   or Refused {reason}
//!   Join {job, n_pes, heap, .., proof} -->
//!                                   <--   Accepted {proof, time left}         or Refused {reason}
//!                                   <--   Welcome (all are there)             or Failed {what is wrong}
//!   Contribute {call, payload}      -->
//!                                   <--   Gathered / Released / Goodbye       or Lost, Failed
//! ```
//!
//! A connection that does not get as far as a valid `Join` of this job is a stranger: it is refused alone and the job
//! goes on. PEs that do belong to the job but disagree (a PE twice, different n_pes, heap, backend or AllGather) end it, and every
//! PE is told which one is odd. The secret, if there is one, is never sent: each side proves by HMAC-SHA256 over both
//! nonces that it knows it. What follows the handshake is neither encrypted nor authenticated.
//!
//! ```
//! # use std::{pin::pin, task::{Context, Poll, Wake, Waker}, sync::Arc, time::Duration};
//! # struct Unpark(std::thread::Thread);
//! # impl Wake for Unpark { fn wake(self: Arc<Self>) { self.0.unpark() } }
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(std::thread::current()))));
//! #     loop {
//! #         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
//! #             Poll::Ready(output) => return output,
//! #             Poll::Pending => std::thread::park(),
//! #         }
//! #     }
//! # }
//! use transport_core::bootstrap::{Bootstrap, JoinSpec};
//!
//! let spec = JoinSpec::new(0, 1, "tcp://127.0.0.1:0".parse()?);
//! block_on(async {
//!     let bootstrap = Bootstrap::join(spec).await?;
//!     assert_eq!(bootstrap.allgather("mine".into()).await?, ["mine"]);
//!     bootstrap.leave().await
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod commands;
mod connect;
mod connection;
mod coordinator;
mod error;
mod fault;
mod fault_wire;
mod file;
pub mod frame;
mod handle;
mod handshake;
mod join_spec;
mod listener;
mod local_addresses;
mod member;
pub mod message;
mod peer_lost;
pub(crate) mod port_holder;
mod proof;
mod resolve;
mod roster;
mod rounds;
mod server;
mod thread;
mod visitor;
mod wire;

pub use error::BootstrapError;
pub use fault::{CallKind, JobFault, Property};
pub use handle::{Bootstrap, MAX_PAYLOAD};
pub use join_spec::JoinSpec;
pub use peer_lost::PeerLost;

pub use crate::config::{MAX_BACKEND_LEN, MAX_JOB_ID_LEN, Secret};
