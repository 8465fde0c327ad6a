//! Getting the queue pairs of the PEs together.

mod all;
mod connector;
mod first_use;
mod wire;

pub(crate) use all::{Wanted, connect_all};
pub(crate) use connector::{Connector, Unconnected, random};
pub(crate) use first_use::{FirstUse, Listener};
pub(crate) use wire::{End, Introduction, Offer};
