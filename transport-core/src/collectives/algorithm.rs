//! The ways to do an AllGather, and which is taken if nobody says.

use std::fmt;
use std::str::FromStr;

use crate::heap::Staging;
use crate::transport::Medium;

/// How an AllGather is done. All give the same result.
///
/// One that has no room for the size (some keep what is under way in the heap's own area) is done as [`Direct`](Self::Direct), and
/// [`Marked`](Self::Marked) first as [`Eager`](Self::Eager).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AllGatherAlgorithm {
    /// As the job was told (`SHMEM_ALLGATHER`, [`JobConfig::all_gather`](crate::config::JobConfig::all_gather)), else chosen by size,
    /// PE count and backend.
    #[default]
    Auto,
    /// Barrier, a put to every peer, barrier: the reference that others are checked against. The first barrier says that
    /// everybody has come here, so that nobody still uses what will be overwritten; the second, which implies `quiet`,
    /// that every part has landed.
    Textbook,
    /// For small parts. Each PE puts its own, with a flag behind it, into a slot of its own at every peer, where it waits until
    /// that peer copies it out. So it needs no barrier: one message time. Slots of successive epochs are apart, because who has
    /// everybody's part may be in the next AllGather before the others have copied.
    Eager,
    /// As eager, for still smaller parts and networks: each byte that is sent carries a mark by which it is known to have come, so
    /// that there is no flag, and one message where there are two.
    Marked,
    /// Barrier, then a put with a signal to every peer; a PE is done when all signals have come, without a second barrier.
    Direct,
    /// Each PE says where its part is, and everybody gets it from there; another signal says that it has been read. On shared
    /// memory the reader copies once, into what then is in its own cache.
    Pull,
    /// Each PE lays its part aside; a barrier; everybody gets the others'. What two runs lay aside is apart, so that there is no second
    /// barrier. For small parts of PEs that share processors.
    Fetch,
    /// Parts go from neighbour to neighbour in pieces, each sent on as soon as it has come: every PE sends to one other only.
    Ring,
    /// In `ceil(log2 n)` rounds each PE sends all that it has, twice as much each time, to one other: few messages, for
    /// small parts of many PEs.
    Bruck,
}

impl AllGatherAlgorithm {
    /// Each of them with its name.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Auto, "auto"),
        (Self::Textbook, "textbook"),
        (Self::Eager, "eager"),
        (Self::Marked, "marked"),
        (Self::Direct, "direct"),
        (Self::Pull, "pull"),
        (Self::Fetch, "fetch"),
        (Self::Ring, "ring"),
        (Self::Bruck, "bruck"),
    ];

    /// Its place in [`ALL`](Self::ALL): a number for other PEs of the same job.
    #[must_use]
    pub fn number(self) -> u64 {
        Self::ALL.iter().take_while(|(known, _)| *known != self).count() as u64
    }

    /// The one with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).map(|(algorithm, _)| *algorithm)
    }

    /// What it comes to for parts of `len` bytes: never `Auto`, and the same on all PEs of a job.
    pub(super) fn resolved(self, job: &Job<'_>, len: u64) -> Self {
        let fits = |algorithm| match algorithm {
            Self::Eager => len <= job.staging.eager_room(),
            // Without data too it is a message.
            Self::Marked => len.max(1) <= job.staging.marked_room(),
            Self::Bruck => len <= job.staging.bruck_room(),
            Self::Fetch => len <= Staging::FETCH_ROOM,
            _ => true,
        };
        let wanted = if self == Self::Auto { job.choose(len) } else { self };
        let instead = if wanted == Self::Marked { [wanted, Self::Eager] } else { [wanted, Self::Direct] };
        instead.into_iter().find(|&algorithm| fits(algorithm)).unwrap_or(Self::Direct)
    }
}

/// What the choice depends on.
pub(super) struct Job<'a> {
    pub(super) n_pes: usize,
    pub(super) medium: Medium,
    pub(super) staging: &'a Staging,
}

impl Job<'_> {
    /// By what was measured, and for NICs by the model of their costs: see the README.
    fn choose(&self, len: u64) -> AllGatherAlgorithm {
        // Up to so many bytes a mark in each is less work than a flag, and up to so many eager is best. From so many PEs on, a
        // message to each costs more than a few that grow: earlier where each has a flag behind it.
        let (marked, eager, many, many_marked) = match self.medium {
            Medium::Memory => (0, 512, usize::MAX, usize::MAX),
            Medium::CrowdedMemory => (0, 0, usize::MAX, usize::MAX),
            Medium::Nic => (64, 4 << 10, 16, 48),
            Medium::SoftwareNic => (448, 4 << 10, 4, 4),
        };
        let by_marks = (1..=marked).contains(&len);
        let many = if by_marks { many_marked } else { many };
        match len {
            ..=512 if self.n_pes >= many => AllGatherAlgorithm::Bruck,
            _ if by_marks => AllGatherAlgorithm::Marked,
            _ if len <= eager => AllGatherAlgorithm::Eager,
            // Where PEs take turns on the processors, a count of all is less to wait for than a signal of each.
            _ if self.medium == Medium::CrowdedMemory && len <= Staging::FETCH_ROOM => {
                AllGatherAlgorithm::Fetch
            }
            _ if self.medium == Medium::CrowdedMemory && self.n_pes > 4 => AllGatherAlgorithm::Textbook,
            _ => AllGatherAlgorithm::Direct,
        }
    }
}

impl fmt::Display for AllGatherAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            Self::ALL.iter().find(|(algorithm, _)| algorithm == self).map_or("unknown", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for AllGatherAlgorithm {
    type Err = String;

    /// By its name, in small letters or capitals.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let known = Self::ALL.iter().find(|(_, name)| text.eq_ignore_ascii_case(name));
        known.map(|(algorithm, _)| *algorithm).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("no AllGather algorithm is called {text:?}; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::SymHeap;
    use crate::memory::Region;

    fn resolved(algorithm: AllGatherAlgorithm, n_pes: usize, medium: Medium, len: u64) -> AllGatherAlgorithm {
        let region = Region::map_private(SymHeap::region_len(n_pes, 65536, 0) as usize).unwrap();
        let heap = SymHeap::new(region, 0, n_pes, 0, 1);
        algorithm.resolved(&Job { n_pes, medium, staging: heap.staging() }, len)
    }

    #[test]
    fn each_has_a_number() {
        for (algorithm, _) in AllGatherAlgorithm::ALL {
            assert_eq!(AllGatherAlgorithm::from_number(algorithm.number()), Some(algorithm));
        }
        assert_eq!(AllGatherAlgorithm::from_number(AllGatherAlgorithm::ALL.len() as u64), None);
        assert_eq!(AllGatherAlgorithm::from_number(u64::MAX), None);
    }

    #[test]
    fn each_is_found_by_its_name_in_any_case() {
        for (algorithm, name) in AllGatherAlgorithm::ALL {
            for name in [name.to_owned(), name.to_uppercase()] {
                assert_eq!(name.parse(), Ok(algorithm), "{name}");
            }
        }
        let error = "rings".parse::<AllGatherAlgorithm>().unwrap_err();
        assert!(error.contains("\"rings\"; there are auto, textbook, "), "{error}");
    }

    #[test]
    fn many_pes_over_nics_gather_in_rounds() {
        use AllGatherAlgorithm::{Bruck, Eager, Marked};
        let chosen = |n_pes, len| resolved(AllGatherAlgorithm::Auto, n_pes, Medium::Nic, len);
        assert_eq!(
            [15, 16, 47, 48, 64].map(|n_pes| chosen(n_pes, 64)),
            [Marked, Marked, Marked, Bruck, Bruck]
        );
        assert_eq!([15, 16, 64].map(|n_pes| chosen(n_pes, 65)), [Eager, Bruck, Bruck]);
        assert_eq!([2, 15, 16, 48].map(|n_pes| chosen(n_pes, 0)), [Eager, Eager, Bruck, Bruck]);
        assert_eq!([2, 15, 16, 64].map(|n_pes| chosen(n_pes, 513)), [Eager; 4]);
    }

    #[test]
    fn what_has_no_room_is_done_in_another_way() {
        use AllGatherAlgorithm::{Bruck, Direct, Eager, Fetch, Marked, Ring};
        assert_eq!(resolved(Eager, 2, Medium::Nic, 8192), Eager);
        assert_eq!(resolved(Marked, 64, Medium::Nic, 448), Marked);
        assert_eq!(resolved(Marked, 64, Medium::Nic, 449), Eager);
        assert_eq!(resolved(Marked, 2, Medium::Nic, 8193), Direct);
        assert_eq!(resolved(Marked, 512, Medium::Nic, 0), Marked);
        assert_eq!(resolved(Marked, 513, Medium::Nic, 0), Eager);
        assert_eq!(resolved(Fetch, 64, Medium::Memory, 8192), Fetch);
        assert_eq!(resolved(Fetch, 64, Medium::Memory, 8193), Direct);
        assert_eq!(resolved(Eager, 2, Medium::Nic, 8193), Direct);
        assert_eq!(resolved(Bruck, 4096, Medium::Nic, 64), Bruck);
        assert_eq!(resolved(Bruck, 4096, Medium::Nic, 65), Direct);
        assert_eq!(resolved(Ring, 2, Medium::Nic, u64::MAX), Ring);
    }

    #[test]
    fn auto_is_never_left_and_always_has_room() {
        for medium in [Medium::Memory, Medium::CrowdedMemory, Medium::Nic, Medium::SoftwareNic] {
            for n_pes in [1, 2, 4, 5, 16, 64, 4096] {
                for len in [0, 1, 64, 512, 513, 4096, 4097, 1 << 40] {
                    let chosen = resolved(AllGatherAlgorithm::Auto, n_pes, medium, len);
                    assert_ne!(chosen, AllGatherAlgorithm::Auto);
                    assert_eq!(resolved(chosen, n_pes, medium, len), chosen, "{n_pes} PEs, {len} bytes");
                }
            }
        }
    }
}
