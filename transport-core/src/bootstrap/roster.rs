//! Who has joined, and whether they agree.

use super::fault::{JobFault, Property, odd_ones};
use super::message::Details;
use crate::config::ByteSize;
use crate::pe_list::PeList;

/// The PEs of the job, as PE 0 counts them.
pub(crate) struct Roster {
    members: Vec<Option<Joined>>,
}

struct Joined {
    details: Details,
    from: String,
}

impl Roster {
    pub(crate) fn new(n_pes: usize) -> Self {
        Self { members: (0..n_pes).map(|_| None).collect() }
    }

    pub(crate) fn n_pes(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn missing(&self) -> PeList {
        (0..self.members.len()).filter(|pe| self.members[*pe].is_none()).collect()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.members.iter().all(Option::is_some)
    }

    /// Takes one more PE in, unless it shows that the job cannot be.
    pub(crate) fn admit(&mut self, details: Details, from: &str) -> Result<(), JobFault> {
        self.agree(Property::NPes, &details, |d| d.n_pes, |n_pes| n_pes.to_string())?;
        let pe = details.pe;
        let out_of_range = JobFault::PeOutOfRange { pe, n_pes: self.n_pes(), from: from.to_owned() };
        if let Some(first) = self.members.get(pe).ok_or(out_of_range)? {
            return Err(JobFault::DuplicatePe { pe, first: first.from.clone(), second: from.to_owned() });
        }
        self.agree(Property::HeapSize, &details, |d| d.heap_size, |heap| ByteSize::new(*heap).to_string())?;
        self.agree(Property::Backend, &details, |d| d.backend.clone(), |name| format!("{name:?}"))?;
        self.agree(Property::AllGather, &details, |d| d.all_gather.clone(), Clone::clone)?;
        self.members[pe] = Some(Joined { details, from: from.to_owned() });
        Ok(())
    }

    fn agree<V: PartialEq + Clone>(
        &self,
        property: Property,
        newcomer: &Details,
        value_of: impl Fn(&Details) -> V,
        show: impl Fn(&V) -> String,
    ) -> Result<(), JobFault> {
        let joined = self.members.iter().flatten().map(|joined| &joined.details);
        let values: Vec<(usize, V)> =
            joined.chain([newcomer]).map(|details| (details.pe, value_of(details))).collect();
        match odd_ones(&values) {
            None => Ok(()),
            Some(odd) => Err(JobFault::Mismatch {
                property,
                odd: odd.odd,
                theirs: show(&odd.theirs),
                others: odd.others,
                ours: show(&odd.ours),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn details(pe: usize, n_pes: usize, heap_size: u64, backend: &str) -> Details {
        let (timeout, job_id) = (Duration::from_secs(1), String::new());
        Details { pe, n_pes, heap_size, timeout, job_id, backend: backend.into(), all_gather: "auto".into() }
    }

    fn gathering_by(pe: usize, all_gather: &str) -> Details {
        Details { all_gather: all_gather.into(), ..details(pe, 4, 1 << 20, "x") }
    }

    fn roster_with(pes: &[usize]) -> Roster {
        let mut roster = Roster::new(4);
        for pe in pes {
            roster.admit(details(*pe, 4, 1 << 20, "x"), "here").unwrap();
        }
        roster
    }

    #[test]
    fn all_join_in_any_order() {
        let mut roster = roster_with(&[0, 3]);
        assert_eq!(roster.missing().to_string(), "PEs 1, 2");
        assert!(!roster.is_complete());
        roster.admit(details(2, 4, 1 << 20, "x"), "here").unwrap();
        roster.admit(details(1, 4, 1 << 20, "x"), "here").unwrap();
        assert!(roster.is_complete());
    }

    #[test]
    fn what_is_odd_is_named() {
        for (newcomer, words) in [
            (details(2, 5, 1 << 20, "x"), &["PE 2 has 5", "PEs 0, 1 has 4", "n_pes"][..]),
            (details(7, 4, 1 << 20, "x"), &["PE 7", "4 PEs", "there"]),
            (details(1, 4, 1 << 20, "x"), &["PE 1 was started twice", "here", "there"]),
            (details(2, 4, 2 << 20, "x"), &["PE 2 has 2 MiB", "1 MiB", "SHMEM_HEAP_SIZE"]),
            (details(2, 4, 1 << 20, "y"), &["PE 2 has \"y\"", "\"x\"", "backend"]),
            (gathering_by(2, "ring"), &["PE 2 has ring", "PEs 0, 1 has auto", "SHMEM_ALLGATHER"]),
        ] {
            let fault = roster_with(&[0, 1]).admit(newcomer, "there").unwrap_err().to_string();
            assert!(words.iter().all(|word| fault.contains(word)), "{fault}");
        }
    }
}
