//! Waiting: on a thread that belongs to the caller, or under any executor.
//!
//! A future of a backend never sleeps inside of `poll`. It spins briefly; under [`block_on`], to which the thread belongs, it
//! gives the core away a few times, too. If that does not help it leaves word where news will arrive (a [`Doorbell`]) and is
//! pending. Then
//!
//! - under [`block_on`] the calling thread yields some more, and then sleeps on that doorbell itself: no other thread is
//!   involved in waking it;
//! - under any other executor a helper thread of the backend sleeps there and wakes the future's waker.

mod block_on;
mod doorbell;
mod on_thread;
mod parker;
mod waiter;

pub use block_on::{block_on, prepare_thread};
pub use doorbell::{Doorbell, Ticket};
pub use on_thread::on_thread;
pub(crate) use waiter::Look;
pub use waiter::{WaitPolicy, Waiter};
