//! The part of libibverbs that this crate uses, declared by hand: the only place of raw foreign functions.
//!
//! The public ABI of libibverbs is frozen, so that one binary starts with any release of it. `abi-check`, a crate beside
//! this one, compares every struct and constant here with those of `verbs.h`.

mod constants;
mod inline;
mod plug_in;
mod structs;
mod symbols;

pub(crate) use constants::*;
pub(crate) use inline::{poll_cq, post_send, req_notify_cq};
#[cfg(test)]
pub(crate) use plug_in::ask;
pub(crate) use plug_in::{Visibility, is_secure_execution, open_for_ever};
pub(crate) use structs::*;
pub use symbols::LoadError;
pub(crate) use symbols::{SONAME, Symbols};
