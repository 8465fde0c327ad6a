//! What ends a job for all of its PEs, told to every one in the same words.

use std::fmt;
use std::time::Duration;

use crate::pe_list::PeList;

/// What all PEs of a job must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Property {
    /// The number of PEs.
    NPes,
    /// Bytes of the symmetric heap.
    HeapSize,
    /// The backend's name.
    Backend,
    /// The algorithm of AllGathers for which the program names none.
    AllGather,
}

impl Property {
    const fn remedy(self) -> &'static str {
        match self {
            Self::NPes => "start every PE with the same n_pes (SHMEM_N_PES)",
            Self::HeapSize => "give every PE the same heap size (SHMEM_HEAP_SIZE or --heap)",
            Self::Backend => "give every PE the same backend (SHMEM_BACKEND or --backend)",
            Self::AllGather => "give every PE the same algorithm (SHMEM_ALLGATHER or --algorithm), or none",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NPes => "n_pes",
            Self::HeapSize => "heap size",
            Self::Backend => "backend",
            Self::AllGather => "the AllGather's algorithm",
        })
    }
}

/// The collective calls of a [`Bootstrap`](super::Bootstrap).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// [`allgather`](super::Bootstrap::allgather).
    AllGather,
    /// [`barrier`](super::Bootstrap::barrier).
    Barrier,
    /// [`leave`](super::Bootstrap::leave).
    Leave,
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AllGather => "allgather",
            Self::Barrier => "barrier",
            Self::Leave => "leave",
        })
    }
}

/// What ended the job: every PE gets the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobFault {
    /// PEs that do not agree.
    #[error(
        "the PEs do not agree on {property}: {odd} has {theirs}, {others} has {ours}; {remedy}",
        remedy = property.remedy()
    )]
    Mismatch {
        /// On what.
        property: Property,
        /// The PEs that differ from most (from the lowest PE if there is no majority).
        odd: PeList,
        /// What the first of them has.
        theirs: String,
        /// The PEs they differ from.
        others: PeList,
        /// What those have.
        ours: String,
    },

    /// Two processes with one number.
    #[error(
        "PE {pe} was started twice, at {first} and at {second}; give every PE its own pe_id from 0 to n_pes-1 \
         (SHMEM_PE), or another job's PE came here: give each job its own port or SHMEM_JOB_ID"
    )]
    DuplicatePe {
        /// The number.
        pe: usize,
        /// Where the first connected from.
        first: String,
        /// Where the second connected from.
        second: String,
    },

    /// A number that the job does not have.
    #[error(
        "a process at {from} was started as PE {pe}, but the job has {n_pes} PEs, numbered from 0; correct its pe_id"
    )]
    PeOutOfRange {
        /// The number.
        pe: usize,
        /// How many PEs there are.
        n_pes: usize,
        /// Where it connected from.
        from: String,
    },

    /// Not all came.
    #[error(
        "{missing} did not join within {after:?}. Were they started, with PE 0's address, and do they run still? \
         SHMEM_TIMEOUT (--timeout, seconds) sets the limit{}", refusals(.refused)
    )]
    Missing {
        /// Who.
        missing: PeList,
        /// How long PE 0 waited.
        after: Duration,
        /// Connections that were refused meanwhile, the last few, each with its reason.
        refused: Vec<String>,
    },

    /// PEs that are in different calls.
    #[error(
        "the PEs are in different calls: {odd} called {theirs}, {others} called {ours} (call {sequence} of each); \
         collective calls must be made in the same order on every PE"
    )]
    CallMismatch {
        /// Which collective call of the job, from 0.
        sequence: u64,
        /// The PEs that differ from most (from the lowest PE if there is no majority).
        odd: PeList,
        /// What they called.
        theirs: CallKind,
        /// The PEs they differ from.
        others: PeList,
        /// What those called.
        ours: CallKind,
    },

    /// Not all made the call.
    #[error(
        "{call}: {missing} did not arrive within {after:?}. Is it slow, stopped, or in another call? \
         SHMEM_TIMEOUT (--timeout, seconds) sets the limit"
    )]
    CallTimeout {
        /// The call.
        call: CallKind,
        /// Who did not make it.
        missing: PeList,
        /// How long the others waited.
        after: Duration,
    },

    /// A PE is gone.
    #[error("PE {pe} is gone ({cause}); look at its output, end the other PEs and start the job again")]
    PeerLost {
        /// Who.
        pe: usize,
        /// What is known of why.
        cause: String,
    },

    /// A PE gave up and said so.
    #[error("PE {pe} gave up: {reason}")]
    Aborted {
        /// Who.
        pe: usize,
        /// What it said.
        reason: String,
    },
}

fn refusals(refused: &[String]) -> String {
    if refused.is_empty() { String::new() } else { format!(". Refused meanwhile: {}", refused.join("; ")) }
}

/// Splits what the PEs have into the odd ones and the value of most (of the lowest PE if there is no majority).
///
/// `values` holds each PE with its value. `None` if all are equal.
pub(crate) fn odd_ones<V: PartialEq + Clone>(values: &[(usize, V)]) -> Option<Odd<V>> {
    let mut groups: Vec<(V, Vec<usize>)> = Vec::new();
    for (pe, value) in values {
        match groups.iter_mut().find(|(known, _)| known == value) {
            Some((_, pes)) => pes.push(*pe),
            None => groups.push((value.clone(), vec![*pe])),
        }
    }
    let lowest = |pes: &[usize]| pes.iter().copied().min().unwrap_or(usize::MAX);
    groups.sort_by_key(|(_, pes)| (std::cmp::Reverse(pes.len()), lowest(pes)));
    let mut groups = groups.into_iter();
    let (ours, others) = groups.next()?;
    let mut rest: Vec<(V, Vec<usize>)> = groups.collect();
    rest.sort_by_key(|(_, pes)| lowest(pes));
    let theirs = rest.first()?.0.clone();
    let odd = rest.iter().flat_map(|(_, pes)| pes.iter().copied()).collect();
    Some(Odd { odd, theirs, others: others.into_iter().collect(), ours })
}

/// See [`odd_ones`].
pub(crate) struct Odd<V> {
    pub(crate) odd: PeList,
    pub(crate) theirs: V,
    pub(crate) others: PeList,
    pub(crate) ours: V,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd(values: &[(usize, u32)]) -> Option<(Vec<usize>, u32, Vec<usize>, u32)> {
        odd_ones(values).map(|o| (o.odd.as_slice().to_vec(), o.theirs, o.others.as_slice().to_vec(), o.ours))
    }

    #[test]
    fn the_majority_is_right_and_the_lowest_pe_breaks_ties() {
        assert_eq!(odd(&[]), None);
        assert_eq!(odd(&[(0, 4), (1, 4)]), None);
        assert_eq!(odd(&[(1, 5), (0, 4)]), Some((vec![1], 5, vec![0], 4)));
        assert_eq!(odd(&[(0, 4), (1, 5), (2, 5)]), Some((vec![0], 4, vec![1, 2], 5)));
        assert_eq!(odd(&[(0, 4), (3, 7), (1, 5), (2, 4)]), Some((vec![1, 3], 5, vec![0, 2], 4)));
    }
}
