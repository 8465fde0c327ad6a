//! Where news for a PE arrives, and how to sleep until it does.

use std::time::Duration;

/// A count of rings, as of some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub u32);

/// Something that peers ring when they have changed what this PE may wait for.
///
/// Ringing costs a system call, so peers do it only while somebody is [armed](Doorbell::arm). To lose no ring, a sleeper
/// arms, takes a ticket, looks once more at what it waits for, and only then sleeps; and a peer first writes, then looks
/// whether somebody is armed, with a full fence between.
pub trait Doorbell: Send + Sync {
    /// From now on until [`disarm`](Doorbell::disarm), peers ring. Calls nest.
    fn arm(&self);
    /// Undoes one [`arm`](Doorbell::arm).
    fn disarm(&self);
    /// The count of rings now.
    fn ticket(&self) -> Ticket;
    /// Sleeps until it has been rung since `ticket` was taken, or `limit` has passed, or for no reason.
    fn sleep(&self, ticket: Ticket, limit: Duration);
    /// Rings, whether somebody is armed or not.
    fn ring(&self);
}
