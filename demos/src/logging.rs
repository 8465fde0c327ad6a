//! Log lines on standard error.

use std::io::{IsTerminal, stderr};

use tracing::level_filters::LevelFilter;
use transport_core::config::JobConfig;

/// Begins to log as `SHMEM_LOG_LEVEL` says, with `verbose` at least what happens. With it, also logs every setting with its
/// source; without, only variables that look like a slip.
pub fn start_logging(config: &JobConfig, verbose: bool) {
    let mut filter = config.log_level.value.tracing_filter();
    if verbose {
        filter = filter.max(LevelFilter::INFO);
    }
    let lines = tracing_subscriber::fmt()
        .with_max_level(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .with_target(false)
        .without_time();
    // Somebody else's subscriber is as good.
    let _ = lines.try_init();
    for unknown in config.unknown_names() {
        tracing::warn!("{unknown}");
    }
    if verbose {
        for line in config.describe().lines() {
            tracing::info!("{line}");
        }
    }
}
