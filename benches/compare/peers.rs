//! What there is beside ours: systems, where they come from, and the ways in which each is tried.

use crate::work::{Kind, Work};

/// A system that a user could take instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    /// Open MPI.
    Mpi,
    /// Open MPI's OpenSHMEM.
    OpenShmem,
    /// UCX alone, by its own measuring program. Only that one does not look at what arrives.
    Ucx,
    /// What the machine does with nothing around it, by this program: a cache line between two processes, or turns of many.
    Bare,
}

impl System {
    pub(crate) const ALL: [Self; 4] = [Self::Mpi, Self::OpenShmem, Self::Ucx, Self::Bare];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mpi => "MPI",
            Self::OpenShmem => "OpenSHMEM",
            Self::Ucx => "UCX",
            Self::Bare => "bare hand-off and turns",
        }
    }

    /// The programs that it needs, with the Debian package of each.
    pub(crate) fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Mpi => &[("mpirun", "openmpi-bin"), ("mpicc", "libopenmpi-dev")],
            Self::OpenShmem => &[("oshrun", "openmpi-bin"), ("oshcc", "libopenmpi-dev")],
            Self::Ucx => &[("ucx_perftest", "ucx-utils")],
            Self::Bare => &[],
        }
    }

    /// What tells its version.
    pub(crate) fn version_command(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Mpi => Some(["mpirun", "--version"]),
            Self::OpenShmem => Some(["oshrun", "--version"]),
            Self::Ucx => Some(["ucx_info", "-v"]),
            Self::Bare => None,
        }
    }

    /// Whether it does anything like `work`.
    pub(crate) fn does(self, work: &Work) -> bool {
        match (self, work.kind) {
            (Self::Mpi | Self::OpenShmem, kind) => !matches!(kind, Kind::HandOff | Kind::Turns),
            (Self::Ucx, kind) => matches!(kind, Kind::Get | Kind::Put | Kind::PingPong),
            (Self::Bare, kind) => matches!(kind, Kind::HandOff | Kind::Turns),
        }
    }
}

/// A way to run a system.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) system: System,
    /// For its launcher; of UCX's measuring program, for itself.
    pub(crate) options: &'static [&'static str],
    /// The kinds of work that it may be better at; empty means all.
    kinds: &'static [Kind],
    /// Whether it waits by looking at the word itself and not by the system's call.
    pub(crate) spins: bool,
}

const COLLECTIVES: &[Kind] = &[Kind::Barrier, Kind::AllGather, Kind::Replay, Kind::Job];
const ONE_SIDED: &[Kind] = &[Kind::PutQuiet, Kind::Get, Kind::Put, Kind::PingPong, Kind::SignalPingPong];

/// All that are tried; the best of them counts, for each work.
///
/// `osc ^rdma` keeps OpenSHMEM from a crash of Open MPI 4.1 in `shmem_finalize` (open-mpi/ompi issue 11604), and changes
/// nothing else: that component is MPI's. `pml_ucx_tls any` lets MPI use UCX though there is no NIC.
pub(crate) const VARIANTS: [Variant; 10] = [
    Variant {
        name: "mpi ob1",
        system: System::Mpi,
        options: &["--mca", "pml", "ob1", "--mca", "btl", "self,vader"],
        kinds: &[],
        spins: false,
    },
    Variant {
        name: "mpi ob1, coll sm",
        system: System::Mpi,
        options: &["--mca", "pml", "ob1", "--mca", "btl", "self,vader", "--mca", "coll_sm_priority", "100"],
        kinds: COLLECTIVES,
        spins: false,
    },
    Variant {
        name: "mpi ucx",
        system: System::Mpi,
        options: &["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"],
        kinds: &[],
        spins: false,
    },
    Variant {
        name: "oshmem",
        system: System::OpenShmem,
        options: &["--mca", "osc", "^rdma"],
        kinds: &[],
        spins: false,
    },
    Variant {
        name: "oshmem, scoll basic",
        system: System::OpenShmem,
        options: &["--mca", "osc", "^rdma", "--mca", "scoll", "basic"],
        kinds: COLLECTIVES,
        spins: false,
    },
    Variant {
        name: "oshmem, posix only",
        system: System::OpenShmem,
        options: &["--mca", "osc", "^rdma", "-x", "UCX_TLS=posix,self"],
        kinds: ONE_SIDED,
        spins: false,
    },
    Variant {
        name: "oshmem, spinning",
        system: System::OpenShmem,
        options: &["--mca", "osc", "^rdma"],
        kinds: &[Kind::PingPong],
        spins: true,
    },
    Variant { name: "ucp", system: System::Ucx, options: &[], kinds: &[], spins: false },
    Variant { name: "cache line", system: System::Bare, options: &[], kinds: &[Kind::HandOff], spins: false },
    Variant {
        name: "count and yield",
        system: System::Bare,
        options: &[],
        kinds: &[Kind::Turns],
        spins: false,
    },
];

impl Variant {
    /// Whether it is tried for `work`.
    pub(crate) fn does(&self, work: &Work) -> bool {
        self.system.does(work) && (self.kinds.is_empty() || self.kinds.contains(&work.kind))
    }

    /// What its program calls the work.
    pub(crate) fn asks_for(&self, work: &Work) -> String {
        let name = match work.kind {
            // One AllGather of that size stands for the whole graph.
            Kind::Replay => Kind::AllGather.name(),
            Kind::PingPong if self.spins => "ping-pong-spin",
            kind => kind.name(),
        };
        format!("{name}:{}", work.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_has_a_peer_and_every_variant_a_work() {
        let works = crate::work::chosen(&[], false);
        for work in &works {
            assert!(VARIANTS.iter().any(|variant| variant.does(work)), "{work}");
        }
        for variant in &VARIANTS {
            assert!(works.iter().any(|work| variant.does(work)), "{}", variant.name);
        }
    }

    #[test]
    fn a_variant_asks_by_the_name_that_its_program_knows() {
        let work = |kind, bytes| Work { kind, n_pes: 2, bytes };
        assert_eq!(VARIANTS[0].asks_for(&work(Kind::Replay, 64)), "all-gather:64");
        assert_eq!(VARIANTS[0].asks_for(&work(Kind::Barrier, 0)), "barrier:0");
        assert_eq!(VARIANTS[6].asks_for(&work(Kind::PingPong, 8)), "ping-pong-spin:8");
    }
}
