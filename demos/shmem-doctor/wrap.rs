//! Breaks text into the lines of a terminal.

/// Narrower terminals get lines of this width, which they break themselves.
const NARROWEST: usize = 40;

/// `text` in lines of at most `width` columns, of which all but the first begin with `indent` blanks; the first has its
/// first `indent` columns taken already. Without a width, one line. Words are never split.
pub(crate) fn wrap(text: &str, indent: usize, width: Option<usize>) -> String {
    let text = one_line(text);
    let Some(width) = width.map(|width| width.max(NARROWEST)) else { return text };
    let (mut wrapped, mut column) = (String::new(), indent);
    for word in text.split(' ') {
        let len = word.chars().count();
        if column > indent {
            if column + 1 + len > width {
                wrapped.push('\n');
                wrapped.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else {
                wrapped.push(' ');
                column += 1;
            }
        }
        wrapped.push_str(word);
        column += len;
    }
    wrapped
}

/// The same without line ends and other control characters, which may stand in what a tool or a device said.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hang_and_are_no_wider_than_the_terminal() {
        let text = "port 1 of xscale_0 is DOWN: the cable, the switch or `ip link` of eth0 keeps it so";
        assert_eq!(
            wrap(text, 8, Some(44)),
            "port 1 of xscale_0 is DOWN: the\n        cable, the switch or `ip link` of\n        eth0 keeps it so"
        );
        for width in 40..120 {
            for line in wrap(text, 8, Some(width)).lines().skip(1) {
                assert!(line.chars().count() <= width && line.starts_with("        "), "{width}: {line}");
            }
        }
    }

    #[test]
    fn nothing_is_lost_and_long_words_stay_whole() {
        let path = "/sys/class/infiniband/a-very-long-name-of-a-device/ports/1/gids/0";
        let wrapped = wrap(&format!("see {path} there"), 8, Some(10));
        assert_eq!(wrapped, format!("see\n        {path}\n        there"));
        assert_eq!(wrap("", 8, Some(80)), "");
    }

    #[test]
    fn a_pipe_gets_one_line_and_no_control_characters() {
        assert_eq!(wrap("a\nb\t\u{1b}[31mc\r\n", 8, None), "a b [31mc");
        assert_eq!(wrap(&"word ".repeat(100), 8, None).lines().count(), 1);
    }
}
