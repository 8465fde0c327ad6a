//! Works as people ask for them: `name` or `name:bytes`.

use std::fmt;
use std::str::FromStr;

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::config::{ByteSize, ByteSizeError};

use super::{Kind, Work};

/// Why what was asked for is no work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// No work of that name.
    #[error("no work is called {name:?}; there are {}", names())]
    NoSuchWork {
        /// What was asked for.
        name: String,
    },
    /// A size that is none.
    #[error("the size of {name}: {error}")]
    BadSize {
        /// The work's name.
        name: &'static str,
        /// What is wrong with it.
        error: ByteSizeError,
    },
    /// A size for a work that has none.
    #[error("{name} has no size; leave {bytes} out")]
    NoSize {
        /// The work's name.
        name: &'static str,
        /// What was asked for.
        bytes: usize,
    },
    /// A size that is too small.
    #[error("{name} of {bytes} bytes cannot be done; it needs at least {min}")]
    TooSmall {
        /// The work's name.
        name: &'static str,
        /// What was asked for.
        bytes: usize,
        /// The smallest.
        min: usize,
    },
    /// A size that is no whole number of elements.
    #[error("{name} adds numbers of 4 bytes; {bytes} bytes are no multiple of that")]
    NotWhole {
        /// The work's name.
        name: &'static str,
        /// What was asked for.
        bytes: usize,
    },
    /// A work for two, with one PE.
    #[error("{name} needs at least 2 PEs, but the job has {n_pes}")]
    NoPartner {
        /// The work's name.
        name: &'static str,
        /// PEs of the job.
        n_pes: usize,
    },
    /// More than the heap.
    #[error(
        "{work} needs {} of symmetric heap on each of {n_pes} PEs, but it has {heap}; raise --heap or take a smaller size",
        room(*needed)
    )]
    TooLarge {
        /// The work.
        work: Work,
        /// PEs of the job.
        n_pes: usize,
        /// Bytes that it needs, if they can be counted.
        needed: Option<u64>,
        /// The heap.
        heap: ByteSize,
    },
}

fn names() -> String {
    Kind::ALL.map(Kind::name).join(", ")
}

fn room(needed: Option<u64>) -> String {
    needed.map_or("more than 2^64 bytes".to_owned(), |bytes| format!("{bytes} bytes"))
}

impl Work {
    /// A work of so many bytes (0 for a kind without a size), with the default algorithm.
    ///
    /// # Errors
    ///
    /// [`AskError`] if the kind cannot have that size.
    pub fn new(kind: Kind, bytes: usize) -> Result<Self, AskError> {
        let name = kind.name();
        let min = match kind {
            // The last 8 bytes count the rounds.
            Kind::PingPong => 8,
            // A signal alone is something.
            Kind::SignalPingPong => 0,
            _ => 1,
        };
        match kind.default_bytes() {
            None if bytes > 0 => return Err(AskError::NoSize { name, bytes }),
            Some(_) if bytes < min => return Err(AskError::TooSmall { name, bytes, min }),
            Some(_) if kind == Kind::Replay && !bytes.is_multiple_of(4) => {
                return Err(AskError::NotWhole { name, bytes });
            }
            _ => {}
        }
        Ok(Self { kind, bytes, algorithm: AllGatherAlgorithm::Auto })
    }

    /// Whether a job of so many PEs with such a heap can do it.
    ///
    /// # Errors
    ///
    /// [`AskError::NoPartner`], [`AskError::TooLarge`].
    pub fn check_fits(&self, n_pes: usize, heap: ByteSize) -> Result<(), AskError> {
        if self.kind.needs_partner() && n_pes < 2 {
            return Err(AskError::NoPartner { name: self.kind.name(), n_pes });
        }
        let needed = crate::heap_needed(&[*self], n_pes);
        if needed.is_none_or(|needed| needed > heap.bytes()) {
            return Err(AskError::TooLarge { work: *self, n_pes, needed, heap });
        }
        Ok(())
    }
}

impl FromStr for Work {
    type Err = AskError;

    fn from_str(text: &str) -> Result<Self, AskError> {
        let (name, size) = text.split_once(':').map_or((text, None), |(name, size)| (name, Some(size)));
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| AskError::NoSuchWork { name: name.to_owned() })?;
        let bytes = match size {
            None => kind.default_bytes().unwrap_or(0),
            Some(size) => {
                let bad = |error| AskError::BadSize { name: kind.name(), error };
                let bytes = size.parse::<ByteSize>().map_err(bad)?.bytes();
                let bytes =
                    usize::try_from(bytes).map_err(|_| bad(ByteSizeError::Overflow(size.to_owned())))?;
                if kind.default_bytes().is_none() {
                    return Err(AskError::NoSize { name: kind.name(), bytes });
                }
                bytes
            }
        };
        Self::new(kind, bytes)
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.kind.default_bytes().is_some() { write!(f, ":{}", self.bytes) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_are_read_and_shown() {
        for (text, shown) in [
            ("ping-pong", "ping-pong:8"),
            ("ping-pong:13", "ping-pong:13"),
            ("signal-ping-pong:0", "signal-ping-pong:0"),
            ("stream", "stream:65536"),
            ("stream:1MiB", "stream:1048576"),
            ("all-gather:4K", "all-gather:4096"),
            ("barrier", "barrier"),
            ("replay:8", "replay:8"),
        ] {
            let work: Work = text.parse().unwrap();
            assert_eq!(work.to_string(), shown);
            assert_eq!(shown.parse(), Ok(work));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, reason) in [
            ("pingpong", "there are ping-pong, "),
            ("", "no work is called"),
            ("put:", "whole number"),
            ("put:x", "whole number"),
            ("put:-8", "negative"),
            ("put:0", "at least 1"),
            ("ping-pong:7", "at least 8"),
            ("replay:6", "multiple"),
            ("barrier:8", "no size"),
            ("barrier:0", "no size"),
            ("get:99999999999999999999", "2^64"),
        ] {
            let error = text.parse::<Work>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let heap = ByteSize::new(1 << 20);
        let fits = |text: &str, n_pes| text.parse::<Work>().unwrap().check_fits(n_pes, heap);
        assert_eq!(fits("barrier", 1), Ok(()));
        assert_eq!(fits("put:256K", 2), Ok(()));
        assert!(matches!(fits("stream", 1), Err(AskError::NoPartner { n_pes: 1, .. })));
        assert!(matches!(fits("put:1M", 2), Err(AskError::TooLarge { .. })));
        assert!(matches!(fits("all-gather:300K", 4), Err(AskError::TooLarge { .. })));
        assert!(matches!(
            fits("all-gather:18446744073709551615", 4),
            Err(AskError::TooLarge { needed: None, .. })
        ));
    }
}
