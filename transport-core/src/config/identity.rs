//! Who this PE is, by the environment that its launcher set.

use super::environment::EnvironmentSource;
use super::error::ConfigError;

/// The variables of one launcher.
pub(super) struct Launcher {
    pub(super) name: &'static str,
    pub(super) pe: &'static str,
    pub(super) n_pes: &'static str,
    pub(super) local_pe: Option<&'static str>,
    pub(super) local_n_pes: Option<&'static str>,
}

/// In the order in which they are looked for.
pub(super) const LAUNCHERS: [Launcher; 6] = [
    Launcher {
        name: "shmrun",
        pe: "SHMEM_PE",
        n_pes: "SHMEM_N_PES",
        local_pe: Some("SHMEM_LOCAL_PE"),
        local_n_pes: Some("SHMEM_LOCAL_N_PES"),
    },
    Launcher {
        name: "Open MPI",
        pe: "OMPI_COMM_WORLD_RANK",
        n_pes: "OMPI_COMM_WORLD_SIZE",
        local_pe: Some("OMPI_COMM_WORLD_LOCAL_RANK"),
        local_n_pes: Some("OMPI_COMM_WORLD_LOCAL_SIZE"),
    },
    Launcher { name: "PMI", pe: "PMI_RANK", n_pes: "PMI_SIZE", local_pe: None, local_n_pes: None },
    Launcher { name: "PMIx", pe: PMIX_RANK, n_pes: "PMIX_SIZE", local_pe: None, local_n_pes: None },
    Launcher {
        name: "Slurm",
        pe: "SLURM_PROCID",
        n_pes: "SLURM_NTASKS",
        local_pe: Some("SLURM_LOCALID"),
        local_n_pes: None,
    },
    Launcher {
        name: TORCHRUN,
        pe: "RANK",
        n_pes: "WORLD_SIZE",
        local_pe: Some("LOCAL_RANK"),
        local_n_pes: Some("LOCAL_WORLD_SIZE"),
    },
];

const PMIX_RANK: &str = "PMIX_RANK";
const TORCHRUN: &str = "torchrun";

/// Whether a variable is set to something.
pub(super) fn is_set(environment: &dyn EnvironmentSource, name: &str) -> bool {
    environment.get(name).is_some_and(|value| !value.is_empty())
}

impl Launcher {
    pub(super) fn is_torchrun(&self) -> bool {
        self.name == TORCHRUN
    }
}

/// The launcher whose variables are set, if any.
///
/// # Errors
/// If only one half of a pair is set: two launchers' halves must not be mixed.
pub(super) fn find_launcher(
    environment: &dyn EnvironmentSource,
) -> Result<Option<&'static Launcher>, ConfigError> {
    let text = |name: &str| environment.get(name).unwrap_or_default().to_string_lossy().into_owned();
    let mut pmix_rank = None;
    for launcher in &LAUNCHERS {
        match (is_set(environment, launcher.pe), is_set(environment, launcher.n_pes)) {
            (true, true) => return Ok(Some(launcher)),
            (false, false) => {}
            // Slurm sets this too, and then tells the size in its own words.
            (true, false) if launcher.pe == PMIX_RANK => pmix_rank = Some(text(PMIX_RANK)),
            (true, false) => return Err(incomplete(launcher.pe, text(launcher.pe), launcher.n_pes)),
            // A size alone is what a batch script sees outside of any task; only our own names are for us alone.
            (false, true) if launcher.pe == LAUNCHERS[0].pe => {
                return Err(incomplete(launcher.n_pes, text(launcher.n_pes), launcher.pe));
            }
            (false, true) => {}
        }
    }
    match pmix_rank {
        Some(rank) => Err(ConfigError::PmixSizeUnknown { rank }),
        None => Ok(None),
    }
}

fn incomplete(present: &str, value: String, missing: &str) -> ConfigError {
    ConfigError::IncompleteIdentity { present: present.to_owned(), value, missing: missing.to_owned() }
}

/// All variables that [`find_launcher`] looks for, for an error to show.
pub(super) fn looked_for() -> String {
    let pairs: Vec<String> = LAUNCHERS.iter().map(|l| format!("{}/{} ({})", l.pe, l.n_pes, l.name)).collect();
    pairs.join(", ")
}
