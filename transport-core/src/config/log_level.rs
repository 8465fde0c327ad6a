//! How much is logged.

use std::fmt;
use std::str::FromStr;

/// How much is logged, from nothing to everything; `SHMEM_LOG_LEVEL`, default [`Warn`](LogLevel::Warn).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What ends the job.
    Fatal,
    /// What failed.
    Error,
    /// What is odd.
    #[default]
    Warn,
    /// What happens.
    Info,
    /// How it happens.
    Debug,
    /// Every step.
    Trace,
}

impl LogLevel {
    const NAMES: [(&'static str, Self); 7] = [
        ("off", Self::Off),
        ("fatal", Self::Fatal),
        ("error", Self::Error),
        ("warn", Self::Warn),
        ("info", Self::Info),
        ("debug", Self::Debug),
        ("trace", Self::Trace),
    ];

    /// The filter of `tracing` that it stands for; `tracing` has nothing above errors.
    #[must_use]
    pub const fn tracing_filter(self) -> tracing::level_filters::LevelFilter {
        use tracing::level_filters::LevelFilter;
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Fatal | Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, level)| level == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for LogLevel {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let known = |(name, _): &&(&str, Self)| text.eq_ignore_ascii_case(name);
        Self::NAMES.iter().find(known).map(|(_, level)| *level).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_both_ways() {
        for (name, level) in LogLevel::NAMES {
            assert_eq!(name.to_uppercase().parse(), Ok(level));
            assert_eq!(level.to_string(), name);
        }
        assert_eq!("loud".parse::<LogLevel>(), Err(()));
    }
}
