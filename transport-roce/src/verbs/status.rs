//! What the status of a completion means, and what to look at.

use std::fmt;

use crate::abi;

/// How a request ended. Its text has the number, the name and the meaning.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(u32);

/// Name, meaning, advice.
type Row = (&'static str, &'static str, &'static str);

/// What most failures have in common: both ends do not agree on what is registered.
const OWN_MISTAKE: &str = "this should not happen: please report it with the whole log";
const DEVICE: &str = "see `dmesg` and the vendor's tools for the state of the NIC, and start the job again";

impl Status {
    /// From C's number.
    #[inline]
    pub(crate) const fn new(code: u32) -> Self {
        Self(code)
    }

    /// Whether the request was done.
    #[inline]
    pub(crate) const fn is_success(self) -> bool {
        self.0 == abi::IBV_WC_SUCCESS
    }

    /// C's number.
    #[inline]
    pub(crate) const fn code(self) -> u32 {
        self.0
    }

    /// C's name.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// What happened, in one line.
    pub(crate) fn meaning(self) -> &'static str {
        self.row().1
    }

    /// What to look at next.
    pub(crate) fn advice(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> Row {
        match self.0 {
            abi::IBV_WC_SUCCESS => ("IBV_WC_SUCCESS", "done", "nothing is to be done"),
            abi::IBV_WC_LOC_LEN_ERR => {
                ("IBV_WC_LOC_LEN_ERR", "a local length does not fit, or a message is too long", OWN_MISTAKE)
            }
            abi::IBV_WC_LOC_QP_OP_ERR => (
                "IBV_WC_LOC_QP_OP_ERR",
                "this side's device found the request inconsistent",
                "if it was an atomic operation, does the device have them (atomic_cap of `ibv_devinfo -v`)? Else report it",
            ),
            abi::IBV_WC_LOC_EEC_OP_ERR => {
                ("IBV_WC_LOC_EEC_OP_ERR", "this side's end-to-end context is inconsistent", OWN_MISTAKE)
            }
            abi::IBV_WC_LOC_PROT_ERR => (
                "IBV_WC_LOC_PROT_ERR",
                "the local memory is not registered for this: wrong key, range or right",
                "was the memory freed while a request was under way? Else report it with the whole log",
            ),
            abi::IBV_WC_WR_FLUSH_ERR => (
                "IBV_WC_WR_FLUSH_ERR",
                "dropped unsent or unanswered, because the queue pair had failed before",
                "look at the first error of this queue pair: an earlier request failed, here or at the peer",
            ),
            abi::IBV_WC_MW_BIND_ERR => {
                ("IBV_WC_MW_BIND_ERR", "a memory window could not be bound", OWN_MISTAKE)
            }
            abi::IBV_WC_BAD_RESP_ERR => (
                "IBV_WC_BAD_RESP_ERR",
                "the peer's device sent an answer that makes no sense",
                "compare firmware and driver of both NICs, and see `dmesg` on both hosts",
            ),
            abi::IBV_WC_LOC_ACCESS_ERR => (
                "IBV_WC_LOC_ACCESS_ERR",
                "this side's memory may not be written by this request",
                OWN_MISTAKE,
            ),
            abi::IBV_WC_REM_INV_REQ_ERR => (
                "IBV_WC_REM_INV_REQ_ERR",
                "the peer's device took the request for invalid",
                "do both hosts run the same version, and does the peer's device have atomic operations if it was one?",
            ),
            abi::IBV_WC_REM_ACCESS_ERR => (
                "IBV_WC_REM_ACCESS_ERR",
                "the peer's memory is not registered for this: wrong key (rkey), range or right",
                "has the peer freed the memory or ended already? Do all PEs have the same heap size and version?",
            ),
            abi::IBV_WC_REM_OP_ERR => {
                ("IBV_WC_REM_OP_ERR", "the peer's device could not carry the request out", DEVICE)
            }
            abi::IBV_WC_RETRY_EXC_ERR => (
                "IBV_WC_RETRY_EXC_ERR",
                "the peer did not answer, however often it was asked",
                "is the peer's process alive and its link up? Then check: the GID index on both sides, the same MTU on NICs \
                 and switches, losses (PFC or ECN of the traffic class), and that no switch or firewall stops UDP port 4791",
            ),
            abi::IBV_WC_RNR_RETRY_EXC_ERR => (
                "IBV_WC_RNR_RETRY_EXC_ERR",
                "the peer was not ready to receive (RNR), however often it was asked",
                "is the peer overloaded or stopped (a debugger, SIGSTOP)? A larger RNR timer or retry count gives it time",
            ),
            abi::IBV_WC_LOC_RDD_VIOL_ERR => {
                ("IBV_WC_LOC_RDD_VIOL_ERR", "the datagram domains of this side do not match", OWN_MISTAKE)
            }
            abi::IBV_WC_REM_INV_RD_REQ_ERR => {
                ("IBV_WC_REM_INV_RD_REQ_ERR", "the peer refused a reliable datagram", OWN_MISTAKE)
            }
            abi::IBV_WC_REM_ABORT_ERR => {
                ("IBV_WC_REM_ABORT_ERR", "the peer gave the operation up", "look at the peer's errors")
            }
            abi::IBV_WC_INV_EECN_ERR => {
                ("IBV_WC_INV_EECN_ERR", "the number of an end-to-end context is invalid", OWN_MISTAKE)
            }
            abi::IBV_WC_INV_EEC_STATE_ERR => {
                ("IBV_WC_INV_EEC_STATE_ERR", "an end-to-end context is in the wrong state", OWN_MISTAKE)
            }
            abi::IBV_WC_FATAL_ERR => {
                ("IBV_WC_FATAL_ERR", "this side's device failed and cannot go on", DEVICE)
            }
            abi::IBV_WC_RESP_TIMEOUT_ERR => (
                "IBV_WC_RESP_TIMEOUT_ERR",
                "the peer's answer did not come in time",
                "is the peer's process alive and its link up? See also UDP port 4791 in switches and firewalls",
            ),
            abi::IBV_WC_GENERAL_ERR => {
                ("IBV_WC_GENERAL_ERR", "this side's device reports an error of no other kind", DEVICE)
            }
            abi::IBV_WC_TM_ERR => ("IBV_WC_TM_ERR", "matching by tags failed", OWN_MISTAKE),
            abi::IBV_WC_TM_RNDV_INCOMPLETE => (
                "IBV_WC_TM_RNDV_INCOMPLETE",
                "matching by tags left a message for the software to fetch",
                OWN_MISTAKE,
            ),
            _ => (
                "unknown",
                "a status that this version does not know",
                "see the documents of the NIC's provider for this number and the vendor's error",
            ),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, meaning) = (self.name(), self.meaning());
        write!(f, "completion status {} ({name}: {meaning})", self.0)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Status({} {})", self.0, self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_status_has_a_name_a_meaning_and_advice_of_its_own() {
        let names: BTreeSet<_> = (0..24).map(|code| Status::new(code).name()).collect();
        let meanings: BTreeSet<_> = (0..24).map(|code| Status::new(code).meaning()).collect();
        assert_eq!((names.len(), meanings.len()), (24, 24));
        for code in 0..24 {
            let status = Status::new(code);
            assert!(status.name().starts_with("IBV_WC_") && !status.advice().is_empty());
            assert_eq!((status.is_success(), status.code()), (code == 0, code));
        }
    }

    #[test]
    fn its_text_has_number_name_and_meaning() {
        let text = Status::new(12).to_string();
        assert!(
            text.starts_with("completion status 12 (IBV_WC_RETRY_EXC_ERR: the peer did not answer"),
            "{text}"
        );
        assert!(Status::new(12).advice().contains("4791"));
        let text = Status::new(1000).to_string();
        assert!(text.starts_with("completion status 1000 (unknown: "), "{text}");
    }
}
