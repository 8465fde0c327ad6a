//! Finds names in the environment that are meant for us and that nobody reads: most often a slip of the pen.

use std::fmt;

use super::environment::EnvironmentSource;
use super::key::Key;

const PREFIX: &str = "SHMEM_";

/// Names that CANN SHMEM reads and we do not: not slips, but without effect here.
const ONLY_IN_THE_ORIGINAL: [&str; 7] = [
    "SHMEM_INSTANCE_PORT_RANGE",
    "SHMEM_LOG_TO_STDOUT",
    "SHMEM_LOG_PATH",
    "SHMEM_CYCLE_PROF_PE",
    "SHMEM_HOME_PATH",
    "SHMEM_UID_SOCK_FAMILY",
    "SHMEM_VERSION",
];

/// A variable of the environment that begins with `SHMEM_` and that nobody reads. Displays as a warning to log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// Its name.
    pub name: String,
    /// The known name that it is most like, if any is near.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.nearest {
            Some(nearest) => write!(f, "{name} is set but unknown and has no effect; is {nearest} meant?"),
            None if ONLY_IN_THE_ORIGINAL.contains(&name.as_str()) => {
                write!(f, "{name} is set, as CANN SHMEM reads it, but has no effect here")
            }
            None => write!(f, "{name} is set but unknown and has no effect; unset it, or correct the name"),
        }
    }
}

/// The variables that begin with `SHMEM_` and are neither a [`Key`]'s nor in `also`, in the order of their names.
pub(super) fn unknown_names(environment: &dyn EnvironmentSource, also: &[&'static str]) -> Vec<UnknownName> {
    let known: Vec<&'static str> =
        Key::ALL.iter().map(|key| key.variable()).chain(also.iter().copied()).collect();
    let mut unknown: Vec<UnknownName> = environment
        .names()
        .into_iter()
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with(PREFIX) && !known.contains(&name.as_str()))
        .map(|name| UnknownName { nearest: nearest(&name, &known), name })
        .collect();
    unknown.sort_by(|a, b| a.name.cmp(&b.name));
    unknown
}

/// The known name most like `name`, if at most a third of its own letters are wrong.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if ONLY_IN_THE_ORIGINAL.contains(&name) {
        return None;
    }
    // The common prefix would make every name look alike.
    let own = |name: &'_ str| name.trim_start_matches(PREFIX).to_ascii_uppercase();
    let asked = own(name);
    let (distance, best) =
        known.iter().map(|candidate| (strsim::osa_distance(&asked, &own(candidate)), *candidate)).min()?;
    (distance <= (asked.len() / 3).max(1)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::super::environment::MapEnvironment;
    use super::*;

    #[test]
    fn slips_are_found_and_the_near_name_told() {
        let environment = MapEnvironment::from([
            ("SHMEM_HEAPSIZE", "1"),
            ("SHMEM_TIMOUT", "1"),
            ("SHMEM_SESSION_ID", "1"),
            ("SHMEM_PE", "0"),
            ("SHMEM_LOG_PATH", "/tmp"),
            ("SHMEM_ZEBRA_CROSSING", "1"),
            ("SHMEM_MY_OWN", "1"),
            ("HOME", "/"),
        ]);
        let found = unknown_names(&environment, &["SHMEM_MY_OWN"]);
        let pairs: Vec<_> = found.iter().map(|unknown| (unknown.name.as_str(), unknown.nearest)).collect();
        assert_eq!(
            pairs,
            [
                ("SHMEM_HEAPSIZE", Some("SHMEM_HEAP_SIZE")),
                ("SHMEM_LOG_PATH", None),
                ("SHMEM_SESSION_ID", None),
                ("SHMEM_TIMOUT", Some("SHMEM_TIMEOUT")),
                ("SHMEM_ZEBRA_CROSSING", None),
            ]
        );
        assert!(found[0].to_string().contains("SHMEM_HEAP_SIZE"));
        assert!(found[1].to_string().contains("CANN"));
    }
}
