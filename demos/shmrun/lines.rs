//! From the pieces in which a PE writes to whole lines that carry its number.

/// Longer lines are cut, so that a PE that never ends its line costs this much memory and no more.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;

/// Assembles the lines of one stream of one PE. Bytes pass unchanged, UTF-8 or not.
#[derive(Debug)]
pub(crate) struct LineAssembler {
    /// What goes in front of each line.
    prefix: Vec<u8>,
    /// The line that has begun and not ended.
    line: Vec<u8>,
}

impl LineAssembler {
    /// For lines that start with `prefix`.
    pub(crate) fn new(prefix: Vec<u8>) -> Self {
        Self { prefix, line: Vec::new() }
    }

    /// Takes the next `bytes` of the stream and appends the lines that they complete to `out`.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for mut piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let ends = piece.ends_with(b"\n");
            if ends {
                piece = &piece[..piece.len() - 1];
            }
            while self.line.len() + piece.len() > LONGEST_LINE {
                let (head, tail) = piece.split_at(LONGEST_LINE - self.line.len());
                self.line.extend_from_slice(head);
                self.end_line(out);
                piece = tail;
            }
            self.line.extend_from_slice(piece);
            if ends {
                self.end_line(out);
            }
        }
    }

    /// The stream has ended: a last line without a newline gets one.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
    }

    /// Appends the line to `out` and begins the next.
    fn end_line(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.prefix);
        out.append(&mut self.line);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assemble(pieces: &[&[u8]]) -> Vec<u8> {
        let (mut lines, mut out) = (LineAssembler::new(b"[7] ".to_vec()), Vec::new());
        for piece in pieces {
            lines.feed(piece, &mut out);
        }
        lines.finish(&mut out);
        out
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let text = b"one\n\ntwo \xff\xfe\nlast";
        let expected = b"[7] one\n[7] \n[7] two \xff\xfe\n[7] last\n";
        assert_eq!(assemble(&[text]), expected);
        for cut in 0..text.len() {
            assert_eq!(assemble(&[&text[..cut], &text[cut..]]), expected, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(assemble(&bytes), expected);
    }

    #[test]
    fn nothing_makes_no_line() {
        assert_eq!(assemble(&[]), b"");
        assert_eq!(assemble(&[b""]), b"");
        assert_eq!(assemble(&[b"a\n"]), b"[7] a\n");
    }

    #[test]
    fn only_lines_past_the_longest_are_cut() {
        let long = vec![b'x'; LONGEST_LINE];
        let whole = [b"[7] ", &long[..], b"\n"].concat();
        assert_eq!(assemble(&[&long, b"\n"]), whole);
        assert_eq!(assemble(&[&long]), whole);
        assert_eq!(assemble(&[&long, b"y\n"]), [&whole[..], b"[7] y\n"].concat());
        assert_eq!(assemble(&[&[&long[..], &long[..], b"\n"].concat()]), [&whole[..], &whole[..]].concat());
    }
}
