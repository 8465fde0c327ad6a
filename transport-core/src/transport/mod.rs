//! The trait that a backend implements and that all else is written against.
//!
#![doc = include_str!("../../WRITING-A-BACKEND.md")]

pub(crate) mod capturing;
mod contract;
mod dissemination;
mod dynamic;
mod endpoint;
mod failures;
mod operations;

pub use contract::Transport;
pub use dissemination::{BarrierFlags, BarrierTurn, Dissemination, reached};
pub use dynamic::{AnyTransport, DynTransport};
pub use endpoint::{Endpoint, Medium};
pub use failures::Failures;
pub(crate) use failures::Steps;
pub use operations::{AtomicOp, Cmp, Condition, Remote, SignalOp, Transfer, Word};
