//! The private ABI between libibverbs and its providers, as a provider's name and symbols tell it.

use std::fmt;

/// The numbers that a provider's name (`-rdmavNN.so`) and its symbols (version `IBVERBS_PRIVATE_NN`) give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbiNumbers {
    /// The name's, if it has one.
    pub suffix: Option<u32>,
    /// The symbols', if it needs such.
    pub symbols: Option<u32>,
}

impl AbiNumbers {
    /// Whether either of them is another than `library`.
    pub(super) fn differs(self, library: u32) -> bool {
        [self.suffix, self.symbols].into_iter().flatten().any(|number| number != library)
    }

    /// The one that is not `library`: that of the symbols if both are not, for the loader goes by these.
    pub(super) fn number(self, library: u32) -> u32 {
        let both = [self.symbols, self.suffix].into_iter().flatten();
        both.into_iter().find(|&number| number != library).unwrap_or(library)
    }
}

impl fmt::Display for AbiNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.suffix, self.symbols) {
            (Some(suffix), Some(symbols)) if suffix == symbols => write!(
                f,
                "its name ends in -rdmav{suffix}.so and it needs symbols of the version IBVERBS_PRIVATE_{symbols}"
            ),
            (Some(suffix), Some(symbols)) => write!(
                f,
                "its name ends in -rdmav{suffix}.so, while it needs symbols of the version IBVERBS_PRIVATE_{symbols}"
            ),
            (Some(suffix), None) => write!(f, "its name ends in -rdmav{suffix}.so"),
            (None, Some(symbols)) => write!(f, "it needs symbols of the version IBVERBS_PRIVATE_{symbols}"),
            (None, None) => f.write_str("nothing tells its ABI"),
        }
    }
}

/// The number in a file's name of the form `...-rdmavNN.so`, with or without a version after it.
pub(super) fn suffix(name: &str) -> Option<u32> {
    let (_, rest) = name.rsplit_once("-rdmav")?;
    let (number, after) = rest.split_once(".so")?;
    (after.is_empty() || after.starts_with('.')).then(|| digits(number))?
}

/// The number that is all of `text`.
pub(super) fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes() {
        for (name, number) in [
            ("libhrn5-rdmav34.so", Some(34)),
            ("libhns-rdmav17.so.1", Some(17)),
            ("liba-rdmav1-rdmav57.so", Some(57)),
            ("libxscale_nda.so", None),
            ("liba-rdmav.so", None),
            ("liba-rdmav+4.so", None),
            ("liba-rdmav34.sox", None),
            ("liba-rdmav99999999999.so", None),
        ] {
            assert_eq!(suffix(name), number, "{name}");
        }
    }

    #[test]
    fn either_number_counts() {
        for (suffix, symbols, differs, number) in [
            (None, None, false, 34),
            (Some(34), Some(34), false, 34),
            (Some(57), None, true, 57),
            (Some(57), Some(34), true, 57),
            (Some(34), Some(59), true, 59),
            (Some(57), Some(59), true, 59),
        ] {
            let numbers = AbiNumbers { suffix, symbols };
            assert_eq!((numbers.differs(34), numbers.number(34)), (differs, number), "{numbers}");
        }
    }
}
