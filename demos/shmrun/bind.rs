//! Where PEs run.

use clap::ValueEnum;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How PEs share the processors that the launcher may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bind {
    /// Each PE on one, the next one for the next PE, around the end
    Core,
    /// Where the system puts them
    None,
}

/// The processor for a PE: the `pe`th of those that may be used.
fn core_of(allowed: &CpuSet, pe: usize) -> Option<usize> {
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    (!cores.is_empty()).then(|| cores[pe % cores.len()])
}

/// Binds this process, which becomes `pe`, and what it starts.
pub(crate) fn bind_to_core(pe: usize) -> Result<(), Errno> {
    let allowed = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    one.set(core_of(&allowed, pe).ok_or(Errno::NODEV)?);
    sched_setaffinity(None, &one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pe_gets_the_next_core_that_may_be_used() {
        let mut allowed = CpuSet::new();
        assert_eq!(core_of(&allowed, 0), None);
        [3, 5].into_iter().for_each(|core| allowed.set(core));
        assert_eq!([0, 1, 2].map(|pe| core_of(&allowed, pe)), [Some(3), Some(5), Some(3)]);
    }
}
