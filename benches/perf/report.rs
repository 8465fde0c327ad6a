//! The lines that `perf` prints.

use std::fmt;

use benches::Work;

/// What came out of a work.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) work: Work,
    pub(crate) backend: &'static str,
    pub(crate) n_pes: usize,
    /// Of each repeat.
    pub(crate) rounds: u64,
    /// One for each repeat, in the work's unit.
    pub(crate) values: Vec<f64>,
}

impl Measured {
    fn median(&self) -> f64 {
        benches::median(&self.values).unwrap_or_default()
    }

    /// One object, on one line.
    pub(crate) fn to_json(&self) -> String {
        // Names are plain ASCII, so nothing needs an escape.
        let values: Vec<String> = self.values.iter().map(|value| shown(*value)).collect();
        let algorithm = self.work.algorithm().map(|algorithm| format!(r#","algorithm":"{algorithm}""#));
        format!(
            r#"{{"work":"{}","bytes":{},"pes":{},"value":{},"unit":"{}","backend":"{}"{},"rounds":{},"values":[{}]}}"#,
            self.work.kind().name(),
            self.work.bytes(),
            self.n_pes,
            shown(self.median()),
            self.work.kind().unit(),
            self.backend,
            algorithm.unwrap_or_default(),
            self.rounds,
            values.join(",")
        )
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, bytes, n_pes) = (self.work.kind(), self.work.bytes(), self.n_pes);
        write!(f, "{} {bytes} {n_pes} {} {}", kind.name(), shown(self.median()), kind.unit())
    }
}

/// With as many digits as mean something.
fn shown(value: f64) -> String {
    let digits = match value {
        100.0.. => 1,
        1.0.. => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(work: &str, values: &[f64]) -> Measured {
        let work = work.parse().unwrap();
        Measured { work, backend: "loopback", n_pes: 2, rounds: 5, values: values.to_vec() }
    }

    #[test]
    fn a_line_has_the_median() {
        assert_eq!(measured("ping-pong", &[30.0, 10.614, 1.0]).to_string(), "ping-pong 8 2 10.61 us");
        assert_eq!(measured("stream", &[40.0, 50.0]).to_string(), "stream 65536 2 45.00 MB/s");
        assert_eq!(measured("barrier", &[0.0853]).to_string(), "barrier 0 2 0.0853 us");
        assert_eq!(measured("put:16", &[1234.56]).to_string(), "put 16 2 1234.6 us");
    }

    #[test]
    fn json_has_every_value() {
        assert_eq!(
            measured("barrier", &[2.0, 1.0, 3.0]).to_json(),
            r#"{"work":"barrier","bytes":0,"pes":2,"value":2.00,"unit":"us","backend":"loopback","rounds":5,"values":[2.00,1.00,3.00]}"#
        );
        let gather = measured("all-gather:8", &[1.0]).to_json();
        assert!(gather.contains(r#""backend":"loopback","algorithm":"auto","rounds":5"#), "{gather}");
    }
}
