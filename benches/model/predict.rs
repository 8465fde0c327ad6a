//! Tables of predictions.

use std::io::Write;
use std::time::Instant;

use transport_loopback::sim::CostModel;

use crate::ModelError;
use crate::measured::Measured;
use crate::work::ModelWork;

/// Each work with each number of PEs.
pub(crate) fn table(
    works: &[ModelWork],
    pes: &[usize],
    model: &CostModel,
    out: &mut impl Write,
) -> Result<(), ModelError> {
    writeln!(out, "{}", costs(model))?;
    writeln!(
        out,
        "{:>6}  {:24}  {:>13}  {:>10}  {:>12}  {:>8}  {:>10}",
        "PEs", "work", "time/us", "messages", "bytes", "wall/s", "peak/MiB"
    )?;
    for &n_pes in pes {
        for work in works {
            let start = Instant::now();
            let cost = work.predict(n_pes, model)?;
            let (wall, time) = (start.elapsed().as_secs_f64(), cost.time_ns / 1e3);
            let peak = peak_memory().map_or("?".to_owned(), |bytes| (bytes >> 20).to_string());
            let (name, messages, bytes) = (work.to_string(), cost.messages, cost.bytes);
            writeln!(
                out,
                "{n_pes:>6}  {name:24}  {time:>13.3}  {messages:>10}  {bytes:>12}  {wall:>8.2}  {peak:>10}"
            )?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Measurements, and what the model says of them.
pub(crate) fn compare(
    measured: &[Measured],
    model: &CostModel,
    out: &mut impl Write,
) -> Result<(), ModelError> {
    writeln!(out, "{}", costs(model))?;
    writeln!(
        out,
        "{:>6}  {:24}  {:>13}  {:>13}  {:>9}",
        "PEs", "work", "measured/us", "predicted/us", "off by/%"
    )?;
    for Measured { work, n_pes, time_ns } in measured {
        let predicted = work.predict(*n_pes, model)?.time_ns;
        line(out, *n_pes, work, *time_ns, predicted)?;
    }
    Ok(())
}

/// How far a prediction is from a measurement.
fn line(
    out: &mut impl Write,
    n_pes: usize,
    work: &ModelWork,
    measured: f64,
    predicted: f64,
) -> std::io::Result<()> {
    let off = 100.0 * (predicted - measured) / measured;
    let (name, measured, predicted) = (work.to_string(), measured / 1e3, predicted / 1e3);
    writeln!(out, "{n_pes:>6}  {name:24}  {measured:>13.3}  {predicted:>13.3}  {off:>+9.1}")
}

/// The costs that go into it, as options.
pub(crate) fn costs(model: &CostModel) -> String {
    let at_post = if model.complete_at_post { " --complete-at-post" } else { "" };
    let shared = match model.cores {
        0 => String::new(),
        cores => format!(" --cores {cores} --switch {}", model.switch_ns),
    };
    format!(
        "--latency {} --overhead {} --receive-overhead {} --gap {} --per-byte {} --acknowledge {} --copy-per-byte \
         {}{at_post}{shared}",
        model.link.latency_ns,
        model.overhead_ns,
        model.receive_overhead_ns,
        model.gap_ns,
        model.link.per_byte_ps,
        model.acknowledge_ns,
        model.copy_per_byte_ps
    )
}

/// The most memory that this program has had, in bytes.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}
