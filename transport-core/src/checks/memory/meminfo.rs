//! `/proc/meminfo`.

/// The bytes after `name`, which the text gives in kB; `None` if it is not there or no number.
pub(super) fn bytes_of(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_count() {
        let text = "MemTotal:  100 kB\nMemAvailable:   7 kB\nHugePages_Total: 3\nBad: x kB\nBig: 18446744073709551615 kB";
        for (name, expected) in [
            ("MemAvailable", Some(7 << 10)),
            ("MemTotal", Some(100 << 10)),
            ("Mem", None),
            ("HugePages_Total", None),
            ("Bad", None),
            ("Big", None),
            ("Absent", None),
        ] {
            assert_eq!(bytes_of(text, name), expected, "{name}");
        }
    }
}
