//! What `perf --json` has printed.

use std::path::Path;

use serde::Deserialize;

use crate::ModelError;
use crate::work::{Kind, ModelWork};

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub(crate) work: ModelWork,
    pub(crate) n_pes: usize,
    /// Of one round.
    pub(crate) time_ns: f64,
}

#[derive(Deserialize)]
struct Line {
    work: String,
    bytes: usize,
    pes: usize,
    value: f64,
    /// Of AllGathers, if it was not left to them.
    algorithm: Option<String>,
}

/// The lines of a file that a model can know; others are passed over.
pub(crate) fn read(path: &Path) -> Result<Vec<Measured>, ModelError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| ModelError::File { path: path.to_owned(), error })?;
    let mut all = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let measured =
            parse(line).map_err(|reason| ModelError::Line { path: path.to_owned(), line: at + 1, reason })?;
        all.extend(measured);
    }
    if all.is_empty() { Err(ModelError::Nothing { path: path.to_owned() }) } else { Ok(all) }
}

fn parse(line: &str) -> Result<Option<Measured>, String> {
    const MOST_PES: usize = 65536;
    // A launcher puts the number of the PE before it.
    let object = line.find('{').and_then(|at| line.get(at..)).unwrap_or(line);
    let Line { work, bytes, pes, value, algorithm } =
        serde_json::from_str(object).map_err(|error| error.to_string())?;
    let Some(mut work) = ModelWork::named(&work, bytes) else { return Ok(None) };
    if let Some(algorithm) = algorithm {
        work = work.with_algorithm(algorithm.parse()?);
    }
    let alone = matches!(work.kind, Kind::Barrier | Kind::AllGather(_));
    if !(value.is_finite() && value > 0.0) || pes > MOST_PES || bytes > 1 << 30 {
        return Err(format!("a value of {value}, {pes} PEs, {bytes} bytes is none that can be"));
    }
    if pes < 2 {
        // A barrier of one PE sends nothing, so it says nothing of a network.
        return if alone { Ok(None) } else { Err(format!("{work} needs at least 2 PEs")) };
    }
    let time_ns = match work.kind {
        // Million bytes a second.
        Kind::Stream => bytes as f64 * 1e3 / value,
        _ => value * 1e3,
    };
    Ok(Some(Measured { work, n_pes: pes, time_ns }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_perf_are_read() {
        let line = r#"{"work":"ping-pong","bytes":8,"pes":2,"value":1.50,"unit":"us","backend":"loopback","rounds":5,"values":[1.50]}"#;
        let measured = parse(line).unwrap().unwrap();
        assert_eq!(
            (measured.work.to_string().as_str(), measured.n_pes, measured.time_ns),
            ("ping-pong:8", 2, 1500.0)
        );
        let stream = parse(r#"[0] {"work":"stream","bytes":65536,"pes":2,"value":8192}"#).unwrap().unwrap();
        assert_eq!(stream.time_ns, 8000.0);
        let line = r#"{"work":"all-gather","bytes":64,"pes":4,"value":1,"algorithm":"textbook"}"#;
        assert_eq!(parse(line).unwrap().unwrap().work.to_string(), "all-gather:64 textbook");
        assert_eq!(parse(r#"{"work":"replay","bytes":64,"pes":2,"value":1}"#).unwrap(), None);
        assert_eq!(parse(r#"{"work":"barrier","bytes":0,"pes":1,"value":1}"#).unwrap(), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (line, reason) in [
            ("barrier 0 2 1.0 us", "expected"),
            (r#"{"work":"barrier","bytes":0,"pes":2}"#, "value"),
            (r#"{"work":"barrier","bytes":0,"pes":2,"value":0}"#, "none that can be"),
            (r#"{"work":"barrier","bytes":0,"pes":99999999,"value":1}"#, "none that can be"),
            (r#"{"work":"put","bytes":8,"pes":1,"value":1}"#, "at least 2 PEs"),
            (r#"{"work":"all-gather","bytes":8,"pes":2,"value":1,"algorithm":"best"}"#, "there are auto"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"work\":\"put\",\"bytes\":8,\"pes\":2,\"value\":1}\n\nnothing\n")
            .unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains(", line 3: "));
        std::fs::write(file.path(), "").unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains("no measurement of barrier, "));
    }
}
