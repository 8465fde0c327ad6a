//! The bootstrap over real sockets of this host: `127.0.0.0/8` and `[::1]` only.

// Each module says that it is a test, since clippy lets only tests panic.
#[cfg(test)]
mod addresses;
#[cfg(test)]
mod broken_wires;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod joining;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod support;
#[cfg(test)]
mod verdicts;
#[cfg(test)]
mod wire;
