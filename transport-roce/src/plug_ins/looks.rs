//! What a file that should be a shared object looks like instead.

/// How much of its beginning is shown.
const SHOWN: usize = 40;

/// What a file is that begins with `head`, which is all of it if it is short.
pub(super) fn looks(head: &[u8]) -> String {
    let line = || {
        let text = String::from_utf8_lossy(head);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        line.chars().map(|c| if c.is_control() { '?' } else { c }).take(SHOWN).collect::<String>()
    };
    match head {
        [] => "is empty".to_owned(),
        [b'#', b'!', ..] => format!("is a script ({})", line()),
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => "is an archive of objects (a .a file)".to_owned(),
        [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            "is a compressed archive, to be unpacked first".to_owned()
        }
        [b'M', b'Z', ..] => "is a program or library of Windows".to_owned(),
        _ if head.iter().all(|&byte| byte == 0) => {
            "begins with zeros only, as after a copy that was not finished".to_owned()
        }
        _ if is_text(head) => format!("is text ({:?})", line()),
        _ => {
            let bytes: Vec<String> = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("is data that begins with the bytes {}", bytes.join(" "))
        }
    }
}

fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last letter may be cut.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told() {
        for (head, text) in [
            (&b""[..], "is empty"),
            (b"#!/bin/sh\nexit 1\n", "is a script (#!/bin/sh)"),
            (b"!<arch>\n", "is an archive of objects (a .a file)"),
            (b"\x1f\x8b\x08", "is a compressed archive, to be unpacked first"),
            (b"MZ\x90\0", "is a program or library of Windows"),
            (&[0; 64], "begins with zeros only, as after a copy that was not finished"),
            (b"\n INPUT ( -lx )\n", "is text (\"INPUT ( -lx )\")"),
            ("gr\u{fc}\u{df}e".as_bytes().split_at(6).0, "is text (\"gr\u{fc}\u{df}\")"),
            ("gr\u{fc}".as_bytes().split_at(3).0, "is text (\"gr\u{fffd}\")"),
            (b"\xff\xfe\x01\x02\x03", "is data that begins with the bytes ff fe 01 02"),
            (b"\x1b[31m", "is data that begins with the bytes 1b 5b 33 31"),
        ] {
            assert_eq!(looks(head), text);
        }
        assert_eq!(looks(&[b'x'; 500]), format!("is text (\"{}\")", "x".repeat(SHOWN)));
    }
}
