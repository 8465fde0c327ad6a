//! Who tells which NIC belongs to an NPU.

use std::path::PathBuf;

use super::choice::Choice;
use super::choose::choose;
use super::error::NicError;
use super::facts::DeviceFacts;
use super::wish::{Want, Wish};
use crate::hccn::{self, HccnError, NpuReach, Tool};
use crate::kind::NicKind;
use crate::rootinfo::{self, RootInfo};

/// Who tells which NIC belongs to an NPU.
#[derive(Debug, Clone)]
pub(crate) enum NpuLookup {
    /// `hccn_tool`, where it is installed: the NIC is on the NPU's own die.
    HccnTool,
    /// One that a test made.
    #[cfg(test)]
    Scripted(Tool),
    /// The file that lists the NICs of NPUs, else what is usual.
    RootInfo {
        /// The file.
        file: PathBuf,
        /// The usual device of an NPU.
        usual: Option<fn(u32) -> Option<&'static str>>,
    },
}

impl NpuLookup {
    /// As it is for NICs of `kind`.
    pub(crate) fn of(kind: &NicKind) -> Self {
        if kind.of_npu {
            return Self::HccnTool;
        }
        Self::RootInfo { file: rootinfo::FILE.into(), usual: kind.usual_device }
    }

    /// The NIC of `npu`; `None` if nothing on this host tells it.
    ///
    /// # Errors
    /// If what tells it is wrong, or tells one that cannot be used.
    pub(super) fn find(
        &self,
        npu: u32,
        devices: &[DeviceFacts],
        wish: &Wish<'_>,
    ) -> Result<Option<Choice>, NicError> {
        match self {
            Self::HccnTool => by_tool(npu, devices, wish, &Tool::find()?).map(Some),
            #[cfg(test)]
            Self::Scripted(tool) => by_tool(npu, devices, wish, tool).map(Some),
            Self::RootInfo { file, usual } => {
                if let Some(info) = RootInfo::read(file)? {
                    let address = info.nic_address(npu)?;
                    let wish = Wish { want: Want::NpuAddress { npu, address }, ..wish.clone() };
                    return choose(devices, &wish).map(Some);
                }
                let Some(name) = usual.and_then(|usual| usual(npu)) else { return Ok(None) };
                let wish = Wish { want: Want::NpuDevice { npu, name }, ..wish.clone() };
                choose(devices, &wish).map(Some)
            }
        }
    }
}

fn by_tool(npu: u32, devices: &[DeviceFacts], wish: &Wish<'_>, tool: &Tool) -> Result<Choice, NicError> {
    match hccn::locate(npu, devices, wish, tool)? {
        NpuReach::Verbs(choice) => Ok(choice),
        NpuReach::HccpOnly { nic } => Err(HccnError::no_verbs_device(&nic, devices).into()),
    }
}
