//! The signals that tell a program to end: which of them it takes, and how an end by one is shown.

use std::fs;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::signal_name;

/// Those that tell a program to end: Ctrl-C and its like.
pub const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Of `signals`, those that this process does not ignore. Whoever started it may have it ignore some (`nohup`, a shell's background
/// job), and then means it.
pub fn not_ignored(signals: impl IntoIterator<Item = i32>) -> Vec<i32> {
    let ignored = ignored();
    signals.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0).collect()
}

/// The signals that this process ignores, as a mask: signal 1 is bit 0. None if the system does not tell.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// `SIGKILL` for 9; a real-time signal has only its number.
#[must_use]
pub fn name_of_signal(signal: i32) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// The exit code that a shell shows for a process that `signal` ended.
#[must_use]
pub fn signal_exit_code(signal: i32) -> u8 {
    u8::try_from(signal).unwrap_or(u8::MAX).saturating_add(128)
}
