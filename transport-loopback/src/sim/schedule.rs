//! `Schedule`: what happened when, in a short text.

use std::fmt;
use std::str::FromStr;

use super::action::Name;
use super::network::Plan;

/// One schedule, as its differences from the usual one (first come, first served), in a short text.
///
/// `SHMEM_SIM_REPLAY` with that text makes [`check`](super::check) run it, and nothing else. It belongs to the body that it was
/// found with, its number of PEs and its [`Network`](super::Network).
///
/// ```
/// use transport_loopback::sim::Schedule;
///
/// // All apart, no `begin`; in step 3 PE 1 goes on, in step 12 the first piece of message 4 of PE 0.
/// let schedule: Schedule = "a-3p1-12m0.4".parse()?;
/// assert_eq!(schedule.deviations(), 2);
/// assert_eq!(schedule.to_string(), "a-3p1-12m0.4");
/// # Ok::<(), transport_loopback::sim::BadSchedule>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub(crate) plan: Plan,
    pub(crate) with_begin: bool,
    pub(crate) deviations: Vec<(u64, Name)>,
}

impl Schedule {
    /// In how many steps it differs from first come, first served.
    #[must_use]
    pub fn deviations(&self) -> usize {
        self.deviations.len()
    }
}

/// A text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no schedule ({part:?} is not understood); copy the text that the failure printed")]
pub struct BadSchedule {
    text: String,
    part: String,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plan {
            Plan::Apart => f.write_str("a")?,
            Plan::Random(seed) => write!(f, "r{seed:x}")?,
        }
        if self.with_begin {
            f.write_str("+")?;
        }
        self.deviations.iter().try_for_each(|(step, name)| write!(f, "-{step}{name}"))
    }
}

impl FromStr for Schedule {
    type Err = BadSchedule;

    fn from_str(text: &str) -> Result<Self, BadSchedule> {
        let bad = |part: &str| BadSchedule { text: text.to_owned(), part: part.to_owned() };
        let mut parts = text.trim().split('-');
        let head = parts.next().unwrap_or_default();
        let (plan, with_begin) = head.strip_suffix('+').map_or((head, false), |plan| (plan, true));
        let plan = match plan.strip_prefix('r') {
            Some(seed) => Plan::Random(u64::from_str_radix(seed, 16).map_err(|_| bad(head))?),
            None if plan == "a" => Plan::Apart,
            None => return Err(bad(head)),
        };
        let mut deviations: Vec<(u64, Name)> = Vec::new();
        for part in parts {
            let end = part.find(['p', 'm']).ok_or_else(|| bad(part))?;
            let step = part[..end].parse().map_err(|_| bad(part))?;
            let name = part[end..].parse().map_err(|()| bad(part))?;
            if deviations.last().is_some_and(|(before, _)| *before >= step) {
                return Err(bad(part));
            }
            deviations.push((step, name));
        }
        Ok(Self { plan, with_begin, deviations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_its_text() {
        for text in ["a", "a+", "r0", "r1f3a+", "a-0p0", "r7+-3m0.12.1-4p31-100m1.0"] {
            assert_eq!(text.parse::<Schedule>().map(|schedule| schedule.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "b", "r", "rxyz", "a-", "a-p1", "a-3q1", "a-3p", "a-3m1", "a-3m1.2.3.4", "a-3p1-3p2"]
        {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
