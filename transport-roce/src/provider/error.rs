//! Why the devices of a kind of NIC have no provider.

use crate::plug_ins::{PlugInError, VARIABLE};

/// Why the devices of a kind of NIC cannot be used from here, although the kernel may have them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// A plug-in is not what it should be.
    #[error(transparent)]
    PlugIn(#[from] PlugInError),

    /// None of the installed providers drives what there is.
    #[error(
        "the kernel has {devices}, but no provider of libibverbs drives it. Install the NIC's provider, of the release of the \
         installed libibverbs (ibverbs-providers, rdma-core, or the NIC vendor's package); a plug-in of that package is named by \
         {VARIABLE}"
    )]
    Undriven {
        /// The devices.
        devices: String,
    },

    /// The plug-in of another NIC.
    #[error(
        "{VARIABLE} names {entry}, the plug-in of backend {theirs}, but backend {backend} was asked for, whose plug-in is {file}. \
         Choose --backend {theirs}, or name {file} with its whole path"
    )]
    OtherNic {
        /// What the variable names.
        entry: String,
        /// The backend that it belongs to.
        theirs: &'static str,
        /// The backend that was asked for.
        backend: &'static str,
        /// What its plug-in is called.
        file: &'static str,
    },

    /// Nobody named a plug-in, and none of the installed providers does it.
    #[error(
        "the kernel has {devices}, but no provider of libibverbs drives it, and {VARIABLE} is not set. Set it to the whole path of \
         {file}, which the NIC's driver package brings, on every host and for every PE (a launcher may not pass it on){ordinary}"
    )]
    NotNamed {
        /// The devices.
        devices: String,
        /// The plug-in.
        file: &'static str,
        /// What to know of the ordinary provider; may be empty.
        ordinary: String,
    },

    /// The variable is there, but not for a program with the rights of somebody else.
    #[error(
        "the kernel has {devices}, but no provider of libibverbs drives it, and {VARIABLE} is ignored, because this program runs with \
         more rights than the user who started it (setuid, setgid, or file capabilities). Start one without them"
    )]
    Ignored {
        /// The devices.
        devices: String,
    },

    /// What was loaded is not for these devices.
    #[error(
        "{plug_ins} was loaded, but registered no device: the kernel has {devices}, which no provider of libibverbs drives. {why}"
    )]
    DrivesNothing {
        /// The plug-ins.
        plug_ins: String,
        /// The devices.
        devices: String,
        /// What may be the reason, and what to do.
        why: String,
    },
}

impl ProviderError {
    /// What to type to put it right, or to see more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::PlugIn(error) => error.remedy(),
            Self::OtherNic { file, .. } => format!("find / -name {file} 2>/dev/null"),
            Self::NotNamed { file, .. } => {
                format!("export {VARIABLE}=$(find / -name {file} 2>/dev/null | head -1)")
            }
            Self::Ignored { .. } => "chmod u-s,g-s PROGRAM; setcap -r PROGRAM".to_owned(),
            Self::DrivesNothing { .. } | Self::Undriven { .. } => {
                "IBV_SHOW_WARNINGS=1 ibv_devinfo".to_owned()
            }
        }
    }
}
