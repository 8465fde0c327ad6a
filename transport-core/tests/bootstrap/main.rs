//! The bootstrap over real sockets of this host: `127.0.0.1` and `[::1]` only.

mod addresses;
mod calls;
mod joining;
mod losses;
mod secrets;
mod strangers;
mod support;
mod verdicts;
mod wire;
