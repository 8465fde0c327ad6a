//! A NIC goes on without being called: a thread that lets held operations go, and looks at completions.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::shared::Shared;
use super::state::State;
use crate::transport::Transport;

/// Sees to it that the thread runs, if there is something for it.
pub(super) fn need<T: Transport>(shared: &Arc<Shared<T>>, state: &mut State) {
    if state.next_look(shared.policy.linger).is_none() {
        return;
    }
    if state.timer.is_none() && !state.stop {
        let its = Arc::clone(shared);
        match std::thread::Builder::new().name("shmem-faulty".into()).spawn(move || serve(&its)) {
            Ok(thread) => state.timer = Some(thread),
            Err(error) => {
                tracing::warn!(%error, "no thread for delayed operations; they go at once");
                shared.release(state, |_| true);
            }
        }
    }
    shared.news.notify_all();
}

/// Ends the thread.
pub(super) fn stop<T: Transport>(shared: &Shared<T>) {
    let timer = {
        let mut state = shared.lock();
        state.stop = true;
        state.timer.take()
    };
    shared.news.notify_all();
    // Its panic has been printed, and all that it does is done by every other call too.
    drop(timer.map(|timer| timer.join()));
}

fn serve<T: Transport>(shared: &Shared<T>) {
    let linger = shared.policy.linger;
    let mut state = shared.lock();
    while !state.stop {
        let now = Instant::now();
        match state.next_look(linger) {
            None => state = shared.news.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(next) if next > now => {
                let limit = next - now;
                let waited = shared.news.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner);
                state = waited.0;
                if waited.1.timed_out() {
                    shared.see_completions(&mut state);
                }
            }
            Some(_) => shared.release(&mut state, |held| held.since + linger <= now),
        }
    }
}
