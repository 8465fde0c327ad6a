//! Ranges of ports, as `/proc` and people write them: `8080,60032-60287`.

use std::ops::RangeInclusive;

/// Ranges of ports, in any order.
pub(super) type Ranges = Vec<RangeInclusive<u16>>;

/// Reads a list of ports and ranges; what is neither is left out.
pub(super) fn ranges(text: &str) -> Ranges {
    let one = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse().ok()?..=to.trim().parse().ok()?)
    };
    text.split(',').filter_map(one).filter(|range| !range.is_empty()).collect()
}

/// Writes `ranges` in order, those that touch as one.
pub(super) fn written(ranges: &[RangeInclusive<u16>], separator: &str) -> String {
    let mut sorted: Vec<(u16, u16)> = ranges.iter().map(|range| (*range.start(), *range.end())).collect();
    sorted.sort_unstable();
    let mut merged: Vec<(u16, u16)> = Vec::new();
    for (from, to) in sorted {
        match merged.last_mut() {
            Some((_, end)) if from <= end.saturating_add(1) => *end = to.max(*end),
            _ => merged.push((from, to)),
        }
    }
    let text = |&(from, to): &(u16, u16)| {
        if from == to { from.to_string() } else { format!("{from}-{to}") }
    };
    merged.iter().map(text).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_again() {
        for (text, expected) in [
            ("", ""),
            ("\n", ""),
            ("8080\n", "8080"),
            ("60032-60287,8080", "8080,60032-60287"),
            ("1-3,4,5-6,8", "1-6,8"),
            ("1-9,2-3,65535,65530-65534", "1-9,65530-65535"),
            ("9-1,x,7-,-7,70000, 5 ", "5"),
        ] {
            assert_eq!(written(&ranges(text), ","), expected, "{text:?}");
        }
    }
}
