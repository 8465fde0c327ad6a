//! What can be timed.

mod ask;
mod collective;
mod graph;
mod laps;
mod pattern;
mod perform;
mod ping_pong;
mod put;
mod room;

pub use ask::AskError;
pub(crate) use laps::{LapTimes, Laps};
pub(crate) use room::{PAGE, Room};

use std::time::Duration;

use transport_core::collectives::AllGatherAlgorithm;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain put from PE 0 to PE 1, which sees its last word change and puts back. Other PEs wait.
    PingPong,
    /// The same by puts with signal.
    SignalPingPong,
    /// PE 0 puts to PE 1 again and again without waiting; `quiet` at the end.
    Stream,
    /// PE 0 puts to PE 1, `quiet` after each put.
    PutQuiet,
    /// The call `put_nbi` of PE 0 to PE 1 alone, in bursts; the `quiet` after each burst is not counted.
    Put,
    /// PE 0 gets from PE 1, `quiet` after each get.
    Get,
    /// `barrier_all`.
    Barrier,
    /// An AllGather in place; the size is that of each PE's part.
    AllGather,
    /// A replay of the reference job's graph; the size is that of each PE's part.
    Replay,
    /// A replay of a graph of 100 copies of nothing: what a replay costs beside its work.
    EmptyNodes,
}

impl Kind {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 10] = [
        Self::PingPong,
        Self::SignalPingPong,
        Self::Stream,
        Self::PutQuiet,
        Self::Put,
        Self::Get,
        Self::Barrier,
        Self::AllGather,
        Self::Replay,
        Self::EmptyNodes,
    ];

    /// What it is called on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PingPong => "ping-pong",
            Self::SignalPingPong => "signal-ping-pong",
            Self::Stream => "stream",
            Self::PutQuiet => "put-quiet",
            Self::Put => "put",
            Self::Get => "get",
            Self::Barrier => "barrier",
            Self::AllGather => "all-gather",
            Self::Replay => "replay",
            Self::EmptyNodes => "empty-nodes",
        }
    }

    /// Its size in bytes if nobody says one; nothing if it has no size.
    #[must_use]
    pub const fn default_bytes(self) -> Option<usize> {
        match self {
            Self::PingPong | Self::SignalPingPong | Self::PutQuiet | Self::Put | Self::Get => Some(8),
            Self::Stream => Some(65536),
            Self::AllGather | Self::Replay => Some(64),
            Self::Barrier | Self::EmptyNodes => None,
        }
    }

    /// Whether PE 0 does it with PE 1.
    #[must_use]
    pub const fn needs_partner(self) -> bool {
        !matches!(self, Self::Barrier | Self::AllGather | Self::Replay | Self::EmptyNodes)
    }

    /// The unit of its value.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        if matches!(self, Self::Stream) { "MB/s" } else { "us" }
    }
}

/// One work: a kind, its size, and how its AllGathers are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    kind: Kind,
    bytes: usize,
    algorithm: AllGatherAlgorithm,
}

impl Work {
    /// Which kind it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its size in bytes; 0 if it has none.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How its AllGathers are done, if it has any.
    #[must_use]
    pub fn algorithm(&self) -> Option<AllGatherAlgorithm> {
        matches!(self.kind, Kind::AllGather | Kind::Replay).then_some(self.algorithm)
    }

    /// The same with this algorithm.
    #[must_use]
    pub fn with_algorithm(self, algorithm: AllGatherAlgorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// What so many rounds in `took` come to, in the kind's unit: half a round trip for a ping-pong, 10^6 bytes a second for
    /// a stream, microseconds a round for all else.
    #[must_use]
    pub fn value(&self, took: Duration, rounds: u64) -> f64 {
        let (seconds, rounds) = (took.as_secs_f64(), rounds as f64);
        match self.kind {
            Kind::PingPong | Kind::SignalPingPong => seconds * 1e6 / rounds / 2.0,
            Kind::Stream => self.bytes as f64 * rounds / 1e6 / seconds,
            _ => seconds * 1e6 / rounds,
        }
    }

    /// As words, for another PE.
    pub(crate) fn to_words(self) -> [u64; 3] {
        [self.kind as u64, self.bytes as u64, self.algorithm.number()]
    }

    /// What [`Work::to_words`] made.
    pub(crate) fn from_words([kind, bytes, algorithm]: [u64; 3]) -> Option<Self> {
        let kind = *Kind::ALL.iter().find(|known| **known as u64 == kind)?;
        let work = Self::new(kind, usize::try_from(bytes).ok()?).ok()?;
        Some(work.with_algorithm(AllGatherAlgorithm::from_number(algorithm)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_every_work() {
        for kind in Kind::ALL {
            for (algorithm, _) in AllGatherAlgorithm::ALL {
                let work = Work::new(kind, kind.default_bytes().unwrap_or(0)).unwrap();
                let work = work.with_algorithm(algorithm);
                assert_eq!(Work::from_words(work.to_words()), Some(work));
            }
        }
        assert_eq!(Work::from_words([99, 8, 0]), None);
        assert_eq!(Work::from_words([0, 8, 99]), None);
        assert_eq!(Work::from_words([0, 7, 0]), None);
    }

    #[test]
    fn values_have_the_unit_of_their_kind() {
        let second = Duration::from_secs(1);
        let value = |text: &str| text.parse::<Work>().unwrap().value(second, 1000);
        assert!((value("ping-pong") - 500.0).abs() < 1e-9);
        assert!((value("stream:1000") - 1.0).abs() < 1e-9);
        assert!((value("barrier") - 1000.0).abs() < 1e-9);
    }
}
