//! Deadlines, written as seconds with an optional fraction.

use std::time::Duration;

/// The shortest deadline that can be set.
pub const MIN_TIMEOUT: Duration = Duration::from_millis(1);
/// The longest deadline that can be set (a year): nothing waits for ever.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// Why a text is no deadline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecondsError {
    /// Not a number at all.
    #[error("{0:?} is not a number of seconds; write e.g. 120 or 0.5, without a unit")]
    NotANumber(String),
    /// A number outside of what is allowed.
    #[error(
        "{0:?} is outside of 0.001..=31536000 seconds; no call may wait for ever, so 0 or infinity do not mean that"
    )]
    OutOfRange(String),
}

/// Parses seconds, e.g. `120` or `0.5`, into a duration in [`MIN_TIMEOUT`]`..=`[`MAX_TIMEOUT`].
///
/// # Errors
/// If the text is not a number, or is outside of that range.
pub fn parse_seconds(text: &str) -> Result<Duration, SecondsError> {
    let seconds: f64 = text.parse().map_err(|_| SecondsError::NotANumber(text.to_owned()))?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| (MIN_TIMEOUT..=MAX_TIMEOUT).contains(duration))
        .ok_or_else(|| SecondsError::OutOfRange(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_and_bad() {
        assert_eq!(parse_seconds("120"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["", "fast", "10s", "1 2"] {
            assert_eq!(parse_seconds(text), Err(SecondsError::NotANumber(text.into())));
        }
        for text in ["0", "-1", "inf", "NaN", "1e99", "1e-9"] {
            assert_eq!(parse_seconds(text), Err(SecondsError::OutOfRange(text.into())));
        }
    }
}
