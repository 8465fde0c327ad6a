//! A set of PEs, written as people write it: `3, 5-7`.

use std::fmt;

/// A sorted list of PE numbers; displays runs as ranges, e.g. `PE 3` or `PEs 0, 4-6`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeList(Vec<usize>);

impl PeList {
    /// The PEs in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// How many PEs are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no PE is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `pe` is in it.
    #[must_use]
    pub fn contains(&self, pe: usize) -> bool {
        self.0.binary_search(&pe).is_ok()
    }
}

impl FromIterator<usize> for PeList {
    fn from_iter<I: IntoIterator<Item = usize>>(pes: I) -> Self {
        let mut pes: Vec<usize> = pes.into_iter().collect();
        pes.sort_unstable();
        pes.dedup();
        Self(pes)
    }
}

impl fmt::Display for PeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => return f.write_str("no PE"),
            [one] => return write!(f, "PE {one}"),
            _ => f.write_str("PEs ")?,
        }
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let run = rest.iter().zip(first..).take_while(|&(&pe, expected)| pe == expected).count();
            match run {
                1 => write!(f, "{separator}{first}")?,
                2 => write!(f, "{separator}{first}, {}", first + 1)?,
                _ => write!(f, "{separator}{first}-{}", first + run - 1)?,
            }
            separator = ", ";
            rest = &rest[run..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_ranges() {
        for (pes, text) in [
            (vec![], "no PE"),
            (vec![7], "PE 7"),
            (vec![1, 0], "PEs 0, 1"),
            (vec![5, 6, 3, 7, 7], "PEs 3, 5-7"),
            (vec![0, 1, 2, 9, 10, 12], "PEs 0-2, 9, 10, 12"),
        ] {
            assert_eq!(pes.into_iter().collect::<PeList>().to_string(), text);
        }
    }
}
