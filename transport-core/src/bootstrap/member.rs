//! One PE's view of its job: what it waits for, and what it has been told. The same for PE 0 and all others.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::commands::{CallResult, LostHook};
use super::error::BootstrapError;
use super::fault::{CallKind, JobFault};
use super::message::{ToClient, ToServer};
use super::peer_lost::PeerLost;

/// See the module.
pub(crate) struct Member {
    my_pe: usize,
    n_pes: usize,
    address: String,
    /// How long a call may take before PE 0 counts as silent; longer than PE 0 itself waits.
    patience: Duration,
    sequence: u64,
    pending: Option<Pending>,
    phase: Phase,
    lost: Vec<PeerLost>,
    hooks: Vec<LostHook>,
}

struct Pending {
    call: CallKind,
    payloads: Vec<Bytes>,
    reply: oneshot::Sender<CallResult>,
    deadline: Instant,
}

enum Phase {
    Joining,
    Joined,
    Left,
    Failed(BootstrapError),
}

/// How much longer a PE waits than PE 0, so that PE 0's verdict comes first.
pub(crate) fn with_margin(timeout: Duration) -> Duration {
    timeout + timeout / 20 + Duration::from_secs(2)
}

impl Member {
    pub(crate) fn new(my_pe: usize, n_pes: usize, address: String, timeout: Duration) -> Self {
        Self {
            my_pe,
            n_pes,
            address,
            patience: with_margin(timeout),
            sequence: 0,
            pending: None,
            phase: Phase::Joining,
            lost: Vec::new(),
            hooks: Vec::new(),
        }
    }

    /// How joining ended, once it has.
    pub(crate) fn joined(&self) -> Option<Result<(), BootstrapError>> {
        match &self.phase {
            Phase::Joining => None,
            Phase::Joined | Phase::Left => Some(Ok(())),
            Phase::Failed(error) => Some(Err(error.clone())),
        }
    }

    pub(crate) fn has_left(&self) -> bool {
        matches!(self.phase, Phase::Left)
    }

    /// Begins a call; what is to be sent, unless it has failed at once.
    pub(crate) fn begin(
        &mut self,
        call: CallKind,
        payload: Bytes,
        reply: oneshot::Sender<CallResult>,
        now: Instant,
    ) -> Option<ToServer> {
        // A receiver that is gone is a caller that is gone: not an error.
        match &self.phase {
            Phase::Failed(error) => drop(reply.send(Err(error.clone()))),
            Phase::Left if call == CallKind::Leave => drop(reply.send(Ok(Vec::new()))),
            Phase::Left => drop(reply.send(Err(BootstrapError::HasLeft { my_pe: self.my_pe, call }))),
            Phase::Joining | Phase::Joined => {
                self.pending =
                    Some(Pending { call, payloads: Vec::new(), reply, deadline: now + self.patience });
                return Some(ToServer::Contribute { sequence: self.sequence, call, payload });
            }
        }
        None
    }

    /// Takes a message in.
    ///
    /// # Errors
    /// If PE 0 would never say this now.
    pub(crate) fn on_message(&mut self, message: ToClient) -> Result<(), &'static str> {
        match message {
            ToClient::Welcome if matches!(self.phase, Phase::Joining) => self.phase = Phase::Joined,
            ToClient::Gathered { sequence, first_pe, payloads } => {
                let (here, n_pes) = (self.sequence, self.n_pes);
                let pending =
                    self.pending.as_mut().filter(|p| p.call == CallKind::AllGather && sequence == here);
                let pending = pending.ok_or("sent the result of a call that was not made")?;
                if first_pe != pending.payloads.len() || payloads.len() > n_pes - first_pe {
                    return Err("sent an allgather's result out of order");
                }
                pending.payloads.extend(payloads);
                if pending.payloads.len() == n_pes {
                    self.complete();
                }
            }
            ToClient::Released { sequence }
                if self.waits_in(CallKind::Barrier) && sequence == self.sequence =>
            {
                self.complete();
            }
            ToClient::Goodbye if self.waits_in(CallKind::Leave) => {
                self.phase = Phase::Left;
                self.complete();
            }
            ToClient::Lost { pe, cause } => self.lose(PeerLost { pe, cause }),
            ToClient::Failed(fault) => self.fail(BootstrapError::Job { my_pe: self.my_pe, fault }),
            _ => return Err("sent a message out of turn"),
        }
        Ok(())
    }

    fn waits_in(&self, call: CallKind) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.call == call)
    }

    fn complete(&mut self) {
        self.sequence += 1;
        if let Some(pending) = self.pending.take() {
            drop(pending.reply.send(Ok(pending.payloads)));
        }
    }

    /// The connection to PE 0 is gone.
    pub(crate) fn on_closed(&mut self, cause: &str) {
        if self.has_left() {
            return;
        }
        let cause = cause.to_owned();
        self.lose(PeerLost { pe: 0, cause: cause.clone() });
        self.fail(BootstrapError::Job { my_pe: self.my_pe, fault: JobFault::PeerLost { pe: 0, cause } });
    }

    /// The first error stays: what follows is most often its consequence.
    pub(crate) fn fail(&mut self, error: BootstrapError) {
        if matches!(self.phase, Phase::Joining | Phase::Joined) {
            self.phase = Phase::Failed(error);
        }
        if let (Phase::Failed(error), Some(pending)) = (&self.phase, self.pending.take()) {
            drop(pending.reply.send(Err(error.clone())));
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.pending.as_ref().map(|pending| pending.deadline)
    }

    pub(crate) fn tick(&mut self, now: Instant) {
        if let Some(pending) = self.pending.as_ref().filter(|pending| pending.deadline <= now) {
            let (my_pe, address, after) = (self.my_pe, self.address.clone(), self.patience);
            let doing = format!("to {}", pending.call);
            self.fail(BootstrapError::NoAnswer { my_pe, address, doing, after });
        }
    }

    pub(crate) fn add_hook(&mut self, hook: LostHook) {
        self.lost.iter().for_each(|lost| call_hook(&hook, lost));
        self.hooks.push(hook);
    }

    fn lose(&mut self, lost: PeerLost) {
        if lost.pe == self.my_pe || self.lost.iter().any(|known| known.pe == lost.pe) {
            return;
        }
        self.hooks.iter().for_each(|hook| call_hook(hook, &lost));
        self.lost.push(lost);
    }
}

/// A hook that panics must not take the bootstrap with it.
fn call_hook(hook: &LostHook, lost: &PeerLost) {
    if std::panic::catch_unwind(AssertUnwindSafe(|| hook(lost.clone()))).is_err() {
        tracing::error!("a function given to on_peer_lost panicked when told that {lost}");
    }
}
