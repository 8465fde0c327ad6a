//! The beginning of what a program printed, fit to stand in an error.

const MAX_LINES: usize = 4;
const MAX_CHARS: usize = 400;

/// The first lines of `text` in one, without anything that could upset a terminal.
pub(super) fn excerpt(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return "it printed nothing".to_owned();
    }
    let joined = lines.iter().take(MAX_LINES).copied().collect::<Vec<_>>().join(" | ");
    let clean = joined.chars().map(|c| if c.is_control() { '?' } else { c });
    let mut short: String = clean.take(MAX_CHARS).collect();
    if lines.len() > MAX_LINES || joined.chars().count() > MAX_CHARS {
        short.push_str(" ...");
    }
    format!("it printed: {short}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_clean() {
        assert_eq!(excerpt(" \n"), "it printed nothing");
        assert_eq!(excerpt("a\r\n\r\n b\n"), "it printed: a | b");
        assert_eq!(excerpt("1\n2\n3\n4\n5"), "it printed: 1 | 2 | 3 | 4 ...");
        assert_eq!(excerpt("red \x1b[31m"), "it printed: red ?[31m");
        let long = excerpt(&"\u{e9}".repeat(5000));
        assert!(long.ends_with(" ...") && long.chars().count() < 450);
    }
}
