//! What launches print, as values.

use serde::Deserialize;

use crate::work::Work;

/// A line of ours, and of the peers' programs.
#[derive(Debug, Deserialize)]
struct Line {
    pes: usize,
    bytes: usize,
    value: f64,
    unit: String,
}

/// The values in us of `works`, in their order, and what is wrong with the output, if anything.
pub(crate) fn values(out: &str, works: &[Work]) -> (Vec<f64>, Option<String>) {
    let mut values = Vec::new();
    let mut lines = out.lines().filter(|line| line.starts_with('{'));
    for work in works {
        let Some(line) = lines.next() else {
            return (values, Some(format!("{work} has no result")));
        };
        match read(line, work) {
            Ok(value) => values.push(value),
            Err(reason) => return (values, Some(format!("{work}: {reason} in {line:?}"))),
        }
    }
    (values, None)
}

fn read(line: &str, work: &Work) -> Result<f64, String> {
    let Line { pes, bytes, value, unit } = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if (pes, bytes) != (work.n_pes, work.bytes) {
        return Err("other bytes or PEs than were asked for".to_owned());
    }
    if unit != "us" || !value.is_finite() || value <= 0.0 {
        return Err("no time in us".to_owned());
    }
    Ok(value)
}

/// The time of a call in us that `ucx_perftest -f` tells: its last line is iterations; median, mean and overall mean latency; two
/// rates of bytes; two of messages. That of all messages is the one that means the same in all its tests.
pub(crate) fn of_ucx(out: &str) -> Option<f64> {
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse().ok()).collect();
    let numbers: Vec<f64> = out.lines().filter_map(numbers).rfind(|numbers: &Vec<f64>| numbers.len() == 8)?;
    numbers.last().filter(|rate| rate.is_finite() && **rate > 0.0).map(|rate| 1e6 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Kind;

    #[test]
    fn lines_are_read_in_order() {
        let works = [8, 64].map(|bytes| Work { kind: Kind::Get, n_pes: 2, bytes });
        let line = |bytes, value| {
            format!("{{\"work\":\"get\",\"bytes\":{bytes},\"pes\":2,\"value\":{value},\"unit\":\"us\"}}\n")
        };
        let both = format!("some warning\n{}{}", line(8, "0.5"), line(64, "0.75"));
        assert_eq!(values(&both, &works), (vec![0.5, 0.75], None));
        for (out, count, reason) in [
            (line(8, "0.5"), 1, "get:64@2 has no result"),
            (line(64, "0.5"), 0, "other bytes"),
            (line(8, "-1"), 0, "no time"),
            (line(8, "x"), 0, "expected value"),
            (line(8, "1").replace("us", "MB/s"), 0, "no time"),
            (String::new(), 0, "get:8@2 has no result"),
        ] {
            let (values, error) = values(&out, &works);
            assert!(values.len() == count && error.as_ref().unwrap().contains(reason), "{error:?}");
        }
    }

    #[test]
    fn ucx_tells_a_rate() {
        let out = "+-----+\n| Test |\n      100000      0.159     1.521     1.521        5.01       5.01      657253      500000\nend\n";
        assert_eq!(of_ucx(out), Some(2.0));
        assert_eq!(of_ucx("Connection refused\n"), None);
        assert_eq!(of_ucx("1 2 3 4 5 6 7 0\n"), None);
    }
}
