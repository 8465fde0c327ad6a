//! What is compared, and how people ask for it.

use std::fmt;
use std::str::FromStr;

use transport_core::config::ByteSize;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    PutQuiet,
    Get,
    Put,
    PingPong,
    SignalPingPong,
    HandOff,
    Barrier,
    Turns,
    AllGather,
    Replay,
    Job,
    StartUp,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Work {
    pub(crate) kind: Kind,
    pub(crate) n_pes: usize,
    pub(crate) bytes: usize,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::PutQuiet,
        Self::Get,
        Self::Put,
        Self::PingPong,
        Self::SignalPingPong,
        Self::HandOff,
        Self::Barrier,
        Self::Turns,
        Self::AllGather,
        Self::Replay,
        Self::Job,
        Self::StartUp,
    ];

    /// As it is asked for.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PutQuiet => "put-quiet",
            Self::Get => "get",
            Self::Put => "put",
            Self::PingPong => "ping-pong",
            Self::SignalPingPong => "signal-ping-pong",
            Self::HandOff => "hand-off",
            Self::Barrier => "barrier",
            Self::Turns => "turns",
            Self::AllGather => "all-gather",
            Self::Replay => "replay",
            Self::Job => "job",
            Self::StartUp => "start-up",
        }
    }

    /// What `perf` calls it; nothing for a work that is the whole launch.
    pub(crate) fn of_ours(self) -> Option<&'static str> {
        match self {
            Self::StartUp => None,
            Self::HandOff => Some("ping-pong"),
            Self::Turns => Some("barrier"),
            Self::Job => Some("replay"),
            other => Some(other.name()),
        }
    }

    pub(crate) fn has_size(self) -> bool {
        !matches!(self, Self::Barrier | Self::Turns | Self::StartUp)
    }

    /// The sizes and the numbers of PEs that are compared if nobody says anything.
    fn usual(self, quick: bool) -> (&'static [usize], &'static [usize]) {
        const KI: usize = 1 << 10;
        const MI: usize = 1 << 20;
        const MOVED: [usize; 10] = [8, 64, 512, 4 * KI, 32 * KI, 64 * KI, 256 * KI, MI, 4 * MI, 16 * MI];
        const GATHERED: [usize; 8] = [8, 64, 512, 4 * KI, 64 * KI, 256 * KI, MI, 4 * MI];
        match (self, quick) {
            (Self::PutQuiet | Self::Get, false) => (&MOVED, &[2]),
            (Self::PutQuiet | Self::Get, true) => (&[8, 4 * KI, 64 * KI], &[2]),
            (Self::Put | Self::PingPong | Self::SignalPingPong | Self::HandOff, _) => (&[8], &[2]),
            (Self::Barrier, false) => (&[0], &[2, 4, 8, 16]),
            (Self::Barrier, true) => (&[0], &[2, 4]),
            (Self::Turns, false) => (&[0], &[4, 8, 16]),
            (Self::Turns, true) => (&[0], &[4]),
            (Self::AllGather, false) => (&GATHERED, &[2, 4, 8]),
            (Self::AllGather, true) => (&[64, 64 * KI], &[2, 4]),
            (Self::Replay | Self::Job, _) => (&[64], &[2]),
            (Self::StartUp, false) => (&[0], &[2, 8]),
            (Self::StartUp, true) => (&[0], &[2]),
        }
    }
}

impl Work {
    /// Whether what is around the rounds, like writing and looking at the bytes, takes about as long as they do.
    pub(crate) fn is_bulk(&self) -> bool {
        self.bytes >= 1 << 20
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.kind.has_size() {
            write!(f, ":{}", self.bytes)?;
        }
        write!(f, "@{}", self.n_pes)
    }
}

/// Works that were asked for: `name[:BYTES][@PES]`, or `name[:PES]` for what has no size. What is left out means the usual
/// ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    kind: Kind,
    bytes: Option<usize>,
    n_pes: Option<usize>,
}

/// Why what was asked for is no work.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AskError {
    /// No work of that name.
    #[error("no work is called {name:?}; there are {}", Kind::ALL.map(Kind::name).join(", "))]
    NoSuchWork {
        /// What was asked for.
        name: String,
    },
    /// A size that is none, or that the work cannot have.
    #[error("{text:?}: {reason}")]
    BadSize {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A number of PEs that is none, or that the work cannot have.
    #[error("{text:?}: {name} is compared for {most}, so {given:?} is no number of PEs for it")]
    BadPes {
        /// What was asked for.
        text: String,
        /// The work.
        name: &'static str,
        /// Those that it can have.
        most: &'static str,
        /// What was given.
        given: String,
    },
}

impl FromStr for Asked {
    type Err = AskError;

    fn from_str(text: &str) -> Result<Self, AskError> {
        let (rest, mut pes) = text.split_once('@').map_or((text, None), |(rest, pes)| (rest, Some(pes)));
        let (name, mut size) = rest.split_once(':').map_or((rest, None), |(name, size)| (name, Some(size)));
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| AskError::NoSuchWork { name: name.to_owned() })?;
        let bad = |reason: String| AskError::BadSize { text: text.to_owned(), reason };
        if !kind.has_size() {
            if size.is_some() && pes.is_some() {
                return Err(bad(format!("{name} has no size; leave it out")));
            }
            pes = size.take().or(pes);
        }
        let size = size.map(|size| kind.read_size(size).map_err(bad)).transpose()?;
        let pes = pes.map(|pes| kind.read_pes(text, pes)).transpose()?;
        Ok(Self { kind, bytes: size, n_pes: pes })
    }
}

impl Kind {
    fn read_size(self, text: &str) -> Result<usize, String> {
        /// What counts are in MPI's calls is an `int`, and a machine has to have room for 3 times all of it.
        const MOST: u64 = 1 << 28;
        let bytes = text.parse::<ByteSize>().map_err(|error| error.to_string())?.bytes();
        match self {
            Self::Put | Self::PutQuiet | Self::Get | Self::SignalPingPong if bytes >= 1 => {}
            Self::PingPong | Self::HandOff if bytes >= 8 => {}
            // What OpenSHMEM's fcollect64 and the graph's sums can move.
            Self::AllGather | Self::Replay | Self::Job if bytes >= 4 && bytes % 4 == 0 => {}
            Self::AllGather | Self::Replay | Self::Job => {
                return Err(format!("{} moves numbers of 4 bytes; give a multiple of 4", self.name()));
            }
            _ => return Err(format!("{bytes} bytes are too few for {}", self.name())),
        }
        if bytes > MOST {
            return Err(format!("{bytes} bytes are too many; give up to {MOST}"));
        }
        usize::try_from(bytes).map_err(|error| error.to_string())
    }

    fn read_pes(self, text: &str, given: &str) -> Result<usize, AskError> {
        let (range, most) = match self {
            Self::Barrier | Self::Turns | Self::AllGather | Self::Replay | Self::Job | Self::StartUp => {
                (2..=64, "2 to 64")
            }
            _ => (2..=2, "2"),
        };
        let n_pes = given.parse().ok().filter(|n_pes| range.contains(n_pes));
        n_pes.ok_or_else(|| AskError::BadPes {
            text: text.to_owned(),
            name: self.name(),
            most,
            given: given.to_owned(),
        })
    }
}

/// The works that were asked for, all if nothing was, in order, each once.
pub(crate) fn chosen(asked: &[Asked], quick: bool) -> Vec<Work> {
    let all = Kind::ALL.map(|kind| Asked { kind, bytes: None, n_pes: None });
    let asked = if asked.is_empty() { &all[..] } else { asked };
    let mut works = Vec::new();
    for asked in asked {
        let (sizes, pes) = asked.kind.usual(quick);
        let sizes = asked.bytes.map_or_else(|| sizes.to_vec(), |bytes| vec![bytes]);
        let pes = asked.n_pes.map_or_else(|| pes.to_vec(), |n_pes| vec![n_pes]);
        for &n_pes in &pes {
            works.extend(sizes.iter().map(|&bytes| Work { kind: asked.kind, n_pes, bytes }));
        }
    }
    works.sort_unstable();
    works.dedup();
    works
}

/// Works that one launch does, one after the other: those of a kind and a number of PEs, large ones apart.
pub(crate) fn groups(works: &[Work]) -> Vec<&[Work]> {
    let alike = |a: &Work, b: &Work| {
        (a.kind, a.n_pes, a.is_bulk()) == (b.kind, b.n_pes, b.is_bulk()) && a.kind != Kind::StartUp
    };
    works.chunk_by(alike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(asked: &str, quick: bool) -> String {
        let asked: Vec<Asked> = asked.split_whitespace().map(|text| text.parse().unwrap()).collect();
        chosen(&asked, quick).iter().map(Work::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_left_out_means_the_usual() {
        assert_eq!(works("barrier", false), "barrier@2 barrier@4 barrier@8 barrier@16");
        assert_eq!(works("barrier:4 barrier@4 barrier:3", false), "barrier@3 barrier@4");
        assert_eq!(works("all-gather:64", true), "all-gather:64@2 all-gather:64@4");
        assert_eq!(works("all-gather:1K@5 put", false), "put:8@2 all-gather:1024@5");
        assert_eq!(works("put-quiet", true), "put-quiet:8@2 put-quiet:4096@2 put-quiet:65536@2");
        let all = chosen(&[], false);
        assert!(Kind::ALL.iter().all(|kind| all.iter().any(|work| work.kind == *kind)));
        assert_eq!(all.len(), 10 + 10 + 4 + 4 + 3 + 8 * 3 + 2 + 2);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, reason) in [
            ("pong", "no work is called \"pong\"; there are put-quiet, "),
            ("put:0", "too few"),
            ("put:x", "whole number"),
            ("put-quiet:1G", "too many"),
            ("ping-pong:4", "too few"),
            ("all-gather:7", "multiple of 4"),
            ("put:8@3", "compared for 2"),
            ("barrier:1", "2 to 64"),
            ("barrier:two", "2 to 64"),
            ("barrier:8@2", "no size"),
            ("all-gather:8@100", "2 to 64"),
        ] {
            let error = text.parse::<Asked>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn groups_are_of_one_kind_and_one_number_of_pes() {
        let all = chosen(&["get", "barrier", "start-up"].map(|text| text.parse().unwrap()), false);
        let sizes: Vec<usize> = groups(&all).iter().map(|group| group.len()).collect();
        assert_eq!(sizes, [7, 3, 1, 1, 1, 1, 1, 1]);
    }
}
