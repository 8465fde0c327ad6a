//! How much other programs ran beside the measurement: what makes numbers noise.

/// Ticks of the processors so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// Of all cores, idle or not.
    all: u64,
    /// In which some program ran, or the machine under this one took the core away.
    busy: u64,
    /// In which this program ran, and what it started and saw end.
    own: u64,
}

impl Ticks {
    /// Now; nothing if the system does not tell.
    pub(crate) fn now() -> Option<Self> {
        let read = |path| std::fs::read_to_string(path).ok();
        Self::parse(&read("/proc/stat")?, &read("/proc/self/stat")?)
    }

    /// See proc_stat(5) and proc_pid_stat(5).
    fn parse(machine: &str, own: &str) -> Option<Self> {
        let numbers = |words: &str| words.split_whitespace().map(|word| word.parse().unwrap_or(0)).collect();
        // User, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice.
        let cores: Vec<u64> = numbers(machine.lines().next()?.strip_prefix("cpu ")?);
        let cores = cores.get(..8)?;
        // After the name: state first, then numbers; own and children's user and system time are the 12th to 15th.
        let own: Vec<u64> = numbers(own.rsplit_once(')')?.1);
        let all = cores.iter().sum::<u64>();
        Some(Self { all, busy: all - cores[3] - cores[4], own: own.get(11..15)?.iter().sum() })
    }

    /// How many of `cores` others kept busy since `before`.
    pub(crate) fn others_since(&self, before: &Self, cores: usize) -> f64 {
        let since = |now: u64, then: u64| now.saturating_sub(then) as f64;
        let others = (since(self.busy, before.busy) - since(self.own, before.own)).max(0.0);
        others / since(self.all, before.all).max(1.0) * cores as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_did_is_what_is_left() {
        let own = |ticks: u64| format!("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 {ticks} 0 {ticks} 0 20 0");
        let before = Ticks::parse("cpu  100 0 0 500 0 0 0 0 0 0\ncpu0 1\n", &own(10)).unwrap();
        let after = Ticks::parse("cpu  160 0 20 600 10 0 5 5 0 0\n", &own(30)).unwrap();
        assert_eq!(before, Ticks { all: 600, busy: 100, own: 20 });
        // Of 200 ticks 90 were busy, 40 of them by this program.
        assert!((after.others_since(&before, 2) - 0.5).abs() < 1e-9);
        assert_eq!(Ticks::parse("intr 5", &own(1)), None);
        assert!(Ticks::now().is_some());
    }
}
