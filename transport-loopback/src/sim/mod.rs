//! A simulated network, on which every order that the contract allows can happen.

mod event;

pub use event::{Event, Listener, OpId, OpKind, Place};
