//! A wire between a PE and PE 0 that can be cut, held up, split and spoilt at any byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use transport_core::config::RendezvousAddress;

use crate::support::listener;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToPe0,
    FromPe0,
}

/// What happens to the byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    None,
    /// It does not arrive: both directions are closed.
    Cut,
    /// Neither it nor what follows arrives, and nobody is told.
    Swallow,
    /// It comes so much later.
    Delay(Duration),
    /// These bits of it are turned over.
    Flip(u8),
    /// Not only it: every byte comes alone.
    Split,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) harm: Harm,
    pub(crate) direction: Direction,
    /// Which byte of that direction of a connection, from 0.
    pub(crate) at: usize,
    /// Not only on the first connection.
    pub(crate) again: bool,
}

impl Plan {
    pub(crate) const HARMLESS: Self =
        Self { harm: Harm::None, direction: Direction::ToPe0, at: 0, again: false };
}

/// It serves until dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: Option<JoinHandle<()>>,
}

struct Shared {
    plan: Plan,
    stop: AtomicBool,
    connections: AtomicUsize,
    /// Bytes that went to PE 0, and from it.
    carried: [AtomicUsize; 2],
}

impl Proxy {
    pub(crate) fn start(target: SocketAddr, plan: Plan) -> Self {
        let (listener, _) = listener();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { plan, stop: false.into(), connections: 0.into(), carried: Default::default() });
        let its = Arc::clone(&shared);
        let serving = thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                if its.stop.load(Ordering::SeqCst) {
                    break;
                }
                let (Ok(pe), Ok(zero)) = (stream, TcpStream::connect(target)) else { continue };
                open.push(join_up(&its, pe, zero));
            }
            for ([pe, zero], pumps) in open {
                close(&pe, &zero);
                pumps.into_iter().for_each(|pump| pump.join().unwrap());
            }
        });
        Self { address, shared, serving: Some(serving) }
    }

    pub(crate) fn address(&self) -> RendezvousAddress {
        self.address.into()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn carried(&self, direction: Direction) -> usize {
        self.shared.carried[direction as usize].load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // So that it looks.
        drop(TcpStream::connect(self.address));
        if let Some(serving) = self.serving.take() {
            let ended = serving.join();
            assert!(ended.is_ok() || thread::panicking(), "the proxy panicked");
        }
    }
}

fn close(one: &TcpStream, other: &TcpStream) {
    // One that is closed already cannot be closed.
    [one, other].into_iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
}

/// Few descriptors: both directions share them.
type Streams = [Arc<TcpStream>; 2];

fn join_up(shared: &Arc<Shared>, pe: TcpStream, zero: TcpStream) -> (Streams, Vec<JoinHandle<()>>) {
    let first = shared.connections.fetch_add(1, Ordering::SeqCst) == 0;
    let (pe, zero) = (Arc::new(pe), Arc::new(zero));
    for stream in [&pe, &zero] {
        stream.set_nodelay(true).unwrap();
    }
    let pump = |direction, from: &Arc<TcpStream>, to: &Arc<TcpStream>| {
        let harm = match shared.plan {
            plan if plan.direction == direction && (first || plan.again) => plan.harm,
            _ => Harm::None,
        };
        let (shared, from, to) = (Arc::clone(shared), Arc::clone(from), Arc::clone(to));
        thread::spawn(move || carry(&shared, direction, harm, &from, &to))
    };
    let pumps = vec![pump(Direction::ToPe0, &pe, &zero), pump(Direction::FromPe0, &zero, &pe)];
    ([pe, zero], pumps)
}

/// Carries one direction of a connection, to its end.
fn carry(shared: &Shared, direction: Direction, harm: Harm, mut from: &TcpStream, mut to: &TcpStream) {
    let (mut chunk, mut count) = ([0; 4096], 0_usize);
    let at = shared.plan.at;
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        let bytes = &mut chunk[..length];
        let here = at.checked_sub(count).filter(|here| *here < length);
        count += length;
        shared.carried[direction as usize].fetch_add(length, Ordering::SeqCst);
        let (before, after) = bytes.split_at_mut(here.unwrap_or(length));
        let mut whole = match (harm, here) {
            (Harm::Split, _) => {
                before.iter().chain(&*after).all(|byte| to.write_all(std::slice::from_ref(byte)).is_ok())
            }
            (_, None) | (Harm::None, _) => to.write_all(before).and_then(|()| to.write_all(after)).is_ok(),
            (Harm::Flip(bits), Some(_)) => {
                after[0] ^= bits;
                to.write_all(before).and_then(|()| to.write_all(after)).is_ok()
            }
            (Harm::Delay(time), Some(_)) => {
                let sent = to.write_all(before).is_ok();
                thread::sleep(time);
                sent && to.write_all(after).is_ok()
            }
            (Harm::Cut | Harm::Swallow, Some(_)) => to.write_all(before).is_ok(),
        };
        if here.is_some() && harm == Harm::Cut {
            return close(from, to);
        }
        if here.is_some() && harm == Harm::Swallow {
            // It takes all, and passes on nothing, until the other side closes.
            while matches!(from.read(&mut chunk), Ok(1..)) {}
            whole = true;
        }
        if !whole {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}
