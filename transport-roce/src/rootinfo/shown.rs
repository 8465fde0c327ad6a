//! What a file holds, fit to stand in an error: short, in one line, and without anything that could upset a terminal.

use std::fmt::Display;

/// The most characters of a text.
const MAX_CHARS: usize = 48;

/// `text` in quotes, its beginning if it is long.
pub(super) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_CHARS).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    format!("{short:?}")
}

/// The first `max` of `items` with commas between them, and how many more there are; `none` if there are none.
pub(super) fn first<T: Display>(max: usize, items: &[T]) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    let shown = items.iter().take(max).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(max) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_clean() {
        assert_eq!(shown("CLOS"), r#""CLOS""#);
        assert_eq!(shown("a\n\x1b[2J\"\u{202e}"), r#""a\n\u{1b}[2J\"\u{202e}""#);
        assert_eq!(shown(&"\u{e9}".repeat(48)), format!("\"{}\"", "\u{e9}".repeat(48)));
        assert_eq!(shown(&"\u{e9}".repeat(49)), format!("\"{}...\"", "\u{e9}".repeat(48)));
    }

    #[test]
    fn lists() {
        assert_eq!(first::<u32>(2, &[]), "none");
        assert_eq!(first(3, &[3, 1]), "3, 1");
        assert_eq!(first(2, &[3, 1]), "3, 1");
        assert_eq!(first(1, &["a", "b", "c"]), "a and 2 more");
    }
}
