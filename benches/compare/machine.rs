//! What machine this is.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// What numbers depend on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    /// That this program may use.
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    /// In UTC, as ISO 8601 has it.
    pub(crate) date: String,
}

impl Machine {
    /// This one, now.
    pub(crate) fn look(cores: usize) -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let uname = rustix::system::uname();
        let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let kernel = format!("{} {} {}", text(uname.sysname()), text(uname.release()), text(uname.machine()));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { cpu: cpu_model(&info), cores, kernel, date: iso(now) }
    }
}

/// What /proc/cpuinfo calls the processor; those of Arm have only numbers.
fn cpu_model(info: &str) -> String {
    let value = |key: &str| {
        let of = |line: &str| {
            Some(line.split_once(':').filter(|(name, _)| name.trim() == key)?.1.trim().to_owned())
        };
        info.lines().find_map(of)
    };
    value("model name")
        .or_else(|| Some(format!("implementer {}, part {}", value("CPU implementer")?, value("CPU part")?)))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// A date from seconds since 1970, by the days of the Gregorian calendar.
fn iso(seconds: u64) -> String {
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso(1_735_689_599), "2024-12-31T23:59:59Z");
    }

    #[test]
    fn processors_are_named() {
        assert_eq!(cpu_model("processor : 0\nmodel name\t: A : B\n"), "A : B");
        assert_eq!(cpu_model("CPU implementer\t: 0x48\nCPU part\t: 0xd01\n"), "implementer 0x48, part 0xd01");
        assert_eq!(cpu_model(""), "unknown");
    }
}
