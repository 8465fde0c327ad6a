//! What to type when the NIC of an NPU cannot be used.

use super::error::HccnError;
use super::health::Health;

impl HccnError {
    /// A command that puts it right, or that shows more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::ToolMissing { .. } => "find /usr/local/Ascend -name hccn_tool".to_owned(),
            Self::CannotRun { path, .. } => format!("ls -l {path}; id"),
            Self::Failed { asked, .. } | Self::TimedOut { asked, .. } => format!("npu-smi info; {asked}"),
            Self::NotUnderstood { asked, .. } => asked.clone(),
            Self::NoAddress { npu } => format!("hccn_tool -i {npu} -ip -s address ADDRESS netmask MASK"),
            Self::LinkDown { npu, .. } => {
                format!("hccn_tool -i {npu} -link -g; hccn_tool -i {npu} -optical -g")
            }
            Self::Unhealthy { npu, health, .. } => health.remedy(*npu),
            Self::NoVerbsDevice { .. } => "ibv_devices; unset SHMEM_NIC".to_owned(),
        }
    }
}

impl Health {
    /// A command that shows why it is so, or that puts it right.
    pub(crate) fn remedy(self, npu: u32) -> String {
        let show = |what: &str| format!("hccn_tool -i {npu} {what} -g");
        match self {
            Self::Success | Self::DetectIpSet => show("-net_health"),
            // The address that is probed, and the way to it.
            Self::ReceiveTimeout => format!("{}; {}", show("-netdetect"), show("-optical")),
            Self::Unreachable => format!("{}; {}; {}", show("-netdetect"), show("-ip"), show("-gateway")),
            Self::TimeExceeded => format!("{}; {}", show("-netdetect"), show("-route")),
            Self::Init => format!("hccn_tool -i {npu} -netdetect -s address ADDRESS"),
            Self::SocketFail | Self::Fault | Self::ThreadError => {
                format!("{}; npu-smi info", show("-net_health"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_npu_and_the_question_stand_in_the_command() {
        let address = "192.168.9.10".parse().unwrap();
        let asked = "hccn_tool -i 3 -ip -g".to_owned();
        let (status, output) = (String::new(), String::new());
        for (error, remedy) in [
            (HccnError::ToolMissing { looked_in: String::new() }, "find /usr/local/Ascend -name hccn_tool"),
            (
                HccnError::CannotRun { path: "/opt/hccn_tool".into(), error: String::new() },
                "ls -l /opt/hccn_tool; id",
            ),
            (
                HccnError::Failed { asked: asked.clone(), status, output: output.clone() },
                "npu-smi info; hccn_tool -i 3 -ip -g",
            ),
            (
                HccnError::TimedOut { asked: asked.clone(), seconds: "10".into(), output: output.clone() },
                "npu-smi info; hccn_tool -i 3 -ip -g",
            ),
            (HccnError::NotUnderstood { asked, output }, "hccn_tool -i 3 -ip -g"),
            (HccnError::NoAddress { npu: 3 }, "hccn_tool -i 3 -ip -s address ADDRESS netmask MASK"),
            (HccnError::LinkDown { npu: 3, address }, "hccn_tool -i 3 -link -g; hccn_tool -i 3 -optical -g"),
            (
                HccnError::Unhealthy { npu: 3, address, health: Health::TimeExceeded },
                "hccn_tool -i 3 -netdetect -g; hccn_tool -i 3 -route -g",
            ),
            (
                HccnError::NoVerbsDevice { npu: 3, address, looked_at: String::new() },
                "ibv_devices; unset SHMEM_NIC",
            ),
        ] {
            assert_eq!(error.remedy(), remedy, "{error}");
        }
    }

    #[test]
    fn every_health_has_one_that_names_the_npu() {
        for health in Health::ALL {
            assert!(health.remedy(11).starts_with("hccn_tool -i 11 -net"), "{health}: {}", health.remedy(11));
        }
    }
}
