//! The collective calls of the job, one after the other, as PE 0 counts them.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::fault::{CallKind, JobFault, odd_ones};
use crate::pe_list::PeList;

/// The call that is under way.
pub(crate) struct Rounds {
    sequence: u64,
    arrived: Vec<Option<Arrival>>,
    count: usize,
}

struct Arrival {
    call: CallKind,
    payload: Bytes,
    deadline: Instant,
    timeout: Duration,
}

/// What an arrival leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Others are to come.
    Waiting,
    /// All are there; their payloads in PE order.
    Complete { sequence: u64, call: CallKind, payloads: Vec<Bytes> },
    /// They do not agree.
    Fault(JobFault),
    /// A PE that counts wrongly.
    OutOfOrder,
}

impl Rounds {
    pub(crate) fn new(n_pes: usize) -> Self {
        Self { sequence: 0, arrived: (0..n_pes).map(|_| None).collect(), count: 0 }
    }

    pub(crate) fn arrive(
        &mut self,
        pe: usize,
        sequence: u64,
        call: CallKind,
        payload: Bytes,
        now: Instant,
        timeout: Duration,
    ) -> Progress {
        let expected = self.sequence;
        let Some(slot) = self.arrived.get_mut(pe).filter(|slot| slot.is_none() && sequence == expected)
        else {
            return Progress::OutOfOrder;
        };
        *slot = Some(Arrival { call, payload, deadline: now + timeout, timeout });
        self.count += 1;
        let calls = || self.arrived.iter().enumerate().filter_map(|(pe, a)| a.as_ref().map(|a| (pe, a.call)));
        // Only a newcomer that differs from another can have made a difference; the common case looks at one.
        if calls().any(|(_, other)| other != call)
            && let Some(odd) = odd_ones(&calls().collect::<Vec<_>>())
        {
            return Progress::Fault(JobFault::CallMismatch {
                sequence,
                odd: odd.odd,
                theirs: odd.theirs,
                others: odd.others,
                ours: odd.ours,
            });
        }
        if self.count < self.arrived.len() {
            return Progress::Waiting;
        }
        self.sequence += 1;
        self.count = 0;
        let payloads =
            self.arrived.iter_mut().filter_map(Option::take).map(|arrival| arrival.payload).collect();
        Progress::Complete { sequence, call, payloads }
    }

    /// When the first that waits has waited long enough.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.arrived.iter().flatten().map(|arrival| arrival.deadline).min()
    }

    /// Who is missing, if a deadline has passed.
    pub(crate) fn overdue(&self, now: Instant) -> Option<JobFault> {
        let late = self.arrived.iter().flatten().find(|arrival| arrival.deadline <= now)?;
        let missing: PeList = (0..self.arrived.len()).filter(|pe| self.arrived[*pe].is_none()).collect();
        Some(JobFault::CallTimeout { call: late.call, missing, after: late.timeout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn arrive(rounds: &mut Rounds, pe: usize, sequence: u64, call: CallKind, now: Instant) -> Progress {
        rounds.arrive(pe, sequence, call, Bytes::from(vec![pe as u8; pe]), now, SECOND)
    }

    #[test]
    fn rounds_follow_each_other() {
        let (mut rounds, now) = (Rounds::new(3), Instant::now());
        for sequence in 0..3 {
            assert_eq!(arrive(&mut rounds, 2, sequence, CallKind::AllGather, now), Progress::Waiting);
            assert_eq!(arrive(&mut rounds, 0, sequence, CallKind::AllGather, now), Progress::Waiting);
            assert_eq!(arrive(&mut rounds, 0, sequence, CallKind::AllGather, now), Progress::OutOfOrder);
            assert_eq!(arrive(&mut rounds, 1, sequence + 1, CallKind::AllGather, now), Progress::OutOfOrder);
            let payloads = vec![Bytes::new(), Bytes::from_static(&[1]), Bytes::from_static(&[2, 2])];
            assert_eq!(
                arrive(&mut rounds, 1, sequence, CallKind::AllGather, now),
                Progress::Complete { sequence, call: CallKind::AllGather, payloads }
            );
            assert_eq!(rounds.deadline(), None);
        }
        assert_eq!(arrive(&mut rounds, 9, 3, CallKind::Barrier, now), Progress::OutOfOrder);
    }

    #[test]
    fn different_calls_are_named() {
        let (mut rounds, now) = (Rounds::new(4), Instant::now());
        arrive(&mut rounds, 1, 0, CallKind::Barrier, now);
        arrive(&mut rounds, 3, 0, CallKind::Barrier, now);
        let Progress::Fault(fault) = arrive(&mut rounds, 0, 0, CallKind::Leave, now) else {
            panic!("no fault")
        };
        let text = fault.to_string();
        assert!(text.contains("PE 0 called leave, PEs 1, 3 called barrier"), "{text}");
    }

    #[test]
    fn the_missing_are_named_at_the_deadline() {
        let (mut rounds, now) = (Rounds::new(5), Instant::now());
        arrive(&mut rounds, 1, 0, CallKind::Barrier, now);
        assert_eq!(rounds.deadline(), Some(now + SECOND));
        assert_eq!(rounds.overdue(now), None);
        let text = rounds.overdue(now + SECOND).unwrap().to_string();
        assert!(text.contains("barrier: PEs 0, 2-4 did not arrive within 1s"), "{text}");
    }
}
