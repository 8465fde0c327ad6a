//! What PE 0 does about every event of its job, without any I/O: events in, actions out.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::fault::{CallKind, JobFault};
use super::message::{Details, Proof, ToClient, ToServer};
use super::roster::Roster;
use super::rounds::{Progress, Rounds};
use super::wire::whole_millis;
use crate::config::MAX_TIMEOUT;

/// A connection to PE 0.
pub(crate) type ConnId = u64;
/// PE 0's own place in the job.
pub(crate) const LOCAL: ConnId = 0;

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send a message to these connections, in this order.
    Send(Vec<ConnId>, ToClient),
    /// Send what has been sent, then close.
    Close(ConnId),
}

/// About how many payload bytes go into one message; one payload more always fits into a frame.
const PART_BYTES: usize = 1 << 20;
/// How many refusals are remembered for the error that names the missing.
const REFUSALS_KEPT: usize = 4;

/// See the module.
pub(crate) struct Coordinator {
    roster: Roster,
    rounds: Rounds,
    phase: Phase,
    attached: BTreeMap<ConnId, Attached>,
    /// How many connections were ever of the job.
    seen: usize,
    lost: Vec<(usize, String)>,
    refused: VecDeque<String>,
    started: Instant,
    join_deadline: Instant,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Joining,
    Running,
    Left,
    Failed(JobFault),
}

/// A connection that proved to be of the job.
struct Attached {
    pe: usize,
    timeout: Duration,
    /// False for one that only waits to be told what is wrong, as the second of two with one number.
    counts: bool,
    leaving: bool,
}

impl Coordinator {
    pub(crate) fn new(n_pes: usize, timeout: Duration, now: Instant) -> Self {
        Self {
            roster: Roster::new(n_pes),
            rounds: Rounds::new(n_pes),
            phase: Phase::Joining,
            attached: BTreeMap::new(),
            seen: 0,
            lost: Vec::new(),
            refused: VecDeque::new(),
            started: now,
            join_deadline: now + timeout,
        }
    }

    /// Whether some PE has not been here, and would want to hear that the job has failed.
    pub(crate) fn expects_more(&self) -> bool {
        let timed_out = matches!(self.phase, Phase::Failed(JobFault::Missing { .. }));
        !timed_out && self.seen < self.roster.n_pes()
    }

    /// A connection finished its handshake.
    pub(crate) fn join(
        &mut self,
        conn: ConnId,
        details: Details,
        proof: Option<Proof>,
        from: &str,
        now: Instant,
    ) -> Vec<Action> {
        // Whatever it claims, time can be added to now.
        let (pe, timeout) = (details.pe, whole_millis(details.timeout.min(MAX_TIMEOUT)));
        if matches!(self.phase, Phase::Running | Phase::Left) {
            let reason = format!(
                "all {} PEs have joined already, so this one (PE {pe}) is one too many; is it started twice, \
                 or left over from another run? Give each job its own port or SHMEM_JOB_ID",
                self.roster.n_pes()
            );
            self.refuse(from, &reason);
            return vec![Action::Send(vec![conn], ToClient::Refused { reason }), Action::Close(conn)];
        }
        self.join_deadline = self.join_deadline.min(now + timeout);
        self.seen += 1;
        let time_left = self.join_deadline.saturating_duration_since(now);
        let mut actions = vec![Action::Send(vec![conn], ToClient::Accepted { proof, time_left })];
        let mut attached = Attached { pe, timeout, counts: false, leaving: false };
        if let Phase::Failed(fault) = &self.phase {
            actions.push(Action::Send(vec![conn], ToClient::Failed(fault.clone())));
            self.attached.insert(conn, attached);
            return actions;
        }
        let admitted = self.roster.admit(details, from);
        attached.counts = admitted.is_ok();
        self.attached.insert(conn, attached);
        match admitted {
            Err(fault) => self.fail(fault, &mut actions),
            Ok(()) if self.roster.is_complete() => {
                self.phase = Phase::Running;
                actions.push(Action::Send(self.everyone(), ToClient::Welcome));
            }
            Ok(()) => {}
        }
        actions
    }

    /// A PE of the job said something.
    pub(crate) fn message(&mut self, conn: ConnId, message: ToServer, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        let Some(attached) = self.attached.get_mut(&conn) else { return actions };
        match message {
            ToServer::Contribute { sequence, call, payload }
                if self.phase == Phase::Running && attached.counts =>
            {
                attached.leaving = call == CallKind::Leave;
                match self.rounds.arrive(attached.pe, sequence, call, payload, now, attached.timeout) {
                    Progress::Waiting => {}
                    Progress::Complete { sequence, call, payloads } => {
                        self.complete(sequence, call, payloads, &mut actions);
                    }
                    Progress::Fault(fault) => self.fail(fault, &mut actions),
                    Progress::OutOfOrder => {
                        actions.push(Action::Close(conn));
                        actions.extend(self.closed(conn, "it counts its collective calls wrongly"));
                    }
                }
            }
            // Sent before the news of the failure arrived there.
            ToServer::Contribute { .. } => {}
            ToServer::Abort { reason } => {
                let pe = attached.pe;
                self.lose(pe, format!("gave up: {reason}"), &mut actions);
                self.fail(JobFault::Aborted { pe, reason }, &mut actions);
            }
            ToServer::Hello { .. } | ToServer::Join { .. } => {
                actions.push(Action::Close(conn));
                actions.extend(self.closed(conn, "it sent a message out of turn"));
            }
        }
        actions
    }

    fn complete(&mut self, sequence: u64, call: CallKind, payloads: Vec<Bytes>, actions: &mut Vec<Action>) {
        let everyone = self.everyone();
        match call {
            CallKind::AllGather => {
                for (first_pe, part) in parts(payloads) {
                    let message = ToClient::Gathered { sequence, first_pe, payloads: part };
                    actions.push(Action::Send(everyone.clone(), message));
                }
            }
            CallKind::Barrier => actions.push(Action::Send(everyone, ToClient::Released { sequence })),
            CallKind::Leave => {
                self.phase = Phase::Left;
                actions.push(Action::Send(everyone, ToClient::Goodbye));
            }
        }
    }

    /// A connection of the job is gone.
    pub(crate) fn closed(&mut self, conn: ConnId, cause: &str) -> Vec<Action> {
        let mut actions = Vec::new();
        let Some(gone) = self.attached.remove(&conn) else { return actions };
        if gone.counts && !gone.leaving && self.phase != Phase::Left {
            self.lose(gone.pe, cause.to_owned(), &mut actions);
            self.fail(JobFault::PeerLost { pe: gone.pe, cause: cause.to_owned() }, &mut actions);
        }
        actions
    }

    /// A stranger was turned away.
    pub(crate) fn refuse(&mut self, from: &str, reason: &str) {
        tracing::warn!("bootstrap: refused {from}: {reason}");
        if self.refused.len() == REFUSALS_KEPT {
            self.refused.pop_front();
        }
        self.refused.push_back(format!("{from}, since {reason}"));
    }

    /// When [`tick`](Self::tick) has something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Joining => Some(self.join_deadline),
            Phase::Running => self.rounds.deadline(),
            Phase::Left | Phase::Failed(_) => None,
        }
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        match self.phase {
            Phase::Joining if self.join_deadline <= now => {
                let fault = JobFault::Missing {
                    missing: self.roster.missing(),
                    after: whole_millis(self.join_deadline - self.started),
                    refused: self.refused.iter().cloned().collect(),
                };
                self.fail(fault, &mut actions);
            }
            Phase::Running => {
                if let Some(fault) = self.rounds.overdue(now) {
                    self.fail(fault, &mut actions);
                }
            }
            _ => {}
        }
        actions
    }

    /// The first fault is the one that everybody hears; the rest are its consequences.
    fn fail(&mut self, fault: JobFault, actions: &mut Vec<Action>) {
        if matches!(self.phase, Phase::Joining | Phase::Running) {
            actions.push(Action::Send(self.everyone(), ToClient::Failed(fault.clone())));
            self.phase = Phase::Failed(fault);
        }
    }

    fn lose(&mut self, pe: usize, cause: String, actions: &mut Vec<Action>) {
        if self.lost.iter().all(|(known, _)| *known != pe) {
            self.lost.push((pe, cause.clone()));
            actions.push(Action::Send(self.everyone(), ToClient::Lost { pe, cause }));
        }
    }

    /// All that are of the job; PE 0 itself last, since its process may end once it knows.
    fn everyone(&self) -> Vec<ConnId> {
        let local = self.attached.contains_key(&LOCAL).then_some(LOCAL);
        self.attached.keys().copied().filter(|conn| *conn != LOCAL).chain(local).collect()
    }
}

/// Cuts the payloads into messages of about [`PART_BYTES`]: one for most jobs.
fn parts(payloads: Vec<Bytes>) -> Vec<(usize, Vec<Bytes>)> {
    let mut parts: Vec<(usize, Vec<Bytes>)> = Vec::new();
    let mut room = 0;
    for (pe, payload) in payloads.into_iter().enumerate() {
        // With its length.
        let size = payload.len() + 4;
        match parts.last_mut().filter(|_| size <= room) {
            Some((_, part)) => part.push(payload),
            None => {
                parts.push((pe, vec![payload]));
                room = PART_BYTES.max(size);
            }
        }
        room -= size;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    #[derive(Debug, Clone)]
    enum Event {
        Join(ConnId, usize, usize),
        Contribute(ConnId, u64, CallKind),
        Abort(ConnId),
        Closed(ConnId),
        Pass(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        let conn = 0..5_u64;
        let call = prop_oneof![3 => Just(CallKind::Barrier), 1 => Just(CallKind::AllGather), 1 => Just(CallKind::Leave)];
        prop_oneof![
            // Mostly the PE that belongs to the connection, so that jobs do come together.
            6 => (conn.clone(), prop_oneof![9 => Just(0), 1 => 0..4_usize], prop_oneof![9 => Just(3), 1 => 0..9_usize])
                .prop_map(|(conn, more, n_pes)| Event::Join(conn, conn as usize + more, n_pes)),
            6 => (conn.clone(), 0..3_u64, call).prop_map(|(conn, sequence, call)| Event::Contribute(conn, sequence, call)),
            1 => conn.clone().prop_map(Event::Abort),
            1 => conn.prop_map(Event::Closed),
            1 => (0..12_u64).prop_map(Event::Pass),
        ]
    }

    fn details(pe: usize, n_pes: usize) -> Details {
        let (job_id, backend, all_gather) = (String::new(), String::new(), String::new());
        Details { pe, n_pes, heap_size: 1, timeout: TIMEOUT, job_id, backend, all_gather }
    }

    proptest! {
        #[test]
        fn whatever_happens_nobody_is_told_what_is_not_for_him(events in vec(event(), 0..40)) {
            let mut now = Instant::now();
            let mut coordinator = Coordinator::new(3, TIMEOUT, now);
            let (mut welcomed, mut failed) = (0, 0);
            for event in events {
                let actions = match event {
                    // The loop gives every connection one handshake.
                    Event::Join(conn, ..) if coordinator.attached.contains_key(&conn) => continue,
                    Event::Join(conn, pe, n_pes) => coordinator.join(conn, details(pe, n_pes), None, "here", now),
                    Event::Contribute(conn, sequence, call) => {
                        let payload = Bytes::new();
                        coordinator.message(conn, ToServer::Contribute { sequence, call, payload }, now)
                    }
                    Event::Abort(conn) => coordinator.message(conn, ToServer::Abort { reason: "so".into() }, now),
                    Event::Closed(conn) => coordinator.closed(conn, "so"),
                    Event::Pass(seconds) => {
                        now += Duration::from_secs(seconds);
                        coordinator.tick(now)
                    }
                };
                for action in &actions {
                    let Action::Send(to, message) = action else { continue };
                    let refused = matches!(message, ToClient::Refused { .. });
                    prop_assert!(refused || to.iter().all(|conn| coordinator.attached.contains_key(conn)));
                    welcomed += usize::from(*message == ToClient::Welcome);
                    // To all at once, but for those who come after it.
                    failed += usize::from(matches!(message, ToClient::Failed(_)) && to.len() != 1);
                }
                prop_assert!(welcomed <= 1 && failed <= 1);
                // Whoever waits has a deadline.
                let waiting = matches!(coordinator.phase, Phase::Joining);
                prop_assert!(!waiting || coordinator.deadline().is_some());
            }
        }
    }

    #[test]
    fn a_job_runs_from_welcome_to_goodbye() {
        let now = Instant::now();
        let mut coordinator = Coordinator::new(2, TIMEOUT, now);
        coordinator.join(LOCAL, details(0, 2), None, "here", now);
        let actions = coordinator.join(7, details(1, 2), None, "there", now);
        assert_eq!(actions.last(), Some(&Action::Send(vec![7, LOCAL], ToClient::Welcome)));
        let leave = || ToServer::Contribute { sequence: 0, call: CallKind::Leave, payload: Bytes::new() };
        assert_eq!(coordinator.message(7, leave(), now), []);
        assert_eq!(
            coordinator.message(LOCAL, leave(), now),
            [Action::Send(vec![7, LOCAL], ToClient::Goodbye)]
        );
        assert_eq!(coordinator.closed(7, "gone"), []);
        assert_eq!(coordinator.deadline(), None);
    }

    #[test]
    fn parts_hold_all_payloads_in_order_and_are_few() {
        let small: Vec<Bytes> = (0..300_u16).map(|pe| Bytes::from(vec![0; usize::from(pe)])).collect();
        assert_eq!(parts(small.clone()), [(0, small)]);
        let large: Vec<Bytes> = (0..5).map(|_| Bytes::from(vec![1; PART_BYTES])).collect();
        let cut = parts(large);
        assert_eq!(
            cut.iter().map(|(first, part)| (*first, part.len())).collect::<Vec<_>>(),
            [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]
        );
    }
}
