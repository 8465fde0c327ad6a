//! The cases, by what of the contract they check. Each is listed, by name, in `super::list`.

pub(super) mod all_gather;
pub(super) mod atomics;
pub(super) mod bad_input;
pub(super) mod barrier;
pub(super) mod cancel;
pub(super) mod end;
pub(super) mod get;
pub(super) mod heap;
pub(super) mod heap_errors;
pub(super) mod order;
pub(super) mod put;
pub(super) mod put_bytes;
pub(super) mod signal;
pub(super) mod signal_wait;
pub(super) mod threads;
mod transfers;
