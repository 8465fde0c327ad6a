//! What the NPU's own check of its network says.

use std::fmt;

/// The outcome of the check that an NPU's NIC does by itself: it probes an address that was set for that, most often
/// the switch's or a neighbour's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Health {
    /// The probed address answers.
    Success,
    /// No socket for the probes could be made.
    SocketFail,
    /// No answer came in time.
    ReceiveTimeout,
    /// There is no way to the probed address.
    Unreachable,
    /// A probe went through more routers than it may.
    TimeExceeded,
    /// The check itself is faulty.
    Fault,
    /// The check has not begun.
    Init,
    /// The check's thread has failed.
    ThreadError,
    /// The probed address was just set; there is no outcome yet.
    DetectIpSet,
}

/// How serious an outcome is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Nothing to remark.
    Well,
    /// It says nothing about the network, good or bad.
    Unknown,
    /// Packets would most likely be lost.
    Bad,
}

impl Health {
    /// All, in the order of their codes.
    pub(crate) const ALL: [Self; 9] = [
        Self::Success,
        Self::SocketFail,
        Self::ReceiveTimeout,
        Self::Unreachable,
        Self::TimeExceeded,
        Self::Fault,
        Self::Init,
        Self::ThreadError,
        Self::DetectIpSet,
    ];

    /// The outcome that `text` names, by its words or by its code.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words = text.trim();
        let by_code = words.parse::<usize>().ok().and_then(|code| Self::ALL.get(code).copied());
        by_code.or_else(|| Self::ALL.into_iter().find(|health| health.name().eq_ignore_ascii_case(words)))
    }

    /// How serious it is. Without an address to probe, which is common, the check never gets beyond its beginning.
    pub(crate) const fn severity(self) -> Severity {
        match self {
            Self::Success => Severity::Well,
            Self::Init | Self::DetectIpSet => Severity::Unknown,
            _ => Severity::Bad,
        }
    }

    /// As `hccn_tool` calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Success => "Success",
            Self::SocketFail => "Socket fail",
            Self::ReceiveTimeout => "Receive timeout",
            Self::Unreachable => "Unreachable",
            Self::TimeExceeded => "Time exceeded",
            Self::Fault => "Fault",
            Self::Init => "Init",
            Self::ThreadError => "Thread error",
            Self::DetectIpSet => "Detect ip set",
        }
    }

    /// What it means, and what to look at.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "the probed address answers",
            Self::SocketFail => {
                "the NPU could not make a socket for its probes; reset its NIC, see the NPU's own logs"
            }
            Self::ReceiveTimeout => {
                "the probed address did not answer in time; check cable, the switch's VLAN and that the address is right"
            }
            Self::Unreachable => {
                "there is no way to the probed address; check the NPU's address, netmask and gateway, and the switch"
            }
            Self::TimeExceeded => {
                "probes went round in circles; check the routes between the NPU and the probed address"
            }
            Self::Fault => "the check itself is faulty; see the NPU's own logs and its driver's version",
            Self::Init => "the check has not begun, most often because no address to probe is set",
            Self::ThreadError => "the check's thread has failed; see the NPU's own logs, restart its driver",
            Self::DetectIpSet => "an address to probe was set, but there is no outcome yet",
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes() {
        for (code, health) in Health::ALL.into_iter().enumerate() {
            assert_eq!(Health::parse(health.name()), Some(health));
            assert_eq!(Health::parse(&format!(" {} ", health.name().to_uppercase())), Some(health));
            assert_eq!(Health::parse(&code.to_string()), Some(health));
            assert!(!health.meaning().is_empty());
        }
        for text in ["", "9", "-1", "Successful", "99999999999999999999999"] {
            assert_eq!(Health::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_success_passes_without_remark() {
        let of =
            |severity| Health::ALL.into_iter().filter(move |h| h.severity() == severity).collect::<Vec<_>>();
        assert_eq!(of(Severity::Well), [Health::Success]);
        assert_eq!(of(Severity::Unknown), [Health::Init, Health::DetectIpSet]);
        assert_eq!(of(Severity::Bad).len(), 6);
    }
}
