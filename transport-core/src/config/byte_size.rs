//! Numbers of bytes, as people write them.

use std::fmt;
use std::str::FromStr;

/// A number of bytes. Parses `1048576`, `64K`, `1G`, `512MiB` (all powers of 1024); displays as `512 MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// Why a text is no [`ByteSize`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ByteSizeError {
    /// Does not begin with a whole number.
    #[error(
        "{0:?} is not a size in bytes; write a whole number with an optional K, M, G or T, e.g. 1G, 512MiB or 1048576"
    )]
    NotANumber(String),
    /// Below zero.
    #[error("{0:?} is negative; a size in bytes is a whole number, e.g. 1G, 512MiB or 1048576")]
    Negative(String),
    /// Has a fraction.
    #[error("{0:?} has a fraction; use the next smaller unit and a whole number, e.g. 1536M instead of 1.5G")]
    Fraction(String),
    /// Unknown letters after the number.
    #[error(
        "{text:?} has an unknown unit {unit:?}; known are K, M, G and T (also KiB, KB, ...; all powers of 1024)"
    )]
    UnknownUnit {
        /// The text.
        text: String,
        /// Its unit.
        unit: String,
    },
    /// More than 2^64-1 bytes.
    #[error("{0:?} is more than 2^64-1 bytes; write a smaller size, e.g. 1G")]
    Overflow(String),
}

/// From small to large: display takes the largest that divides.
const UNITS: [(&str, u32); 4] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];

impl ByteSize {
    /// So many bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// How many bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl From<u64> for ByteSize {
    fn from(bytes: u64) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |&&(_, shift): &&(&str, u32)| self.0.trailing_zeros() >= shift && self.0 != 0;
        match UNITS.iter().rev().find(whole) {
            Some((unit, shift)) => write!(f, "{} {unit}iB", self.0 >> shift),
            None => write!(f, "{} B", self.0),
        }
    }
}

impl FromStr for ByteSize {
    type Err = ByteSizeError;

    fn from_str(text: &str) -> Result<Self, ByteSizeError> {
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(ByteSizeError::Negative(text.to_owned()));
        }
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = trimmed.split_at(digits);
        if number.is_empty() {
            return Err(ByteSizeError::NotANumber(text.to_owned()));
        }
        if rest.starts_with(['.', ',']) {
            return Err(ByteSizeError::Fraction(text.to_owned()));
        }
        let shift = shift_of(rest.trim_start()).ok_or_else(|| ByteSizeError::UnknownUnit {
            text: text.to_owned(),
            unit: rest.trim_start().to_owned(),
        })?;
        number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(1 << shift))
            .map(Self)
            .ok_or_else(|| ByteSizeError::Overflow(text.to_owned()))
    }
}

/// The power of two that a unit stands for.
fn shift_of(unit: &str) -> Option<u32> {
    if unit.is_empty() || unit.eq_ignore_ascii_case("b") {
        return Some(0);
    }
    let upper = unit.to_ascii_uppercase();
    UNITS.iter().find_map(|(letter, shift)| {
        let rest = upper.strip_prefix(letter)?;
        matches!(rest, "" | "B" | "IB").then_some(*shift)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_forms() {
        for (text, bytes, shown) in [
            ("0", 0, "0 B"),
            ("1048576", 1 << 20, "1 MiB"),
            ("64K", 64 << 10, "64 KiB"),
            ("1G", 1 << 30, "1 GiB"),
            ("1GiB", 1 << 30, "1 GiB"),
            ("512 mib", 512 << 20, "512 MiB"),
            ("3kB", 3 << 10, "3 KiB"),
            ("1537B", 1537, "1537 B"),
            ("1025K", 1025 << 10, "1025 KiB"),
            ("18446744073709551615", u64::MAX, "18446744073709551615 B"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, shown), "{text}");
        }
    }

    #[test]
    fn bad_forms_say_why() {
        let parse = |text: &str| text.parse::<ByteSize>().unwrap_err();
        assert_eq!(parse(""), ByteSizeError::NotANumber("".into()));
        assert_eq!(parse("GiB"), ByteSizeError::NotANumber("GiB".into()));
        assert_eq!(parse("-1"), ByteSizeError::Negative("-1".into()));
        assert_eq!(parse("1.5G"), ByteSizeError::Fraction("1.5G".into()));
        assert_eq!(parse("1X"), ByteSizeError::UnknownUnit { text: "1X".into(), unit: "X".into() });
        assert_eq!(parse("1e9"), ByteSizeError::UnknownUnit { text: "1e9".into(), unit: "e9".into() });
        assert_eq!(parse("18446744073709551616"), ByteSizeError::Overflow("18446744073709551616".into()));
        assert_eq!(parse("16777216T"), ByteSizeError::Overflow("16777216T".into()));
    }
}
