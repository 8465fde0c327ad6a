//! Connects many links at once, within a deadline.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::connector::{Connector, Unconnected};
use super::wire::End;
use crate::engine::Engine;
use crate::error::RoceError;

/// Connections that are made at the same time: each may wait for the network to tell a peer's address.
const AT_ONCE: usize = 8;

/// A connection to make.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The link that it is for.
    pub(crate) link: usize,
    pub(crate) own: Unconnected,
    pub(crate) other: End,
}

/// Connects all of `wanted`; blocks until it is done, or until the deadline, which is the end of a limit that began earlier.
pub(crate) fn connect_all(
    engine: &Arc<Engine>,
    connector: &Arc<Connector>,
    wanted: Vec<Wanted>,
    (deadline, limit): (Instant, Duration),
) -> Result<(), RoceError> {
    let my_pe = engine.endpoint().my_pe();
    let links = wanted.len();
    let wanted: Arc<[_]> = wanted.into_iter().map(|wanted| Mutex::new(Some(wanted))).collect();
    let (done, results) = mpsc::channel();
    let next = Arc::new(AtomicUsize::new(0));
    for _ in 0..AT_ONCE.min(links) {
        let (engine, connector) = (Arc::clone(engine), Arc::clone(connector));
        let (wanted, next, done) = (Arc::clone(&wanted), Arc::clone(&next), done.clone());
        let work = move || {
            while let Some(one) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                let taken = one.lock().unwrap_or_else(PoisonError::into_inner).take();
                let Some(Wanted { link, own, other }) = taken else { continue };
                let link = engine.link(link);
                let connected = connector.connect(own, link.pe, other).map(|qp| link.connected(qp));
                // Nobody listens after a first error.
                if done.send(connected).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("shmem-connect".into())
            .spawn(work)
            .map_err(|source| RoceError::System { my_pe, step: "start a thread", source })?;
    }
    drop(done);
    for _ in 0..links {
        let left = deadline.saturating_duration_since(Instant::now());
        match results.recv_timeout(left) {
            Ok(connected) => connected.map_err(|source| RoceError::Verbs { my_pe, source })?,
            Err(_) => {
                let missing = engine.unconnected();
                return Err(RoceError::ConnectTimeout { my_pe, after: limit, missing });
            }
        }
    }
    Ok(())
}
