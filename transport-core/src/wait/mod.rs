//! Waiting: on a thread that belongs to the caller, or under any executor.
//!
//! A future of a backend never blocks inside of `poll`. It spins briefly; if that does not help it leaves word where news
//! will arrive (a [`Doorbell`]) and is pending. Then
//!
//! - under [`block_on`] the calling thread yields a few times, and then sleeps on that doorbell itself: no other thread
//!   is involved in waking it;
//! - under any other executor a helper thread of the backend sleeps there and wakes the future's waker.

mod block_on;
mod doorbell;
mod on_thread;
mod waiter;

pub use block_on::{block_on, prepare_thread};
pub use doorbell::{Doorbell, Ticket};
pub use on_thread::on_thread;
pub use waiter::{WaitPolicy, Waiter};
