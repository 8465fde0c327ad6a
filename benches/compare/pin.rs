//! The role between the launcher and a PE of ours: binds its process to a core as mpirun binds its own, then becomes the
//! program.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The first argument of this program in this role; the program and its arguments follow.
pub(crate) const ROLE: &str = "__pin";

/// The core for a process: the `local`th of those that may be used.
fn core_of(allowed: &CpuSet, local: usize) -> Option<usize> {
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    (!cores.is_empty()).then(|| cores[local % cores.len()])
}

/// How many cores this process may use.
pub(crate) fn cores() -> usize {
    sched_getaffinity(None).map_or(1, |allowed| allowed.count() as usize)
}

/// Binds this process to a core and becomes the program. Returns only if that is impossible, with the reason.
pub(crate) fn become_bound(mut command: impl Iterator<Item = OsString>) -> String {
    let local = std::env::var("SHMEM_LOCAL_PE").ok().and_then(|local| local.parse().ok());
    let (Some(local), Some(program)) = (local, command.next()) else {
        return "this way of calling compare is its own; see `compare --help`".to_owned();
    };
    let bound = sched_getaffinity(None).and_then(|allowed| {
        let mut one = CpuSet::new();
        one.set(core_of(&allowed, local).unwrap_or(0));
        sched_setaffinity(None, &one)
    });
    match bound {
        Err(errno) => format!("PE {local} cannot be bound to a core: {errno}; give --bind none"),
        Ok(()) => {
            let error = Command::new(&program).args(command).exec();
            format!("PE {local} cannot become {}: {error}; check the file", program.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pe_gets_the_next_core_that_may_be_used() {
        let mut allowed = CpuSet::new();
        assert_eq!(core_of(&allowed, 0), None);
        [3, 5].into_iter().for_each(|core| allowed.set(core));
        assert_eq!([0, 1, 2].map(|local| core_of(&allowed, local)), [Some(3), Some(5), Some(3)]);
    }
}
